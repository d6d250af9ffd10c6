/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "providers/secret.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/ce-secret-XXXXXX");
    unsetenv("CE_TEST_KEY");
    unsetenv("CE_CREDENTIALS");
    unsetenv("CREDENTIALS_DIRECTORY");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return file_remove_tree(folder, NULL);
}

static void write_key(const char *text)
{
    SCOPED(scoped_free) char *path = file_join(folder, "CE_TEST_KEY");
    assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
}

static void the_environment_comes_before_the_folder(void **state)
{
    (void)state;
    secret s SCOPED(secret_fini) = {0};
    err e = {0};
    assert_int_equal(secret_read("CE_TEST_KEY", &s, &e), 0);
    assert_string_equal(s.value, "");
    write_key("from-file\n");
    setenv("CREDENTIALS_DIRECTORY", folder, 1);
    assert_int_equal(secret_read("CE_TEST_KEY", &s, &e), 0);
    assert_string_equal(s.value, "from-file");
    setenv("CE_CREDENTIALS", "/nonexistent", 1);
    assert_int_equal(secret_read("CE_TEST_KEY", &s, &e), 0);
    assert_string_equal(s.value, "");
    setenv("CE_CREDENTIALS", folder, 1);
    setenv("CE_TEST_KEY", "from-environment\r\n", 1);
    assert_int_equal(secret_read("CE_TEST_KEY", &s, &e), 0);
    assert_string_equal(s.value, "from-environment");
}

static void a_value_that_would_break_a_header_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"a\r\nX-Evil: 1", "two words", "t\tab", "caf\xC3\xA9"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        secret s SCOPED(secret_fini) = {0};
        err e = {0};
        setenv("CE_TEST_KEY", bad[i], 1);
        assert_int_equal(secret_read("CE_TEST_KEY", &s, &e), -1);
        assert_int_equal(e.code, ERR_CONFIG);
        assert_non_null(strstr(e.text, "CE_TEST_KEY"));
        assert_null(strstr(e.text, bad[i]));
    }
    char longer[SECRET_MAX + 8];
    secret s SCOPED(secret_fini) = {0};
    memset(longer, 'k', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    setenv("CE_TEST_KEY", longer, 1);
    assert_int_equal(secret_read("CE_TEST_KEY", &s, NULL), -1);
}

static void a_key_is_hidden_wherever_it_stands(void **state)
{
    (void)state;
    static const struct {
        const char *key, *text, *hidden;
    } cases[] = {{"sk-123456", "bad key sk-123456!", "bad key [key]!"},
                 {"sk-123456", "sk-123456sk-123456", "[key][key]"},
                 {"abc", "xabcx", "x[kex"},
                 {"", "nothing to hide", "nothing to hide"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        secret s = {0};
        char text[64];
        snprintf(s.value, sizeof(s.value), "%s", cases[i].key);
        snprintf(text, sizeof(text), "%s", cases[i].text);
        secret_hide(&s, text);
        assert_string_equal(text, cases[i].hidden);
    }
}

static void a_finished_secret_is_wiped(void **state)
{
    (void)state;
    static const secret nothing;
    secret s = {.value = "sk-123456"};
    secret_fini(&s);
    assert_memory_equal(&s, &nothing, sizeof(s));
}

int main(void)
{
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {WITH_FOLDER(the_environment_comes_before_the_folder),
                                       WITH_FOLDER(a_value_that_would_break_a_header_is_refused),
                                       cmocka_unit_test(a_key_is_hidden_wherever_it_stands),
                                       cmocka_unit_test(a_finished_secret_is_wiped)};
    return cmocka_run_group_tests_name("secret", tests, NULL, NULL);
}
