/* Every row of the corpus on the emulator: against an independent computation, and against what an H200
 * gave (tests/data/emu/h200.bin). Approximations, the emulator's and the card's, are held against the true
 * value, within the bound that the PTX manual states.
 *
 * Modules: decode decode_flow decode_lanes decode_memory decode_operand half lanes lanes_approx
 *          lanes_bits lanes_compare lanes_convert lanes_f32 lanes_f64 lanes_half lanes_int lanes_move
 *          load atomic
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/emulator/lanes.h"
#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/gpu/emu_corpus/fixture.h"
#include "tests/unit/emulator/emu_rig.h"
#include "tests/unit/emulator/reference.h"

enum { SHOWN = 200, /* faults in words */ RESULTS = CORPUS_THREADS * 2 };

static corpus *rows;
static uint64_t *results; /* of all rows on the emulator */

static void run_row(emu_module *module, size_t number)
{
    char entry[32];
    SCOPED(emu_rig_fini) emu_rig rig;
    emu_rig_init(&rig);
    rig.workers = 1;
    uint64_t *in = rig_buffer(&rig, "in", RIG_INPUT, 8, CORPUS_THREADS * CORPUS_OPERANDS);
    const uint64_t *out = rig_buffer(&rig, "out", RIG_READY, 1, corpus_out_bytes());
    corpus_operands(&rows->rows[number], in);
    snprintf(entry, sizeof entry, "k%zu", number);
    rig_launch(&rig, module, entry, 1, CORPUS_THREADS);
    if (rig.report.finding_count != 0)
        fail_msg("%s: %s", rows->rows[number].name, rig.report.findings[0].text);
    memcpy(results + number * RESULTS, out, RESULTS * sizeof *out);
}

static int run_all(void **state)
{
    (void)state;
    rows = corpus_create();
    results = xcalloc(rows->count, RESULTS * sizeof *results);
    for (size_t first = 0; first < rows->count; first += CORPUS_CHUNK) {
        SCOPED(scoped_free) char *text = corpus_module(rows, first);
        SCOPED(emu_module_destroy) emu_module *module = rig_ptx(text);
        for (size_t i = first; i < rows->count && i < first + CORPUS_CHUNK; i++)
            run_row(module, i);
    }
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    free(results);
    corpus_destroy(&rows);
    return 0;
}

static double as_double(corpus_kind kind, uint64_t word)
{
    return (double)reference_value(kind, word);
}

/* What one unit in the last place of v is. */
static double ulp_of(corpus_kind kind, double v)
{
    const int digits = kind == KIND_F16 ? 10 : kind == KIND_F32 ? 23 : 52;
    const int least = kind == KIND_F16 ? -14 : kind == KIND_F32 ? -126 : -1022;
    const int power = v == 0 ? least : ilogb(v);
    return ldexp(1, (power > least ? power : least) - digits);
}

static double allowed(const corpus_row *r, corpus_kind kind, double operand, double truth)
{
    switch (r->match) {
    case MATCH_BITS:
        return 0;
    case MATCH_ULP:
        return r->bound * ulp_of(kind, truth);
    case MATCH_RELATIVE:
        return r->bound * fabs(truth);
    case MATCH_ABSOLUTE:
        return r->bound;
    case MATCH_LOGARITHM:
        return operand > 0.5 && operand < 2 ? r->bound : r->bound * fabs(truth);
    }
    return 0;
}

/* What is past the largest number stands where the next one would be. */
static double limit(corpus_kind kind, double v)
{
    const double next = kind == KIND_F16 ? 0x1p16 : kind == KIND_F32 ? 0x1p128 : (double)INFINITY;
    return fabs(v) > next ? copysign(next, v) : v;
}

/* Within the row's bound of the truth; infinities and NaN must be the same. */
static bool within(const reference_case *c, bool high, uint64_t word)
{
    const corpus_row *r = c->row;
    const corpus_kind kind = r->d == KIND_F16X2 ? KIND_F16 : r->d;
    double truth = 0;
    if (!reference_true(c, high, &truth))
        return false;
    double x = as_double(kind, word);
    if (isnan(x) || isnan(truth))
        return isnan(x) && isnan(truth);
    if (isinf(truth))
        return x == truth;
    x = limit(kind, x);
    truth = limit(kind, truth);
    const double operand = as_double(kind, reference_operand(c, 0));
    return fabs(x - truth) <= allowed(r, kind, operand, truth);
}

static bool approximates(const reference_case *c, uint64_t word)
{
    if (c->row->d != KIND_F16X2)
        return within(c, false, word);
    return within(c, false, word & 0xffff) && within(c, true, word >> 16);
}

/* One result of a thread; of an approximation both have to be within the bound. */
static bool agrees(const reference_case *c, corpus_kind kind, uint64_t is, uint64_t should)
{
    if (kind == KIND_NONE)
        return true;
    if (c->row->match != MATCH_BITS)
        return approximates(c, is) && approximates(c, should);
    return is == should;
}

static void show(const corpus_row *r, size_t number, unsigned t, const uint64_t *should)
{
    uint64_t in[CORPUS_THREADS * CORPUS_OPERANDS];
    const uint64_t *is = results + number * RESULTS + 2 * t;
    corpus_operands(r, in);
    const uint64_t *o = in + t * CORPUS_OPERANDS;
    print_error("%s, thread %u: (%llx %llx %llx %llx) gives %llx %llx, should be %llx %llx\n",
                r->name, t, (unsigned long long)o[0], (unsigned long long)o[1],
                (unsigned long long)o[2], (unsigned long long)o[3], (unsigned long long)is[0],
                (unsigned long long)is[1], (unsigned long long)should[0],
                (unsigned long long)should[1]);
}

/* Compares one row with its right results; counts and shows what differs. */
static bool compare_row(size_t number, const uint64_t *should, size_t *shown)
{
    const corpus_row *r = &rows->rows[number];
    uint64_t in[CORPUS_THREADS * CORPUS_OPERANDS];
    corpus_operands(r, in);
    for (unsigned t = 0; t < CORPUS_THREADS; t++) {
        const uint64_t *is = results + number * RESULTS + 2 * t;
        const reference_case c = {r, in, t};
        if (agrees(&c, r->d, is[0], should[2 * t]) && agrees(&c, r->e, is[1], should[2 * t + 1]))
            continue;
        if ((*shown)++ < SHOWN)
            show(r, number, t, should + 2 * t);
        return false;
    }
    return true;
}

static bool compute_row(size_t number, uint64_t *out)
{
    uint64_t in[CORPUS_THREADS * CORPUS_OPERANDS];
    corpus_operands(&rows->rows[number], in);
    for (unsigned t = 0; t < CORPUS_THREADS; t++) {
        const reference_case c = {&rows->rows[number], in, t};
        if (!reference(&c, out + 2 * t))
            return false;
    }
    return true;
}

static void results_are_those_of_an_independent_computation(void **state)
{
    (void)state;
    uint64_t should[RESULTS];
    size_t wrong = 0, shown = 0, unknown = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (compute_row(i, should))
            wrong += !compare_row(i, should, &shown);
        else if (rows->rows[i].op[0] != '\0' && unknown++ < SHOWN)
            print_error("no reference for %s\n", rows->rows[i].name);
    }
    if (wrong != 0 || unknown != 0)
        fail_msg("%zu of %zu rows are wrong, %zu have no reference", wrong, rows->count, unknown);
}

static void names_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < rows->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(rows->rows[i].name, rows->rows[k].name) == 0)
                fail_msg("%s stands twice", rows->rows[i].name);
}

/* ---- is everything there? ---- */

/* The key of an instruction as lanes.h has it: without rounding, and without how a comparison joins. */
static void key_of(const char *instruction, size_t length, char *out, size_t size)
{
    static const char *const skipped[] = {".rn", ".rz", ".rm", ".rp", ".and", ".or", ".xor"};
    const bool compares = strncmp(instruction, "set", 3) == 0;
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < size;) {
        size_t word = 1 + strcspn(instruction + i + 1, ". \t");
        word = word < length - i ? word : length - i;
        bool skip = false;
        for (size_t k = 0; k < 7; k++)
            skip |= word == strlen(skipped[k]) && strncmp(instruction + i, skipped[k], word) == 0 &&
                    (k < 4 || compares);
        for (size_t k = 0; k < word && !skip && used + 1 < size; k++)
            out[used++] = instruction[i + k];
        i += word;
    }
    out[used] = '\0';
}

typedef struct search {
    size_t missing;
} search;

static bool body_has(const char *body, const char *key)
{
    char own[96];
    for (const char *p = body; *p != '\0';) {
        p += strspn(p, " ;{}:\n");
        const size_t length = strcspn(p, " ;");
        key_of(p, length, own, sizeof own);
        if (strcmp(own, key) == 0)
            return true;
        p += strcspn(p, ";:{");
        p += *p != '\0';
    }
    return false;
}

static void look_for(const lane_row *row, void *arg)
{
    search *s = arg;
    if (row->shape[0] == '\0') /* parts of mov: by name in the corpus */
        return;
    for (size_t i = 0; i < rows->count; i++)
        if (body_has(rows->rows[i].body, row->key))
            return;
    if (s->missing++ < SHOWN)
        print_error("no row for %s\n", row->key);
}

static void every_instruction_of_the_tables_has_a_row(void **state)
{
    (void)state;
    search s = {0};
    lanes_each(look_for, &s);
    assert_int_equal(s.missing, 0);
}

static void the_page_lists_the_rows(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *committed = rig_source("docs/emulator-instructions.md");
    buf printed;
    buf_init(&printed, 1 << 20);
    corpus_table(rows, &printed);
    const bool same = strcmp(buf_text(&printed), committed) == 0;
    buf_fini(&printed);
    if (!same)
        fail_msg("docs/emulator-instructions.md is not current: build/tests/emu_corpus --table");
}

static void results_are_those_of_a_gpu(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(fixture_destroy) fixture *f = fixture_read(CE_SOURCE_DIR "/tests/data/emu/h200.bin", &e);
    if (f == NULL)
        fail_msg("%s", e.text);
    uint64_t should[RESULTS];
    size_t wrong = 0, shown = 0, missing = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (fixture_row(f, &rows->rows[i], should))
            wrong += !compare_row(i, should, &shown);
        else
            missing++;
    }
    print_message("%zu rows compared, %zu not in the fixture\n", rows->count - missing, missing);
    if (wrong != 0 || missing != 0)
        fail_msg("%zu rows differ from %s, %zu are not in the fixture: capture it anew", wrong,
                 fixture_device(f), missing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(results_are_those_of_an_independent_computation),
        cmocka_unit_test(every_instruction_of_the_tables_has_a_row),
        cmocka_unit_test(the_page_lists_the_rows),
        cmocka_unit_test(results_are_those_of_a_gpu),
    };
    return cmocka_run_group_tests_name("instructions on the emulator", tests, run_all, free_all);
}
