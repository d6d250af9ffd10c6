/* test_dtype - element types
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "suites/dtype.h"

static void every_name_reads_back_with_its_size(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        dtype type;
        size_t size;
    } rows[] = {{"f16", DTYPE_F16, 2}, {"bf16", DTYPE_BF16, 2}, {"f32", DTYPE_F32, 4},
                {"f64", DTYPE_F64, 8}, {"i8", DTYPE_I8, 1},     {"u8", DTYPE_U8, 1},
                {"i32", DTYPE_I32, 4}, {"i64", DTYPE_I64, 8},   {"bool", DTYPE_BOOL, 1}};
    assert_int_equal(sizeof rows / sizeof rows[0], DTYPE_COUNT);
    for (size_t i = 0; i < DTYPE_COUNT; i++) {
        dtype type = DTYPE_COUNT;
        assert_true(dtype_parse(rows[i].name, &type));
        assert_int_equal(type, rows[i].type);
        assert_string_equal(dtype_name(type), rows[i].name);
        assert_string_equal(dtype_names()[type], rows[i].name);
        assert_int_equal(dtype_size(type), rows[i].size);
    }
    assert_null(dtype_names()[DTYPE_COUNT]);
}

static void other_names_are_refused_and_leave_the_output_alone(void **state)
{
    (void)state;
    static const char *const names[] = {"", "f", "F32", "float", "f32 ", "i16", "u32"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        dtype type = DTYPE_I8;
        assert_false(dtype_parse(names[i], &type));
        assert_int_equal(type, DTYPE_I8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_reads_back_with_its_size),
        cmocka_unit_test(other_names_are_refused_and_leave_the_output_alone),
    };
    return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}
