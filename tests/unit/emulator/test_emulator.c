/* The emulator's door: launches that do not fit, limits, variables of a module, and PTX that only a hand
 * writes.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/unit/emulator/emu_rig.h"

#define HEAD  ".version 7.8\n.target sm_80\n.address_size 64\n"
#define ENTRY ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
#define REGISTERS                                                            \
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"                  \
    "ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n" \
    "mad.wide.u32 %d2, %r2, 4, %d1;\n"

static void expect(const emu_rig *rig, emu_kind kind, const char *says)
{
    if (rig->report.finding_count == 0)
        fail_msg("nothing was found, \"%s\" was expected", says);
    const emu_finding *f = &rig->report.findings[0];
    if (f->kind != kind || strstr(f->text, says) == NULL)
        fail_msg("\"%s\" was expected: %s", says, f->text);
}

/* k(out, n) with 64 ints of out. */
static int *start(emu_rig *rig)
{
    emu_rig_init(rig);
    int *out = rig_buffer(rig, "out", RIG_OUTPUT, 4, 64);
    rig_i32(rig, 64);
    return out;
}

/* ---- launches ---- */

static const char plain[] = HEAD ".shared .align 4 .b8 s[40000];\n" ENTRY REGISTERS
                                 "mov.u32 %r3, s; st.shared.u32 [%r3], %r1;\n"
                                 "st.global.u32 [%d2], %r2;\nret;\n}\n"
                                 ".visible .entry few()\n.maxntid 64, 1, 1\n{\nret;\n}\n";

static void launches_that_do_not_fit_are_told(void **state)
{
    (void)state;
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(plain);
    SCOPED(emu_rig_fini) emu_rig rig;
    start(&rig);
    rig_launch(&rig, m, "missing", 1, 32);
    expect(&rig, EMU_ENTRY, "no such kernel");
    rig_launch(&rig, m, "k", 1, 2048);
    expect(&rig, EMU_LAUNCH, "impossible size");
    rig_launch(&rig, m, "k", 0, 32);
    expect(&rig, EMU_LAUNCH, "impossible size");
    rig.shared = 130000;
    rig_launch(&rig, m, "k", 1, 32);
    expect(&rig, EMU_LAUNCH, "40000 bytes of static and 130000 of dynamic");
    assert_int_equal(rig.report.findings[0].result, OUTCOME_LAUNCH_FAILED);
    rig.shared = 0;
    rig_i32(&rig, 1);
    rig_launch(&rig, m, "k", 1, 32);
    expect(&rig, EMU_ARGS, "takes 2 arguments, 3 are given");
    rig_forget_args(&rig);
    rig_launch(&rig, m, "few", 1, 65);
    expect(&rig, EMU_LAUNCH, "a block of 65 threads; at most 64");
    rig_launch(&rig, m, "few", 1, 64);
    rig_expect_clean(&rig);
}

static void an_argument_of_another_size_is_told(void **state)
{
    (void)state;
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(plain);
    SCOPED(emu_rig_fini) emu_rig rig;
    start(&rig);
    rig.args[1].size = 8;
    rig_launch(&rig, m, "k", 1, 32);
    expect(&rig, EMU_ARGS, "argument 1 has 4 bytes");
}

static void examining_does_not_run(void **state)
{
    (void)state;
    err e = {0};
    static emu_report report;
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(plain);
    SCOPED(emu_rig_fini) emu_rig rig;
    int *out = start(&rig);
    const emu_launch launch = {
        .entry = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = rig.args, .arg_count = 2};
    out[5] = 77;
    assert_int_equal(emu_module_examine(m, &launch, &report, &e), 0);
    assert_int_equal(report.finding_count, 0);
    assert_int_equal(out[5], 77);
}

static void text_that_is_no_ptx_is_an_error(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "hello",
                                        ".version 99.0\n.target sm_80\n.address_size 32\n",
                                        HEAD ".visible .entry k( {"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        err e = {0};
        assert_null(emu_module_create(texts[i], strlen(texts[i]), &e));
        assert_true(e.code == ERR_PROTOCOL || e.code == ERR_LIMIT);
    }
}

static void a_newer_version_of_ptx_says_so(void **state)
{
    (void)state;
    err e = {0};
    static const char strange[] = ".version 12.3\n.target sm_80\n.address_size 64\n.entry k( {";
    static const char unknown[] = ".version 12.3\n.target sm_80\n.address_size 64\n"
                                  ".visible .entry k()\n{\nwarp.dance;\nret;\n}\n";
    assert_null(emu_module_create(strange, strlen(strange), &e));
    assert_non_null(strstr(e.text, "PTX version 12.x is newer"));
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(unknown);
    SCOPED(emu_rig_fini) emu_rig rig;
    emu_rig_init(&rig);
    rig_launch(&rig, m, "k", 1, 32);
    expect(&rig, EMU_UNSUPPORTED, "PTX version 12.3 is newer");
    expect(&rig, EMU_UNSUPPORTED, "warp.dance");
}

/* ---- limits ---- */

static const char endless[] = HEAD ENTRY REGISTERS "L: add.u32 %r3, %r1, %r2; bra L;\n}\n";

static void a_budget_of_instructions_ends_a_launch(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(endless);
    SCOPED(emu_rig_fini) emu_rig rig;
    start(&rig);
    const emu_launch launch = {
        .entry = "k", .grid = {4, 1, 1}, .block = {64, 1, 1}, .args = rig.args, .arg_count = 2};
    const emu_options options = {.instruction_max = 1000000, .workers = 2};
    assert_int_equal(emu_module_run(m, rig.memory, &launch, &options, &rig.report, &e), 0);
    expect(&rig, EMU_HUNG, "the limit of instructions");
}

static void a_block_that_needs_too_much_memory_is_refused(void **state)
{
    (void)state;
    SCOPED(emu_module_destroy)
    emu_module *m = rig_ptx(HEAD ENTRY ".local .align 8 .b8 big[200000];\n" REGISTERS
                                       "mov.u64 %d3, big; st.local.u32 [%d3], %r1; ret;\n}\n");
    SCOPED(emu_rig_fini) emu_rig rig;
    start(&rig);
    rig_launch(&rig, m, "k", 1, 1024);
    expect(&rig, EMU_UNSUPPORTED, "MiB");
    rig_launch(&rig, m, "k", 1, 32);
    rig_expect_clean(&rig);
}

/* Six blocks of a thousand threads wait for one another, so that all are held at once; each thread has 3 KB
 * of its own, each block 40 KB of shared memory, and four million bytes of `out` are written. */
static const char greedy[] =
    HEAD ".shared .align 4 .b8 s[40000];\n"
         ".visible .entry k(.param .u64 out, .param .u64 counter)\n{\n"
         ".local .align 8 .b8 own[2800];\n"
         ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
         "ld.param.u64 %d1, [out]; ld.param.u64 %d5, [counter];\n"
         "mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r2, %r3, 1024, %r2;\n"
         "mov.u64 %d3, own; st.local.u32 [%d3+2796], %r2;\n"
         "mov.u32 %r3, %tid.x; mul.lo.u32 %r3, %r3, 4; mov.u32 %r4, s; add.u32 %r4, %r4, %r3;\n"
         "st.shared.u32 [%r4], %r2;\n"
         "atom.global.add.u32 %r5, [%d5], 1;\n"
         "wait:\nld.volatile.global.u32 %r5, [%d5]; setp.lt.u32 %p1, %r5, 6144; @%p1 bra wait;\n"
         "mov.u32 %r6, 0;\n"
         "more:\nmad.wide.u32 %d2, %r2, 4, %d1; st.global.u32 [%d2], %r2;\n"
         "add.u32 %r2, %r2, 8192; add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 128; @%p2 bra more;\n"
         "ret;\n}\n";

enum { GREEDY_WORDS = 1 << 20 };

static size_t resident_bytes(void)
{
    unsigned long long total = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%llu %llu", &total, &resident), 2);
    fclose(f);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t peak_bytes(void)
{
    struct rusage use;
    assert_int_equal(getrusage(RUSAGE_SELF, &use), 0);
    return (size_t)use.ru_maxrss * 1024;
}

static void memory_beside_the_buffers_is_bounded(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* the sanitizer's own memory would be counted */
#endif
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(greedy);
    SCOPED(emu_rig_fini) emu_rig rig;
    emu_rig_init(&rig);
    rig.workers = 2;
    rig_buffer(&rig, "out", RIG_OUTPUT, 4, GREEDY_WORDS);
    rig_buffer(&rig, "counter", RIG_READY, 4, 1);
    const size_t before = resident_bytes(); /* buffers included: the rig has cleared them */
    rig_launch(&rig, m, "k", 8, 1024);
    rig_expect_clean(&rig);
    const size_t taken = peak_bytes() - before;
    assert_true(taken > 32u << 20); /* else nothing was tried */
    assert_true(taken <= (size_t)EMU_OVERHEAD_MAX);
}

static void recursion_and_pointers_to_functions_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {HEAD ".func f();\n.func g()\n{\ncall f;\nret;\n}\n.func f()\n{\ncall g;\nret;\n}\n" ENTRY
             REGISTERS "call f;\nret;\n}\n",
         "recursion"},
        {HEAD ".func f()\n{\nret;\n}\n" ENTRY REGISTERS
              "mov.u64 %d3, f;\nproto: .callprototype _ ();\ncall %d3, proto;\nret;\n}\n",
         "function"},
        {HEAD
         ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n" ENTRY REGISTERS
         "{ .param .b64 a; .param .b64 b; .param .b32 r; call (r), vprintf, (a, b); }\nret;\n}\n",
         "vprintf"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SCOPED(emu_module_destroy) emu_module *m = rig_ptx(rows[i].text);
        SCOPED(emu_rig_fini) emu_rig rig;
        start(&rig);
        rig_launch(&rig, m, "k", 1, 32);
        expect(&rig, EMU_UNSUPPORTED, rows[i].says);
        assert_int_equal(rig.report.findings[0].result, OUTCOME_UNSUPPORTED_ON_EMU);
    }
}

/* Every function calls the next one many times: two to the fifteenth paths, one look at each function. */
static void many_ways_to_a_function_are_looked_at_once(void **state)
{
    (void)state;
    buf text;
    buf_init(&text, 1 << 20);
    buf_puts(&text, HEAD ".func f0()\n{\nret;\n}\n");
    for (int i = 1; i < 15; i++) {
        buf_printf(&text, ".func f%d()\n{\n", i);
        for (int k = 0; k < 20; k++)
            buf_printf(&text, "call f%d;\n", i - 1);
        buf_puts(&text, "ret;\n}\n");
    }
    buf_puts(&text, ".visible .entry k()\n{\ncall f13;\nexit;\n}\n"
                    ".visible .entry one()\n{\ncall f1;\nexit;\n}\n");
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(buf_text(&text));
    buf_fini(&text);
    SCOPED(emu_rig_fini) emu_rig rig;
    emu_rig_init(&rig);
    err e = {0};
    const emu_launch launch = {.entry = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}};
    assert_int_equal(emu_module_examine(m, &launch, &rig.report, &e), 0);
    rig_expect_clean(&rig);
    rig_launch(&rig, m, "one", 1, 32);
    rig_expect_clean(&rig);
}

/* ---- values nobody has written, in registers ---- */

static void expect_unset(const char *body, const char *says)
{
    SCOPED(scoped_free) char *text = xasprintf("%s%s%s", HEAD ENTRY REGISTERS, body, "\nret;\n}\n");
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(text);
    SCOPED(emu_rig_fini) emu_rig rig;
    start(&rig);
    rig_launch(&rig, m, "k", 1, 64);
    expect(&rig, EMU_UNINITIALISED, says);
}

static void a_register_that_nothing_has_written_is_found(void **state)
{
    (void)state;
    expect_unset("st.global.u32 [%d2], %r5;", "it is stored");
    expect_unset("add.u32 %r4, %r5, 1; mul.lo.u32 %r4, %r4, %r1; st.global.u32 [%d2], %r4;",
                 "it is stored");
    expect_unset("setp.eq.u32 %p1, %r5, 1; @%p1 bra L; st.global.u32 [%d2], %r1; L:",
                 "decides a branch");
    expect_unset("setp.eq.u32 %p1, %r5, 1; @%p1 st.global.u32 [%d2], %r1;",
                 "whether an instruction is executed");
    expect_unset("st.global.u32 [%d5], %r1;", "an address");
    expect_unset("st.global.u32 [%d2], %r1; atom.global.add.u32 %r4, [%d2], %r5;",
                 "an operand of an atomic");
    expect_unset("bar.red.popc.u32 %r4, 0, %p2;", "is voted on");
    /* Written on one side of a branch only. */
    expect_unset(
        "setp.lt.u32 %p1, %r2, 5; @%p1 bra L; mov.u32 %r5, 3; L: st.global.u32 [%d2], %r5;",
        "it is stored");
}

static void expect_fine(const char *body)
{
    SCOPED(scoped_free) char *text = xasprintf("%s%s%s", HEAD ENTRY REGISTERS, body, "\nret;\n}\n");
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(text);
    SCOPED(emu_rig_fini) emu_rig rig;
    start(&rig);
    rig_launch(&rig, m, "k", 1, 64);
    rig_expect_clean(&rig);
}

static void an_unset_value_that_does_not_matter_is_no_finding(void **state)
{
    (void)state;
    expect_fine("add.u32 %r4, %r5, 1; st.global.u32 [%d2], %r1;");
    expect_fine("setp.lt.u32 %p1, %r2, 64; selp.u32 %r4, %r1, %r5, %p1; st.global.u32 [%d2], %r4;");
    expect_fine("setp.lt.u32 %p1, %r2, 64; setp.eq.u32 %p2, %r5, 0; or.pred %p3, %p1, %p2;"
                "@%p3 st.global.u32 [%d2], %r1;");
    expect_fine("setp.ge.u32 %p1, %r2, 64; setp.eq.and.u32 %p3, %r5, 0, %p1; @%p3 trap;");
    expect_fine("setp.lt.u32 %p1, %r2, 5; @%p1 mov.u32 %r5, 3; @!%p1 mov.u32 %r5, 4;"
                "st.global.u32 [%d2], %r5;");
}

/* ---- variables of a module ---- */

static void variables_keep_their_values_and_addresses(void **state)
{
    (void)state;
    static const char text[] = HEAD
        ".global .align 4 .u32 seven = 7;\n.const .align 4 .u32 table[4] = {10, 20, 30, 40};\n"
        ".global .align 8 .u64 link = seven;\n.global .align 4 .u32 count;\n" ENTRY REGISTERS
        "ld.global.u64 %d3, [link]; ld.global.u32 %r3, [%d3]; ld.const.u32 %r4, [table+8];\n"
        "add.u32 %r3, %r3, %r4; atom.global.add.u32 %r5, [count], 1;\n"
        "st.global.u32 [%d2], %r3; ret;\n}\n"
        ".visible .entry read(.param .u64 out)\n{\n.reg .b64 %d<2>; .reg .b32 %r<2>;\n"
        "ld.param.u64 %d1, [out]; ld.global.u32 %r1, [count]; st.global.u32 [%d1], %r1; ret;\n}\n";
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(text);
    SCOPED(emu_rig_fini) emu_rig rig;
    int *out = start(&rig);
    rig_launch(&rig, m, "k", 1, 64);
    rig_expect_clean(&rig);
    assert_int_equal(out[0], 37);
    assert_int_equal(out[63], 37);
    rig_forget_args(&rig);
    rig_pointer(&rig, out);
    rig_launch(&rig, m, "read", 1, 1);
    rig_expect_clean(&rig);
    assert_int_equal(out[0], 64);
}

static void a_store_to_constant_memory_is_found(void **state)
{
    (void)state;
    SCOPED(emu_module_destroy)
    emu_module *m =
        rig_ptx(HEAD ".const .align 4 .u32 table[4];\n" ENTRY REGISTERS
                     "mov.u64 %d3, table; cvta.const.u64 %d3, %d3; st.u32 [%d3], %r1; ret;\n}\n");
    SCOPED(emu_rig_fini) emu_rig rig;
    start(&rig);
    rig_launch(&rig, m, "k", 1, 32);
    expect(&rig, EMU_INPUT, "table");
}

/* ---- bank conflicts ---- */

static void expect_passes(const char *address, const char *access, uint64_t passes)
{
    SCOPED(scoped_free)
    char *text = xasprintf("%s%s%s%s%s", HEAD ".shared .align 16 .b8 s[8192];\n" ENTRY REGISTERS,
                           "mov.u32 %r3, s;", address, access, "\nret;\n}\n");
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(text);
    SCOPED(emu_rig_fini) emu_rig rig;
    start(&rig);
    rig_launch(&rig, m, "k", 1, 32);
    rig_expect_clean(&rig);
    assert_int_equal(rig.report.counters.shared_requests, 1);
    assert_int_equal(rig.report.counters.shared_wavefronts, passes);
}

static void bank_conflicts_are_counted_exactly(void **state)
{
    (void)state;
    static const char one[] = "st.shared.u32 [%r4], %r2;";
    expect_passes("mad.lo.u32 %r4, %r2, 4, %r3;", one, 1);
    expect_passes("mad.lo.u32 %r4, %r2, 8, %r3;", one, 2);
    expect_passes("mad.lo.u32 %r4, %r2, 128, %r3;", one, 32);
    expect_passes("mad.lo.u32 %r4, %r2, 132, %r3;", one, 1);
    expect_passes("and.b32 %r4, %r2, 1; mad.lo.u32 %r4, %r4, 128, %r3;", "st.shared.u32 [%r4], 5;",
                  2); /* two words, each given to many */
    expect_passes("mov.u32 %r4, %r3;", "st.shared.u32 [%r4], 5;", 1);
    expect_passes("mad.lo.u32 %r4, %r2, 8, %r3;", "st.shared.v2.u32 [%r4], {%r2, %r2};", 2);
    expect_passes("mad.lo.u32 %r4, %r2, 16, %r3;", "st.shared.v4.u32 [%r4], {%r2, %r2, %r2, %r2};",
                  4);
    expect_passes("mad.lo.u32 %r4, %r2, 32, %r3;", "st.shared.v4.u32 [%r4], {%r2, %r2, %r2, %r2};",
                  8);
    expect_passes("add.u32 %r4, %r2, %r3;", "st.shared.u8 [%r4], %r2;", 1);
}

/* ---- threads ---- */

static void *launch_often(void *arg)
{
    emu_module *m = arg;
    for (int i = 0; i < 50; i++) {
        emu_rig rig;
        const int *out = start(&rig);
        rig.workers = 2;
        err e = {0};
        const emu_launch launch = {
            .entry = "k", .grid = {1, 1, 1}, .block = {64, 1, 1}, .args = rig.args, .arg_count = 2};
        const emu_options options = {.workers = 2};
        const bool ran = emu_module_run(m, rig.memory, &launch, &options, &rig.report, &e) == 0 &&
                         rig.report.finding_count == 0 && out[63] == 63;
        emu_rig_fini(&rig);
        if (!ran)
            return arg;
    }
    return NULL;
}

static void a_module_serves_several_threads(void **state)
{
    (void)state;
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(plain);
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_often, m), 0);
    for (size_t i = 0; i < 3; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

static void dimensions_are_numbered_as_cuda_does(void **state)
{
    (void)state;
    err e = {0};
    static const char text[] = HEAD ENTRY
        ".reg .b32 %r<9>; .reg .b64 %d<3>;\nld.param.u64 %d1, [out];\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ctaid.x;\n"
        "mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;\n"
        "mad.lo.u32 %r7, %r6, 2, %r5; mad.lo.u32 %r7, %r7, 2, %r4; mad.lo.u32 %r7, %r7, 2, %r3;\n"
        "mad.lo.u32 %r7, %r7, 2, %r2; mad.lo.u32 %r7, %r7, 2, %r1; mad.wide.u32 %d2, %r7, 4, %d1;\n"
        "st.global.u32 [%d2], %r7; ret;\n}\n";
    SCOPED(emu_module_destroy) emu_module *m = rig_ptx(text);
    SCOPED(emu_rig_fini) emu_rig rig;
    const int *out = start(&rig);
    const emu_launch launch = {
        .entry = "k", .grid = {2, 2, 2}, .block = {2, 2, 2}, .args = rig.args, .arg_count = 2};
    assert_int_equal(emu_module_run(m, rig.memory, &launch, &(emu_options){0}, &rig.report, &e), 0);
    rig_expect_clean(&rig);
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_beside_the_buffers_is_bounded), /* first: it looks at the peak */
        cmocka_unit_test(launches_that_do_not_fit_are_told),
        cmocka_unit_test(an_argument_of_another_size_is_told),
        cmocka_unit_test(examining_does_not_run),
        cmocka_unit_test(text_that_is_no_ptx_is_an_error),
        cmocka_unit_test(a_newer_version_of_ptx_says_so),
        cmocka_unit_test(a_budget_of_instructions_ends_a_launch),
        cmocka_unit_test(a_block_that_needs_too_much_memory_is_refused),
        cmocka_unit_test(recursion_and_pointers_to_functions_are_refused),
        cmocka_unit_test(many_ways_to_a_function_are_looked_at_once),
        cmocka_unit_test(a_register_that_nothing_has_written_is_found),
        cmocka_unit_test(an_unset_value_that_does_not_matter_is_no_finding),
        cmocka_unit_test(variables_keep_their_values_and_addresses),
        cmocka_unit_test(a_store_to_constant_memory_is_found),
        cmocka_unit_test(bank_conflicts_are_counted_exactly),
        cmocka_unit_test(a_module_serves_several_threads),
        cmocka_unit_test(dimensions_are_numbered_as_cuda_does),
    };
    return cmocka_run_group_tests_name("the emulator", tests, NULL, NULL);
}
