/* test_cases - which shapes are checked, with which values
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "suites/cases.h"
#include "tests/unit/suites/sample.h"

static const char vector[] = "{'problem':'v','dims':[{'name':'n','min':0,'max':100000000}],"
                             "'inputs':[{'name':'x','dtype':'f32','shape':['n']}],'scalars':[],"
                             "'outputs':[{'name':'y','dtype':'f32','shape':[]}],'reduction':'n',"
                             "'values':['normal','zeros','large'],'order_free':false,"
                             "'shapes':[{'n':0},{'n':7},{'n':1000003}],'benchmark':{'n':16777216}}";

static const char gemm[] =
    "{'problem':'g','dims':[{'name':'b','min':1,'max':64},{'name':'m','min':1,'max':4096},"
    "{'name':'n','min':1,'max':4096},{'name':'k','min':8,'max':4096}],"
    "'inputs':[{'name':'a','dtype':'f16','shape':['b','m','k']},"
    "{'name':'w','dtype':'f16','shape':['b','k','n']}],'scalars':[],"
    "'outputs':[{'name':'y','dtype':'f16','shape':['b','m','n']}],'reduction':'k',"
    "'values':['normal','uniform','integers','offset','large','one_hot'],'order_free':false,"
    "'shapes':[{'b':2,'m':33,'n':65,'k':40}],'benchmark':{'b':8,'m':1024,'n':1024,'k':1024}}";

static contract *read_contract(const char *quoted)
{
    SCOPED(scoped_free) char *text = sample_quote(quoted);
    err e = {0};
    contract *c = contract_parse(text, strlen(text), "c", &e);
    if (c == NULL)
        fail_msg("%s", e.text);
    return c;
}

static const char *const contracts[] = {SAMPLE_CONTRACT, vector, gemm};

static bool has(const cases *g, const contract *c, const contract_shape *shape)
{
    for (size_t i = 0; i < g->count; i++)
        if (memcmp(g->shapes[i].shape.dims, shape->dims, c->dim_count * sizeof *shape->dims) == 0)
            return true;
    return false;
}

static size_t dealt(const cases *g, const char *family)
{
    size_t n = 0;
    for (size_t i = 0; i < g->count; i++)
        n += g->shapes[i].elements > 0 && strcmp(g->shapes[i].family, family) == 0;
    return n;
}

static size_t distinct(const cases *g, const contract *c)
{
    size_t n = 0;
    for (size_t i = 0; i < g->count; i++) {
        const cases before = {g->shapes, i};
        n += !has(&before, c, &g->shapes[i].shape);
    }
    return n;
}

static void every_declared_shape_is_run(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        SCOPED(contract_destroy) contract *c = read_contract(contracts[k]);
        SCOPED(cases_fini) cases g = {0};
        cases_build(c, false, &g);
        for (size_t i = 0; i < c->shape_count; i++)
            assert_true(has(&g, c, &c->shapes[i]));
        assert_true(distinct(&g, c) <= c->shape_count + CASES_SHAPES);
        assert_true(distinct(&g, c) > c->shape_count + 8);
    }
}

static void what_is_not_new_is_marked(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        SCOPED(contract_destroy) contract *c = read_contract(contracts[k]);
        SCOPED(cases_fini) cases g = {0};
        cases_build(c, false, &g);
        size_t fresh = 0;
        for (size_t i = 0; i < g.count; i++)
            fresh += !g.shapes[i].again;
        assert_int_equal(fresh + c->shape_count, distinct(&g, c));
    }
}

static void the_same_contract_gives_the_same_grid(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        SCOPED(contract_destroy) contract *c = read_contract(contracts[k]);
        SCOPED(contract_destroy) contract *d = read_contract(contracts[k]);
        SCOPED(cases_fini) cases a = {0}, b = {0};
        cases_build(c, false, &a);
        cases_build(d, false, &b);
        assert_int_equal(a.count, b.count);
        for (size_t i = 0; i < a.count; i++) {
            assert_memory_equal(&a.shapes[i].shape, &b.shapes[i].shape, sizeof a.shapes[i].shape);
            assert_string_equal(a.shapes[i].family, b.shapes[i].family);
        }
    }
}

static void another_contract_gives_other_shapes(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = read_contract(SAMPLE_CONTRACT);
    SCOPED(contract_destroy) contract *d = read_contract(SAMPLE_CONTRACT);
    d->benchmark.dims[0] = 2048; /* another hash, the same ranges */
    SCOPED(cases_fini) cases a = {0}, b = {0};
    cases_build(c, false, &a);
    cases_build(d, false, &b);
    size_t shared = 0;
    for (size_t i = 0; i < a.count; i++)
        shared += has(&b, c, &a.shapes[i].shape);
    assert_true(shared < a.count);
}

static void the_emulator_gets_few_and_small_ones(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        SCOPED(contract_destroy) contract *c = read_contract(contracts[k]);
        SCOPED(cases_fini) cases g = {0};
        cases_build(c, true, &g);
        assert_true(g.count > 8);
        assert_true(g.count <= CASES_EMU_SHAPES - CASES_HIDDEN);
        for (size_t i = 0; i < g.count; i++)
            assert_true(g.shapes[i].elements <= CASES_EMU_ELEMENTS);
        for (size_t f = 0; f < c->families.count; f++)
            assert_true(dealt(&g, c->families.names[f]) >= 1);
    }
}

static void every_family_is_dealt_twice_and_to_a_large_shape(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        SCOPED(contract_destroy) contract *c = read_contract(contracts[k]);
        SCOPED(cases_fini) cases g = {0};
        cases_build(c, false, &g);
        for (size_t f = 0; f < c->families.count; f++) {
            int64_t largest = 0;
            for (size_t i = 0; i < g.count; i++)
                if (strcmp(g.shapes[i].family, c->families.names[f]) == 0 &&
                    g.shapes[i].elements > largest)
                    largest = g.shapes[i].elements;
            assert_true(dealt(&g, c->families.names[f]) >= 2);
            assert_true(largest >= 1000);
        }
    }
}

static void sizes_are_those_of_the_list_within_the_range_and_never_all_equal(void **state)
{
    (void)state;
    static const int64_t allowed[] = {0,   1,   2,    8,    31,   32,   33,   64,  127,
                                      128, 129, 1023, 1024, 1025, 4095, 4096, 4097};
    SCOPED(contract_destroy) contract *c = read_contract(gemm);
    SCOPED(cases_fini) cases g = {0};
    cases_build(c, false, &g);
    for (size_t i = 0; i < g.count; i++) {
        const int64_t *dims = g.shapes[i].shape.dims;
        if (memcmp(dims, c->shapes[0].dims, 4 * sizeof *dims) == 0)
            continue;
        assert_false(dims[0] == dims[1] && dims[1] == dims[2] && dims[2] == dims[3]);
        assert_true(g.shapes[i].elements <= CASES_ELEMENTS);
        for (size_t d = 0; d < 4; d++) {
            bool known = false;
            for (size_t k = 0; k < sizeof allowed / sizeof *allowed; k++)
                known |= dims[d] == allowed[k];
            assert_true(known);
            assert_true(dims[d] >= c->dims[d].min && dims[d] <= c->dims[d].max);
        }
    }
}

/* Both ends, and each size of the list, occur with elements. */
static void every_size_of_every_dimension_is_met(void **state)
{
    (void)state;
    static const int64_t wanted[] = {1, 2, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 4095, 4097};
    SCOPED(contract_destroy) contract *c = read_contract(SAMPLE_CONTRACT);
    SCOPED(cases_fini) cases g = {0};
    cases_build(c, false, &g);
    for (size_t d = 0; d < c->dim_count; d++)
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
            bool met = false;
            for (size_t i = 0; i < g.count; i++)
                met |= g.shapes[i].elements > 0 && g.shapes[i].shape.dims[d] == wanted[k];
            assert_true(met);
        }
}

/* With few values the whole covering fits: every pair of sizes occurs. */
static void small_ranges_are_covered_pairwise(void **state)
{
    (void)state;
    static const char text[] =
        "{'problem':'p','dims':[{'name':'a','min':1,'max':31},{'name':'b','min':2,'max':33},"
        "{'name':'c','min':1,'max':2}],"
        "'inputs':[{'name':'x','dtype':'f32','shape':['a','b','c']}],'scalars':[],"
        "'outputs':[{'name':'y','dtype':'f32','shape':['a','b','c']}],'reduction':'1',"
        "'values':['normal'],'order_free':false,"
        "'shapes':[{'a':1,'b':2,'c':1}],'benchmark':{'a':31,'b':33,'c':2}}";
    static const int64_t values[3][4] = {{1, 2, 31, -1}, {2, 31, 32, 33}, {1, 2, -1, -1}};
    SCOPED(contract_destroy) contract *c = read_contract(text);
    SCOPED(cases_fini) cases g = {0};
    cases_build(c, false, &g);
    for (size_t a = 0; a < 3; a++)
        for (size_t b = a + 1; b < 3; b++)
            for (size_t i = 0; i < 16; i++) {
                int64_t x = values[a][i / 4], y = values[b][i % 4];
                bool met = x < 0 || y < 0;
                for (size_t k = 0; k < g.count; k++)
                    met |= g.shapes[k].shape.dims[a] == x && g.shapes[k].shape.dims[b] == y;
                assert_true(met);
            }
}

static void what_the_contract_cannot_evaluate_is_left_out(void **state)
{
    (void)state;
    static const char text[] =
        "{'problem':'p','dims':[{'name':'n','min':1,'max':5000},{'name':'k','min':1,'max':5000}],"
        "'inputs':[{'name':'x','dtype':'f32','shape':['n']}],'scalars':[],"
        "'outputs':[{'name':'y','dtype':'f32','shape':['n - k']}],'reduction':'1',"
        "'values':['normal'],'order_free':false,"
        "'shapes':[{'n':9,'k':3}],'benchmark':{'n':5000,'k':3}}";
    SCOPED(contract_destroy) contract *c = read_contract(text);
    SCOPED(cases_fini) cases g = {0};
    cases_build(c, false, &g);
    assert_true(g.count > 10);
    for (size_t i = 0; i < g.count; i++)
        assert_true(g.shapes[i].shape.dims[0] >= g.shapes[i].shape.dims[1]);
}

static void ordinary_values_come_first_and_small_shapes_before_large_ones(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = read_contract(vector);
    SCOPED(cases_fini) cases g = {0};
    cases_build(c, false, &g);
    bool special = false;
    for (size_t i = 0; i < g.count; i++) {
        bool now = strcmp(g.shapes[i].family, "large") == 0;
        assert_true(now || !special);
        if (i > 0 && now == special)
            assert_true(g.shapes[i].elements >= g.shapes[i - 1].elements);
        special = now;
    }
    assert_true(special);
}

static void hidden_shapes_follow_the_seed_and_stay_in_range(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        SCOPED(contract_destroy) contract *c = read_contract(contracts[k]);
        size_t differ = 0;
        for (uint64_t seed = 1; seed <= 50; seed++) {
            rng a, b, other;
            cases_shape x, y, z;
            rng_init(&a, seed);
            rng_init(&b, seed);
            rng_init(&other, seed + 1000);
            assert_true(cases_draw(c, false, &a, &x));
            assert_true(cases_draw(c, false, &b, &y));
            assert_true(cases_draw(c, true, &other, &z));
            assert_memory_equal(&x.shape, &y.shape, sizeof x.shape);
            assert_string_equal(x.family, y.family);
            assert_true(x.elements > 0 && x.elements <= CASES_ELEMENTS);
            assert_true(z.elements > 0 && z.elements <= CASES_EMU_ELEMENTS);
            differ += memcmp(&x.shape, &z.shape, sizeof x.shape) != 0;
            for (size_t d = 0; d < c->dim_count; d++)
                assert_true(x.shape.dims[d] >= c->dims[d].min && x.shape.dims[d] <= c->dims[d].max);
        }
        assert_true(differ > 40);
    }
}

static void the_large_index_shape_is_the_smallest_beyond_31_bits(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *none = read_contract(vector);
    cases_shape large = {.elements = 0};
    assert_false(cases_large(none, &large)); /* the range ends at 1e8 */
    SCOPED(contract_destroy) contract *c = read_contract(SAMPLE_CONTRACT);
    c->dims[0].max = INT64_C(1) << 30;
    assert_true(cases_large(c, &large));
    assert_true(large.elements > CASES_LARGE);
    assert_int_equal(large.shape.dims[0], (INT64_C(1) << 31) / 4096 + 1);
    assert_int_equal(large.shape.dims[1], 4096);
    assert_string_equal(large.family, "normal");
}

static void the_benchmark_shape_is_normal_where_there_is_such_a_family(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = read_contract(vector);
    cases_shape s = cases_benchmark(c);
    assert_int_equal(s.shape.dims[0], 16777216);
    assert_int_equal(s.elements, 16777216);
    assert_string_equal(s.family, "normal");
    c->families.names[0] = "zeros";
    c->families.count = 1;
    assert_string_equal(cases_benchmark(c).family, "zeros");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_declared_shape_is_run),
        cmocka_unit_test(what_is_not_new_is_marked),
        cmocka_unit_test(the_same_contract_gives_the_same_grid),
        cmocka_unit_test(another_contract_gives_other_shapes),
        cmocka_unit_test(the_emulator_gets_few_and_small_ones),
        cmocka_unit_test(every_family_is_dealt_twice_and_to_a_large_shape),
        cmocka_unit_test(sizes_are_those_of_the_list_within_the_range_and_never_all_equal),
        cmocka_unit_test(every_size_of_every_dimension_is_met),
        cmocka_unit_test(small_ranges_are_covered_pairwise),
        cmocka_unit_test(what_the_contract_cannot_evaluate_is_left_out),
        cmocka_unit_test(ordinary_values_come_first_and_small_shapes_before_large_ones),
        cmocka_unit_test(hidden_shapes_follow_the_seed_and_stay_in_range),
        cmocka_unit_test(the_large_index_shape_is_the_smallest_beyond_31_bits),
        cmocka_unit_test(the_benchmark_shape_is_normal_where_there_is_such_a_family),
    };
    return cmocka_run_group_tests_name("cases", tests, NULL, NULL);
}
