/* test_internal - the suite that ships: every gold plan holds at every declared shape
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "suites/plan.h"
#include "suites/suite.h"

static const plan_device devices[] = {
    /* H200 */
    {132,
     90,
     false,
     {INT32_MAX, 65535, 65535},
     {1024, 1024, 64},
     1024,
     232448,
     INT64_C(150000000000)},
    /* A100 40 GB */
    {108,
     80,
     false,
     {INT32_MAX, 65535, 65535},
     {1024, 1024, 64},
     1024,
     166912,
     INT64_C(42000000000)},
    /* emulator */
    {16, 80, true, {INT32_MAX, 65535, 65535}, {1024, 1024, 64}, 1024, 166912, INT64_C(4000000000)},
};
enum { DEVICES = sizeof devices / sizeof devices[0] };

static suite *load(void)
{
    err e = {0};
    suite *s = suite_load(CE_SOURCE_DIR "/suites", "internal", &e);
    if (s == NULL)
        print_error("%s\n", e.text);
    assert_non_null(s);
    return s;
}

/* The sum has as many partial sums as blocks, and the second kernel is told so. */
static void check_sum(const contract *c, const contract_shape *shape, const plan_steps *steps)
{
    (void)c;
    (void)shape;
    assert_int_equal(steps->step_count, 2);
    const plan_step *parts = &steps->steps[0], *total = &steps->steps[1];
    int32_t count = 0;
    memcpy(&count, total->args[2].bytes, sizeof count);
    assert_int_equal(count, parts->grid[0]);
    assert_int_equal(steps->scratch[0].bytes, (int64_t)parts->grid[0] * 4);
    assert_int_equal(total->grid[0], 1);
}

/* The prefix sum's first and last kernel have a block a tile, and the one between is told how many. */
static void check_tiles(const contract *c, const contract_shape *shape, const plan_steps *steps)
{
    (void)c;
    (void)shape;
    assert_int_equal(steps->step_count, 3);
    int32_t count = 0;
    memcpy(&count, steps->steps[1].args[2].bytes, sizeof count);
    assert_int_equal(count, steps->steps[0].grid[0]);
    assert_int_equal(count, steps->steps[2].grid[0]);
    assert_int_equal(steps->scratch[0].bytes, (int64_t)count * 8);
    assert_int_equal(steps->scratch[1].bytes, (int64_t)count * 8);
    assert_int_equal(steps->steps[1].grid[0], 1);
}

/* Blocks of the first kernel find a start for each segment and one for the end, and add up each whole
 * chunk of 4,096 elements; those of the second sum 32 segments each. */
static void check_segments(const contract *c, const contract_shape *shape, const plan_steps *steps)
{
    (void)c;
    const int64_t n = shape->dims[0], segments = shape->dims[1];
    assert_int_equal(steps->step_count, 2);
    const int64_t first = steps->steps[0].grid[0], second = steps->steps[1].grid[0];
    assert_true(first * 256 >= segments + 1 && first >= n / 4096);
    assert_int_equal(steps->scratch[0].bytes, (segments + 1) * 4);
    assert_true(steps->scratch[1].bytes >= n / 4096 * 4);
    assert_true(second * 32 >= segments && (second - 1) * 32 < segments);
}

static int64_t dim_of(const contract *c, const contract_shape *shape, const char *name)
{
    for (size_t i = 0; i < c->dim_count; i++)
        if (strcmp(c->dims[i].name, name) == 0)
            return shape->dims[i];
    return 1;
}

/* Tiles of 128 x 256, 128 x 128 or 64 x 64 cover each result, and where k is cut, each part has them, room in scratch
 * and a place in the sum. */
static void check_matrices(const contract *c, const contract_shape *shape, const plan_steps *steps)
{
    const int64_t m = dim_of(c, shape, "m"), n = dim_of(c, shape, "n");
    const plan_step *first = &steps->steps[0];
    int64_t blocks = (int64_t)first->grid[0] * first->grid[1] * first->grid[2];
    if (steps->step_count == 2) {
        int32_t parts = 0;
        memcpy(&parts, steps->steps[1].args[3].bytes, sizeof parts);
        assert_int_equal(parts, first->grid[1]);
        assert_int_equal(steps->scratch[0].bytes, parts * m * n * 4);
        blocks /= parts;
    }
    const int64_t large = ((m + 127) / 128) * ((n + 127) / 128) * dim_of(c, shape, "batch");
    const int64_t small = ((m + 63) / 64) * ((n + 63) / 64) * dim_of(c, shape, "batch");
    const int64_t wide = ((m + 127) / 128) * ((n + 255) / 256) * dim_of(c, shape, "batch");
    assert_true(blocks == large || blocks == small || blocks == wide);
}

/* What each gold's blocks cover: elements of the first output or, for rows, a row each; other plans have a
 * check of their own. */
enum { ROW_A_BLOCK = 0 };

typedef void check_fn(const contract *c, const contract_shape *shape, const plan_steps *steps);

typedef struct cover {
    const char *problem;
    int64_t elements; /* a block, or the above */
    check_fn *own;    /* NULL: by elements */
} cover;

static const cover covers[] = {
    {"vector_add_fp32", 2048, NULL},
    {"silu_fp16", 4096, NULL},
    {"add_relu_fp32", 2048, NULL},
    {"scalar_multiply_fp32", 2048, NULL},
    {"clamp_fp16", 4096, NULL},
    {"maximum_bf16", 4096, NULL},
    {"hypot_fp32", 2048, NULL},
    {"tanh_add_fp32", 2048, NULL},
    {"relu_bias_bf16", ROW_A_BLOCK, NULL},
    {"gelu_tanh_bf16", 4096, NULL},
    {"gelu_erf_fp32", 2048, NULL},
    {"bias_gelu_fp16", ROW_A_BLOCK, NULL},
    {"celu_fp16", 4096, NULL},
    {"selu_bf16", 4096, NULL},
    {"hardsigmoid_fp16", 4096, NULL},
    {"hardswish_bf16", 4096, NULL},
    {"logsigmoid_fp32", 2048, NULL},
    {"mish_fp16", 4096, NULL},
    {"tanhshrink_fp16", 4096, NULL},
    {"sigmoid_mul_fp16", 4096, NULL},
    {"swiglu_fp16", 4096, NULL},
    {"geglu_bf16", ROW_A_BLOCK, NULL},
    {"dropout_fp32", 1024, NULL},
    {"rms_norm_fp16", ROW_A_BLOCK, NULL},
    {"softmax_lastdim_fp16", ROW_A_BLOCK, NULL},
    {"layernorm_bf16", ROW_A_BLOCK, NULL},
    {"sum_reduction_fp32", 0, check_sum},
    {"argmax_fp32", ROW_A_BLOCK, NULL},
    {"cumsum_lastdim_fp32", ROW_A_BLOCK, NULL},
    {"l2_norm_fp32", ROW_A_BLOCK, NULL},
    {"var_lastdim_fp32", ROW_A_BLOCK, NULL},
    {"mean_lastdim_bf16", ROW_A_BLOCK, NULL},
    {"rmsnorm_silu_fp16", ROW_A_BLOCK, NULL},
    {"layernorm_silu_bf16", ROW_A_BLOCK, NULL},
    {"max_lastdim_fp16", ROW_A_BLOCK, NULL},
    {"min_lastdim_fp32", ROW_A_BLOCK, NULL},
    {"masked_mean_fp16", ROW_A_BLOCK, NULL},
    {"softmax_numerator_bf16", ROW_A_BLOCK, NULL},
    {"cummax_lastdim_fp32", ROW_A_BLOCK, NULL},
    {"topk_fp32", ROW_A_BLOCK, NULL},
    {"prefix_sum_int64", 0, check_tiles},
    {"segment_sum_fp32", 0, check_segments},
    {"matmul_fp32", 0, check_matrices},
    {"matmul_fp16", 0, check_matrices},
    {"matmul_bf16", 0, check_matrices},
    {"matmul_bias_gelu_fp16", 0, check_matrices},
    {"batched_matmul_bf16", 0, check_matrices},
    {"splitk_matmul_fp16", 0, check_matrices},
};
enum { COVERS = sizeof covers / sizeof covers[0] };

static const cover *cover_of(const char *id)
{
    for (size_t i = 0; i < COVERS; i++)
        if (strcmp(covers[i].problem, id) == 0)
            return &covers[i];
    return NULL;
}

static bool writes(const plan_steps *steps, size_t tensor)
{
    for (size_t i = 0; i < steps->step_count; i++)
        for (size_t a = 0; a < steps->steps[i].arg_count; a++)
            if (steps->steps[i].args[a].kind == PLAN_ARG_TENSOR &&
                steps->steps[i].args[a].index == tensor)
                return true;
    return false;
}

static void check_steps(const problem *p, const contract_shape *shape, const plan_steps *steps)
{
    int64_t elements = -1;
    const contract *c = p->terms;
    assert_int_equal(contract_elements(c, c->input_count, shape, &elements, NULL), 0);
    if (elements == 0) {
        assert_int_equal(steps->step_count, 0);
        return;
    }
    assert_true(writes(steps, c->input_count));
    const cover *covered = cover_of(p->id);
    if (covered == NULL) {
        fail_msg("%s has no row in covers", p->id);
        return;
    }
    if (covered->own != NULL) {
        covered->own(c, shape, steps);
        return;
    }
    assert_int_equal(steps->step_count, 1);
    int64_t blocks = steps->steps[0].grid[0];
    if (covered->elements == ROW_A_BLOCK)
        assert_int_equal(blocks, shape->dims[0]);
    else
        assert_in_range((uint64_t)blocks, (uint64_t)((elements - 1) / covered->elements + 1),
                        (uint64_t)((elements - 1) / covered->elements + 1));
}

static void check_at(const problem *p, const plan *gold, const contract_shape *shape)
{
    for (size_t d = 0; d < DEVICES; d++) {
        SCOPED(plan_steps_fini) plan_steps steps = {0};
        plan_fault fault = {{0}, {0}};
        int rc = plan_expand(gold, p->terms, shape, &devices[d], &steps, &fault);
        if (rc < 0)
            print_error("%s: %s: %s\n", p->id, fault.pointer, fault.text);
        assert_int_equal(rc, 0);
        check_steps(p, shape, &steps);
    }
}

/* extremes are the corners of the ranges that hidden shapes are drawn from. */
static void check_extremes(const problem *p, const plan *gold)
{
    size_t dims = p->terms->dim_count;
    for (unsigned corner = 0; corner < 1U << dims; corner++) {
        contract_shape shape = {{0}};
        for (size_t i = 0; i < dims; i++)
            shape.dims[i] = (corner >> i) & 1U ? p->terms->dims[i].max : p->terms->dims[i].min;
        check_at(p, gold, &shape);
    }
}

static void every_gold_plan_expands_at_every_shape_on_every_device(void **state)
{
    (void)state;
    SCOPED(suite_destroy) suite *s = load();
    assert_int_equal(s->problem_count, COVERS);
    for (size_t i = 0; i < s->problem_count; i++) {
        const problem *p = &s->problems[i];
        assert_non_null(p->gold_source);
        SCOPED(plan_destroy)
        plan *gold = plan_parse(p->gold_plan, strlen(p->gold_plan), p->terms, NULL);
        assert_non_null(gold);
        for (size_t j = 0; j < p->terms->shape_count; j++)
            check_at(p, gold, &p->terms->shapes[j]);
        check_at(p, gold, &p->terms->benchmark);
        check_extremes(p, gold);
    }
}

static void every_entry_of_a_gold_plan_is_in_its_source(void **state)
{
    (void)state;
    SCOPED(suite_destroy) suite *s = load();
    for (size_t i = 0; i < s->problem_count; i++) {
        const problem *p = &s->problems[i];
        SCOPED(plan_destroy)
        plan *gold = plan_parse(p->gold_plan, strlen(p->gold_plan), p->terms, NULL);
        size_t count = 0;
        const char *const *entries = plan_entries(gold, &count);
        for (size_t j = 0; j < count; j++) {
            if (strstr(p->gold_source, entries[j]) == NULL)
                print_error("%s lacks %s\n", p->id, entries[j]);
            assert_non_null(strstr(p->gold_source, entries[j]));
        }
    }
}

static bool has_shape(const contract *c, bool (*is)(const contract *, const contract_shape *))
{
    for (size_t i = 0; i < c->shape_count; i++)
        if (is(c, &c->shapes[i]))
            return true;
    return false;
}

static bool has_zero(const contract *c, const contract_shape *shape)
{
    for (size_t i = 0; i < c->dim_count; i++)
        if (shape->dims[i] == 0)
            return true;
    return false;
}

static bool is_all_ones(const contract *c, const contract_shape *shape)
{
    for (size_t i = 0; i < c->dim_count; i++)
        if (shape->dims[i] != 1)
            return false;
    return true;
}

static bool has_odd_tail(const contract *c, const contract_shape *shape)
{
    return shape->dims[c->dim_count - 1] > 1 && shape->dims[c->dim_count - 1] % 2 == 1;
}

static bool is_aligned(const contract *c, const contract_shape *shape)
{
    return !has_zero(c, shape) && shape->dims[c->dim_count - 1] % 8 == 0;
}

static void every_problem_checks_the_edges_and_draws_normal_values(void **state)
{
    (void)state;
    SCOPED(suite_destroy) suite *s = load();
    for (size_t i = 0; i < s->problem_count; i++) {
        const contract *c = s->problems[i].terms;
        assert_true(has_shape(c, has_zero));
        assert_true(has_shape(c, is_all_ones));
        assert_true(has_shape(c, has_odd_tail));
        assert_true(has_shape(c, is_aligned));
        assert_true(family_list_has(&c->families, "normal"));
        if (strcmp(s->problems[i].category, "gemm") == 0)
            continue; /* bound by arithmetic */
        int64_t elements = 0;
        assert_int_equal(contract_elements(c, 0, &c->benchmark, &elements, NULL), 0);
        assert_int_equal(elements, 16777216);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gold_plan_expands_at_every_shape_on_every_device),
        cmocka_unit_test(every_entry_of_a_gold_plan_is_in_its_source),
        cmocka_unit_test(every_problem_checks_the_edges_and_draws_normal_values),
    };
    return cmocka_run_group_tests_name("internal", tests, NULL, NULL);
}
