/* test_host - facts of the machine
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "agent-node/host.h"
#include "common/scoped.h"

static void facts_are_found_by_their_whole_name(void **state)
{
    (void)state;
    static const char text[] =
        "processor\t: 0\nmodel\t\t: 143\nmodel name\t: Some CPU @ 2.1: fast\n"
        "model name\t: Another\nempty :\nlong : 0123456789012345678901234567890123456789"
        "01234567890123456789012345678901234567890123456789012345678901234567890123456789"
        "0123456789\n";
    char got[HOST_FACT_MAX];
    assert_true(host_fact(text, "model name", got));
    assert_string_equal(got, "Some CPU @ 2.1: fast");
    assert_true(host_fact(text, "model", got));
    assert_string_equal(got, "143");
    assert_true(host_fact(text, "empty", got));
    assert_string_equal(got, "");
    assert_true(host_fact(text, "long", got));
    assert_int_equal(strlen(got), HOST_FACT_MAX - 1);
    assert_false(host_fact(text, "name", got));
    assert_false(host_fact("", "model", got));
    assert_false(host_fact("no colon", "no", got));
}

static void this_machine_has_cores_and_no_name(void **state)
{
    (void)state;
    char name[256] = "";
    SCOPED(json_destroy) json *facts = host_json("9");
    SCOPED(scoped_free) char *text = json_dump(facts);
    assert_string_equal(json_str(json_get(facts, "ce"), ""), "9");
    assert_true(json_int(json_get(facts, "cores"), 0) >= 1);
    assert_true(json_int(json_get(facts, "memory_bytes"), 0) > 1024 * 1024);
    assert_non_null(json_str(json_get(facts, "kernel"), NULL));
    if (gethostname(name, sizeof name - 1) == 0 && strlen(name) > 6)
        assert_null(strstr(text, name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_found_by_their_whole_name),
        cmocka_unit_test(this_machine_has_cores_and_no_name),
    };
    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
