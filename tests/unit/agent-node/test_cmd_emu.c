/* Which shape `ce-node emu` takes.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/cmd_emu.h"
#include "common/scoped.h"

static const char terms_text[] =
    "{\"problem\":\"p\",\"dims\":[{\"name\":\"rows\",\"min\":1,\"max\":1000},"
    "{\"name\":\"cols\",\"min\":2,\"max\":100000}],"
    "\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[\"rows\",\"cols\"]}],\"scalars\":[],"
    "\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[\"rows\"]}],\"reduction\":\"cols\","
    "\"values\":[\"normal\"],\"order_free\":false,"
    "\"shapes\":[{\"rows\":1,\"cols\":7},{\"rows\":33,\"cols\":100},{\"rows\":1000,\"cols\":66},"
    "{\"rows\":2,\"cols\":1000}],\"benchmark\":{\"rows\":1000,\"cols\":4096}}";

static contract *terms(void)
{
    err e = {0};
    contract *c = contract_parse(terms_text, strlen(terms_text), "test", &e);
    if (c == NULL)
        fail_msg("%s", e.text);
    return c;
}

static void the_largest_shape_that_is_checked_unless_told(void **state)
{
    (void)state;
    static const struct {
        const char *words[2];
        size_t count;
        int64_t rows, cols;
    } cases[] = {
        {{NULL}, 0, 33, 100}, /* 1000 x 66 has more than 64 Ki elements */
        {{"rows=5"}, 1, 5, 100}, {{"cols=9", "rows=1"}, 2, 1, 9}, {{"rows=5", "rows=6"}, 2, 6, 100},
        {{"rows=0"}, 1, 0, 100}, {{"cols=100000"}, 1, 33, 100000}};
    SCOPED(contract_destroy) contract *c = terms();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err e = {0};
        contract_shape shape;
        if (cmd_emu_shape(c, cases[i].words, cases[i].count, &shape, &e) < 0)
            fail_msg("%s", e.text);
        assert_int_equal(shape.dims[0], cases[i].rows);
        assert_int_equal(shape.dims[1], cases[i].cols);
    }
}

static void what_the_contract_does_not_allow_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *word, *says;
    } cases[] = {{"row=5", "rows, cols"},     {"rows", "rows, cols"},   {"rows=", "rows, cols"},
                 {"rows=five", "rows, cols"}, {"=5", "rows, cols"},     {"rows=-1", "1 to 1000"},
                 {"rows=1001", "1 to 1000"},  {"cols=1", "2 to 100000"}};
    SCOPED(contract_destroy) contract *c = terms();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err e = {0};
        contract_shape shape;
        assert_int_equal(cmd_emu_shape(c, &cases[i].word, 1, &shape, &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
        if (strstr(e.text, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].word, e.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_shape_that_is_checked_unless_told),
        cmocka_unit_test(what_the_contract_does_not_allow_is_refused),
    };
    return cmocka_run_group_tests_name("ce-node emu", tests, NULL, NULL);
}
