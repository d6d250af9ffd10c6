/* Every planted defect of tests/data/emu/defects.cu is found: its kind, at its line, and nothing else.
 *
 * Modules: access atomic barrier finding load race sync
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/unit/emulator/emu_rig.h"

enum { N = 1000, HUNG_MS = 100 };

typedef struct defect {
    const char *kernel;
    uint32_t grid, block, shared;
    emu_kind kind;
    const char *says; /* part of the sentence */
} defect;

static const defect defects[] = {
    {"global_read_past_end", 4, 256, 0, EMU_READ, "in[1000]"},
    {"global_read_before_start", 4, 256, 0, EMU_READ, "in[-1]"},
    {"global_write_past_end", 4, 256, 0, EMU_WRITE, "legal: out[0] to out[999]"},
    {"global_write_before_start", 4, 256, 0, EMU_WRITE, "before its start"},
    {"global_vector_read_past_end", 1, 256, 0, EMU_READ, "reads 16 bytes from in[1000]"},
    {"global_far_away", 1, 32, 0, EMU_WRITE, "in no buffer"},
    {"global_null", 1, 32, 0, EMU_WRITE, "address 0x0"},
    {"global_atomic_past_end", 1, 32, 0, EMU_WRITE, "out[1000]"},
    {"shared_read_past_end", 1, 64, 0, EMU_READ, "byte 256 of s (shared memory), past its end"},
    {"shared_write_past_end", 1, 64, 0, EMU_WRITE, "of s (shared memory)"},
    {"shared_write_before_start", 1, 64, 0, EMU_WRITE, "shared memory"},
    {"dynamic_shared_write_past_end", 1, 64, 256, EMU_WRITE, "dynamic shared memory"},
    {"shared_read_through_a_call", 1, 64, 0, EMU_READ, "byte 256 of s (shared memory)"},
    {"local_read_past_end", 1, 64, 0, EMU_READ, "local memory"},
    {"local_write_past_end", 1, 64, 0, EMU_WRITE, "local memory"},
    {"constant_read_past_end", 1, 64, 0, EMU_READ, "byte 32 of table"},
    {"global_misaligned", 1, 64, 0, EMU_MISALIGNED, "multiple of 8"},
    {"global_read_misaligned", 1, 64, 0, EMU_MISALIGNED, "multiple of 4"},
    {"shared_misaligned", 1, 64, 0, EMU_MISALIGNED, "multiple of 4"},
    {"local_misaligned", 1, 64, 0, EMU_MISALIGNED, "multiple of 4"},
    {"atomic_misaligned", 1, 64, 0, EMU_MISALIGNED, "multiple of 4"},
    {"input_write", 1, 64, 0, EMU_INPUT, "in[0]"},
    {"input_atomic", 1, 64, 0, EMU_INPUT, "in[5]"},
    {"constant_write", 1, 64, 0, EMU_INPUT, "table"},
    {"global_unset_stored", 4, 256, 0, EMU_UNINITIALISED, "out[0]"},
    {"global_unset_decides", 1, 64, 0, EMU_UNINITIALISED, "decides a branch"},
    {"global_unset_is_an_address", 1, 64, 0, EMU_UNINITIALISED, "address"},
    {"global_unset_through_shared", 1, 64, 0, EMU_UNINITIALISED, "is stored"},
    {"shared_unset_stored", 1, 64, 0, EMU_UNINITIALISED, "byte 28 of s"},
    {"shared_unset_decides", 1, 64, 0, EMU_UNINITIALISED, "decides a branch"},
    {"local_unset_stored", 1, 64, 0, EMU_UNINITIALISED, "local memory"},
    {"atomic_on_unset_global", 1, 64, 0, EMU_UNINITIALISED, "work[0]"},
    {"atomic_on_unset_shared", 1, 64, 0, EMU_UNINITIALISED, "of s"},
    {"shared_race_read_after_write", 1, 64, 0, EMU_RACE_SHARED, "__syncthreads"},
    {"shared_race_write_after_read", 1, 64, 0, EMU_RACE_SHARED, "since the last barrier"},
    {"shared_race_write_after_write", 1, 64, 0, EMU_RACE_SHARED, "has written"},
    {"shared_race_in_a_warp", 1, 32, 0, EMU_RACE_SHARED, "thread (1,0,0) of the block has written"},
    {"shared_race_of_halves", 1, 64, 0, EMU_RACE_SHARED, "writes 2 bytes"},
    {"shared_race_atomic_and_plain", 1, 64, 0, EMU_RACE_SHARED, "has written"},
    {"shared_race_beside_compare_and_swap", 1, 64, 0, EMU_RACE_SHARED, "has written"},
    {"shared_race_in_a_loop", 1, 64, 0, EMU_RACE_SHARED, "since the last barrier"},
    {"global_race_in_a_block", 1, 64, 0, EMU_RACE_GLOBAL, "of work"},
    {"global_race_of_writers", 4, 64, 0, EMU_RACE_GLOBAL, "work[0]"},
    {"global_race_read_after_write", 4, 64, 0, EMU_RACE_GLOBAL, "block number"},
    {"global_race_flag_without_fence", 2, 32, 0, EMU_RACE_GLOBAL, "work[0]"},
    {"global_race_atomic_and_plain", 2, 32, 0, EMU_RACE_GLOBAL, "work[3]"},
    {"barrier_in_half_a_warp", 1, 32, 0, EMU_BARRIER, "never reach"},
    {"barrier_in_a_loop_of_different_lengths", 1, 32, 0, EMU_BARRIER, "all threads"},
    {"two_barriers_for_two_halves", 1, 32, 0, EMU_BARRIER, "wait at line"},
    {"barrier_for_too_many", 1, 64, 0, EMU_DEADLOCK, "96 threads, of which only 64"},
    {"shuffle_from_lanes_that_have_ended", 1, 32, 0, EMU_SHUFFLE, "lane 20"},
    {"shuffle_from_lanes_that_do_not_exist", 1, 16, 0, EMU_SHUFFLE, "does not take part"},
    {"shuffle_with_others_elsewhere", 1, 32, 0, EMU_SHUFFLE, "0xffff0000"},
    {"shuffle_outside_its_mask", 1, 32, 0, EMU_SHUFFLE, "not in the member mask 0x0000ffff"},
    {"trap", 1, 128, 0, EMU_TRAP, "thread (70,0,0)"},
    {"endless_loop", 1, 32, 0, EMU_HUNG, "the deadline"},
    {"flag_that_never_comes", 2, 32, 0, EMU_HUNG, "the deadline"},
};
enum { DEFECTS = sizeof defects / sizeof *defects };

static char *source;
static emu_module *module;

static int compile_all(void **state)
{
    (void)state;
    source = rig_source("tests/data/emu/defects.cu");
    module = rig_module(source);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    emu_module_destroy(&module);
    free(source);
    return 0;
}

/* The line of a kernel's BUG comment, or, if its text is in a function it calls, of that one. */
static bool is_bug_line(const char *kernel, uint32_t line)
{
    SCOPED(scoped_free) char *head = xasprintf("KERNEL(%s)", kernel);
    const char *at = strstr(source, head);
    assert_non_null(at);
    const char *end = strstr(at + 1, "\nKERNEL(");
    uint32_t number = 1;
    if (strcmp(kernel, "shared_read_through_a_call") == 0)
        at = strstr(source, "float pick(");
    for (const char *p = source; p < at; p++)
        number += *p == '\n';
    for (const char *p = at; end == NULL ? *p != '\0' : p < end; p++) {
        if (strncmp(p, "// BUG", 6) == 0 && number == line)
            return true;
        number += *p == '\n';
    }
    return false;
}

static void launch(emu_rig *rig, const defect *d)
{
    const unsigned workers = rig->workers;
    emu_rig_init(rig);
    rig->workers = workers;
    float *in = rig_buffer(rig, "in", RIG_INPUT, 4, N);
    rig_buffer(rig, "out", RIG_OUTPUT, 4, N);
    rig_buffer(rig, "work", RIG_OUTPUT, 4, N);
    for (int i = 0; i < N; i++)
        in[i] = (float)i;
    rig_i32(rig, N);
    rig->shared = d->shared;
    rig->deadline_ms = d->kind == EMU_HUNG ? HUNG_MS : 0;
    rig_launch(rig, module, d->kernel, d->grid, d->block);
}

/* What is wrong with the report about a defect, or NULL. */
static const char *judge(const defect *d, const emu_report *r)
{
    const emu_finding *f = &r->findings[0];
    if (r->finding_count == 0)
        return "nothing was found";
    if (f->kind != d->kind)
        return "another kind was found";
    if (!is_bug_line(d->kernel, f->line))
        return "another line was named";
    if (strstr(f->text, d->says) == NULL)
        return "the sentence lacks something";
    if (strcmp(f->kernel, d->kernel) != 0 || strcmp(f->file, "kernel.cu") != 0)
        return "another kernel or file was named";
    return NULL;
}

static void expect_all_found(unsigned workers)
{
    size_t wrong = 0;
    for (size_t i = 0; i < DEFECTS; i++) {
        const defect *d = &defects[i];
        SCOPED(emu_rig_fini) emu_rig rig = {.workers = workers};
        launch(&rig, d);
        const char *why = judge(d, &rig.report);
        if (why == NULL)
            continue;
        wrong++;
        print_error("%s: %s (\"%s\" was expected): %s\n", d->kernel, why, d->says,
                    rig.report.findings[0].text);
    }
    assert_int_equal(wrong, 0);
}

static void every_planted_defect_is_found_at_its_line(void **state)
{
    (void)state;
    expect_all_found(1);
}

static void two_workers_find_the_same(void **state)
{
    (void)state;
    expect_all_found(2);
}

static void a_finding_maps_to_an_outcome(void **state)
{
    (void)state;
    static const struct {
        const char *kernel;
        outcome result;
        const char *detail;
    } rows[] = {
        {"global_read_past_end", OUTCOME_OUT_OF_BOUNDS, "read"},
        {"global_write_past_end", OUTCOME_OUT_OF_BOUNDS, "write"},
        {"global_misaligned", OUTCOME_OUT_OF_BOUNDS, "misaligned"},
        {"input_write", OUTCOME_OUT_OF_BOUNDS, "input"},
        {"global_unset_stored", OUTCOME_UNINITIALISED, ""},
        {"shared_race_read_after_write", OUTCOME_RACE, "shared"},
        {"global_race_of_writers", OUTCOME_RACE, "global"},
        {"barrier_in_half_a_warp", OUTCOME_RACE, "barrier"},
        {"shuffle_outside_its_mask", OUTCOME_RACE, "shuffle"},
        {"trap", OUTCOME_CRASHED, "trap"},
        {"barrier_for_too_many", OUTCOME_HUNG, "barrier"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < DEFECTS; k++) {
            if (strcmp(rows[i].kernel, defects[k].kernel) != 0)
                continue;
            SCOPED(emu_rig_fini) emu_rig rig = {0};
            launch(&rig, &defects[k]);
            assert_int_equal(rig.report.findings[0].result, rows[i].result);
            assert_string_equal(rig.report.findings[0].detail, rows[i].detail);
        }
}

static void the_lowest_block_speaks_first(void **state)
{
    (void)state;
    const defect d = {"global_write_past_end", 64, 256, 0, EMU_WRITE, ""};
    SCOPED(emu_rig_fini) emu_rig rig = {0};
    launch(&rig, &d);
    assert_int_equal(rig.report.findings[0].block[0], 3); /* thread 232 writes out[1000] */
    assert_int_equal(rig.report.findings[0].thread[0], 232);
    assert_int_equal(rig.report.findings[0].index, 1000);
    assert_string_equal(rig.report.findings[0].buffer, "out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_planted_defect_is_found_at_its_line),
        cmocka_unit_test(two_workers_find_the_same),
        cmocka_unit_test(a_finding_maps_to_an_outcome),
        cmocka_unit_test(the_lowest_block_speaks_first),
    };
    if (!rig_have_nvrtc())
        return 77;
    return cmocka_run_group_tests_name("planted defects on the emulator", tests, compile_all,
                                       free_all);
}
