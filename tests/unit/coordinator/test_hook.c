/* test_hook - what a hook gets, and what its failures are called
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "coordinator/hook.h"

static int call(const char *script, err *e)
{
    static const char *const environment[] = {"PATH=/usr/bin:/bin",
                                              "OPENAI_API_KEY=planted",
                                              "CE_CREDENTIALS=/secret",
                                              "CE_EVENT=old",
                                              "KEPT=yes",
                                              NULL};
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    SCOPED(json_destroy) json *document = json_new_object();
    json_set_int(document, "night", 7);
    const hook_event event = {.name = "worse", .message = "a sentence", .document = document};
    return hook_call(argv, environment, &event, e);
}

static void it_gets_event_sentence_and_document_but_no_key(void **state)
{
    (void)state;
    err e = {0};
    assert_int_equal(call("test \"$CE_EVENT|$CE_MESSAGE|$KEPT\" = 'worse|a sentence|yes' && "
                          "test -z \"$OPENAI_API_KEY$CE_CREDENTIALS\" && "
                          "grep -qx '{\"night\":7}'",
                          &e),
                     0);
}

static void a_failure_is_told_with_the_commands_name(void **state)
{
    (void)state;
    err e = {0};
    assert_int_equal(call("exit 3", &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_string_equal(e.text, "the hook /bin/sh: it exited with 3");
    const char *const absent[] = {"/no/such/hook", NULL};
    SCOPED(json_destroy) json *document = json_new_object();
    const hook_event event = {.name = "good", .message = "", .document = document};
    assert_int_equal(hook_call(absent, NULL, &event, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, "/no/such/hook"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_gets_event_sentence_and_document_but_no_key),
        cmocka_unit_test(a_failure_is_told_with_the_commands_name),
    };
    return cmocka_run_group_tests_name("hook", tests, NULL, NULL);
}
