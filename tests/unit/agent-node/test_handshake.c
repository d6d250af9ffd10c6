/* test_handshake - which news end a node, and what it then says
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/handshake.h"

static const curve_file key = {.name = "a100-1"};

static void a_refusal_says_what_to_do(void **state)
{
    static const struct {
        const curve_file *key;
        sock_news news;
        const char *says;
    } cases[] = {
        {&key, SOCK_REFUSED, "does not allow key a100-1"},
        {&key, SOCK_REFUSED, "ce-coord keys new"},
        {&key, SOCK_PLAIN, "takes no keys"},
        {NULL, SOCK_PLAIN, "wants a key"},
        {NULL, SOCK_REFUSED, "tcp://far:7000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        handshake h = {.coordinator = "tcp://far:7000", .key = cases[i].key};
        err e = {0};
        assert_int_equal(handshake_judge(&h, cases[i].news, &e), -1);
        assert_int_equal(e.code, ERR_DENIED);
        assert_non_null(strstr(e.text, cases[i].says));
    }
}

static void a_broken_handshake_is_tried_again(void **state)
{
    (void)state;
    handshake h = {.coordinator = "tcp://far:7000", .key = &key};
    for (int i = 1; i <= 7; i++) {
        assert_int_equal(handshake_judge(&h, SOCK_ODD, NULL), 0);
        assert_int_equal(h.odd, i);
    }
    assert_int_equal(handshake_judge(&h, SOCK_UP, NULL), 0);
    assert_int_equal(h.odd, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_says_what_to_do),
        cmocka_unit_test(a_broken_handshake_is_tried_again),
    };
    return cmocka_run_group_tests_name("handshake", tests, NULL, NULL);
}
