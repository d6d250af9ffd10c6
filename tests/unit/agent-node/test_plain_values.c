/* Inputs without a judge: exact, in range, in order, the same for the same seed.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent-node/plain_values.h"
#include "common/scoped.h"

enum { ROWS = 3, COLS = 50 };

static const char terms_text[] =
    "{\"problem\":\"p\",\"dims\":[{\"name\":\"rows\",\"min\":1,\"max\":1099511627775},"
    "{\"name\":\"cols\",\"min\":1,\"max\":1099511627775}],\"inputs\":["
    "{\"name\":\"h\",\"dtype\":\"f16\",\"shape\":[\"rows\",\"cols\"]"
    "},"
    "{\"name\":\"b\",\"dtype\":\"bf16\",\"shape\":[\"rows\",\"cols\"]"
    "},"
    "{\"name\":\"f\",\"dtype\":\"f32\",\"shape\":[\"rows\",\"cols\"]"
    "},"
    "{\"name\":\"d\",\"dtype\":\"f64\",\"shape\":[\"rows\",\"cols\"]"
    "},"
    "{\"name\":\"i\",\"dtype\":\"i32\",\"shape\":[\"rows\",\"cols\"]"
    "},"
    "{\"name\":\"r\",\"dtype\":\"i64\",\"shape\":[\"rows\",\"cols\"]"
    ",\"range\":[\"-2\",\"cols\"]},"
    "{\"name\":\"s\",\"dtype\":\"i32\",\"shape\":[\"rows\",\"cols\"]"
    ",\"range\":[\"0\",\"cols - 1\"],\"order\":\"sorted\"},"
    "{\"name\":\"t\",\"dtype\":\"bool\",\"shape\":[\"rows\",\"cols\"]"
    "}],"
    "\"scalars\":[],\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[\"rows\"]}],"
    "\"reduction\":\"1\",\"values\":[\"normal\"],\"order_free\":false,"
    "\"shapes\":[{\"rows\":3,\"cols\":50}],\"benchmark\":{\"rows\":3,\"cols\":50}}";

typedef struct bench {
    contract *terms;
    plain_values *values;
    uint8_t *memory;
    size_t bytes;
} bench;

static void bench_fini(bench *self)
{
    munmap(self->memory, self->bytes);
    plain_values_destroy(&self->values);
    contract_destroy(&self->terms);
}

static bench open_bench(int64_t seed)
{
    err e = {0};
    bench b = {.terms = contract_parse(terms_text, strlen(terms_text), "test", &e)};
    if (b.terms == NULL)
        fail_msg("%s", e.text);
    const contract_shape shape = {{ROWS, COLS}};
    b.values = plain_values_create(b.terms, &shape, seed, &e);
    if (b.values == NULL)
        fail_msg("%s", e.text);
    const judge_staging *s = plain_values_staging(b.values);
    SCOPED(scoped_close) int fd = shm_open(s->shm, O_RDONLY, 0);
    assert_true(fd >= 0);
    b.bytes = (size_t)s->total_bytes;
    b.memory = mmap(NULL, b.bytes, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(b.memory != MAP_FAILED);
    return b;
}

static const void *input(const bench *b, const char *name)
{
    const judge_staging *s = plain_values_staging(b->values);
    return b->memory + s->inputs[contract_find_tensor(b->terms, name)].offset;
}

static float f32_of(uint32_t bits)
{
    float v = 0;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* A normal f16 or zero. */
static float of_half(uint16_t h)
{
    const uint32_t size = h & 0x7fffu;
    return f32_of(size == 0 ? 0 : (uint32_t)(h & 0x8000u) << 16 | ((size << 13) + (112u << 23)));
}

static void floats_are_eighths_in_every_dtype(void **state)
{
    (void)state;
    bench b SCOPED(bench_fini) = open_bench(5);
    const uint16_t *h = input(&b, "h"), *brain = input(&b, "b");
    const float *f = input(&b, "f");
    const double *d = input(&b, "d");
    float least = 9, most = -9;
    for (int i = 0; i < ROWS * COLS; i++) {
        const float all[] = {of_half(h[i]), f32_of((uint32_t)brain[i] << 16), f[i], (float)d[i]};
        for (int k = 0; k < 4; k++) {
            assert_true(all[k] >= -1 && all[k] <= 1 && all[k] * 8 == (float)(int)(all[k] * 8));
            least = all[k] < least ? all[k] : least;
            most = all[k] > most ? all[k] : most;
        }
    }
    assert_true(least == -1 && most == 1);
}

static void integers_keep_to_range_and_order(void **state)
{
    (void)state;
    bench b SCOPED(bench_fini) = open_bench(5);
    const int32_t *plain = input(&b, "i"), *sorted = input(&b, "s");
    const int64_t *ranged = input(&b, "r");
    const uint8_t *truth = input(&b, "t");
    int64_t least = 99, most = -99;
    for (int i = 0; i < ROWS * COLS; i++) {
        assert_in_range(plain[i], 0, 7);
        assert_in_range(truth[i], 0, 1);
        assert_true(ranged[i] >= -2 && ranged[i] <= COLS);
        assert_in_range(sorted[i], 0, COLS - 1);
        assert_true(i % COLS == 0 || sorted[i] >= sorted[i - 1]);
        least = ranged[i] < least ? ranged[i] : least;
        most = ranged[i] > most ? ranged[i] : most;
    }
    assert_true(least < 0 && most > 40);
    assert_int_equal(sorted[0], 0);
    assert_int_equal(sorted[COLS - 1], COLS - 1);
}

static void a_seed_is_a_set_of_values(void **state)
{
    (void)state;
    float first[ROWS * COLS];
    {
        bench b SCOPED(bench_fini) = open_bench(5);
        memcpy(first, input(&b, "f"), sizeof first);
    }
    {
        bench b SCOPED(bench_fini) = open_bench(5);
        assert_memory_equal(first, input(&b, "f"), sizeof first);
    }
    bench b SCOPED(bench_fini) = open_bench(6);
    assert_memory_not_equal(first, input(&b, "f"), sizeof first);
}

static void spans_are_aligned_and_memory_goes_with_its_owner(void **state)
{
    (void)state;
    char name[JUDGE_SHM_MAX + 1];
    {
        bench b SCOPED(bench_fini) = open_bench(5);
        const judge_staging *s = plain_values_staging(b.values);
        memcpy(name, s->shm, sizeof name);
        assert_int_equal(s->input_count, 8);
        assert_int_equal(s->output_count, 1);
        for (size_t i = 0; i < s->input_count; i++)
            assert_int_equal(s->inputs[i].offset % 256, 0);
        assert_int_equal(s->outputs[0].bytes, ROWS * 4);
    }
    assert_true(shm_open(name, O_RDONLY, 0) < 0);
}

static void too_much_is_told(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(contract_destroy)
    contract *terms = contract_parse(terms_text, strlen(terms_text), "test", &e);
    const contract_shape shape = {{1 << 20, 1 << 20}};
    assert_null(plain_values_create(terms, &shape, 1, &e));
    assert_int_equal(e.code, ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_eighths_in_every_dtype),
        cmocka_unit_test(integers_keep_to_range_and_order),
        cmocka_unit_test(a_seed_is_a_set_of_values),
        cmocka_unit_test(spans_are_aligned_and_memory_goes_with_its_owner),
        cmocka_unit_test(too_much_is_told),
    };
    return cmocka_run_group_tests_name("plain values", tests, NULL, NULL);
}
