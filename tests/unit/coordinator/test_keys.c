/* test_keys - what this environment must not give away
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/keys.h"

static void names_and_folders_tell_keys(void **state)
{
    (void)state;
    char place[] = "/tmp/ce-keys-XXXXXX";
    assert_non_null(mkdtemp(place));
    SCOPED(scoped_free) char *file = file_join(place, "OPENAI_API_KEY");
    assert_int_equal(file_write(file, "from-a-file\n", 12, NULL), 0);
    SCOPED(scoped_free) char *folder = xasprintf("CE_CREDENTIALS=%s", place);
    const char *const environment[] = {"PATH=/bin",        "LAB_API_KEY=from-a-variable",
                                       "GH_TOKEN=a-token", "EMPTY_KEY=",
                                       "KEYBOARD=querty",  folder,
                                       "no equals sign",   NULL};
    SCOPED(keys_destroy) keys *k = keys_create(environment);
    const char *const *values = keys_values(k);
    assert_string_equal(values[0], "from-a-variable");
    assert_string_equal(values[1], "a-token");
    assert_string_equal(values[2], "from-a-file");
    assert_null(values[3]);
    assert_int_equal(file_remove_tree(place, NULL), 0);
}

static void without_an_environment_there_are_none(void **state)
{
    (void)state;
    SCOPED(keys_destroy) keys *k = keys_create(NULL);
    assert_null(keys_values(k)[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_folders_tell_keys),
        cmocka_unit_test(without_an_environment_there_are_none),
    };
    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
