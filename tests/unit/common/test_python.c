/* test_python - which interpreter, and what it gets to see
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/python.h"
#include "common/scoped.h"

static bool passed_on(const char *entry)
{
    SCOPED(python_env_free) char **env = python_env();
    for (size_t i = 0; env[i] != NULL; i++)
        if (strcmp(env[i], entry) == 0)
            return true;
    return false;
}

static void no_key_reaches_the_judge(void **state)
{
    (void)state;
    static const char *const secrets[] = {
        "ANTHROPIC_API_KEY",    "OPENAI_API_KEY", "GEMINI_API_KEY", "CE_KEY", "PATHS",
        "CREDENTIALS_DIRECTORY"};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        char entry[128];
        assert_int_equal(setenv(secrets[i], "secret", 1), 0);
        snprintf(entry, sizeof entry, "%s=secret", secrets[i]);
        assert_false(passed_on(entry));
    }
}

static void what_python_and_cuda_need_is_passed_on(void **state)
{
    (void)state;
    static const char *const names[] = {"HOME",
                                        "CUDA_VISIBLE_DEVICES",
                                        "PYENV_VERSION",
                                        "LD_LIBRARY_PATH",
                                        "TRITON_PTXAS_PATH",
                                        "VIRTUAL_ENV"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char entry[128];
        assert_int_equal(setenv(names[i], "here", 1), 0);
        snprintf(entry, sizeof entry, "%s=here", names[i]);
        assert_true(passed_on(entry));
    }
}

static void a_program_that_cannot_import_torch_is_refused_with_its_reason(void **state)
{
    (void)state;
    err e = {0};
    assert_null(python_find("/bin/false", &e));
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "/bin/false cannot import torch"));
    assert_null(python_find("/nowhere/python3", &e));
    assert_non_null(strstr(e.text, "it is no program"));
}

static void the_search_tells_what_it_tried(void **state)
{
    (void)state;
    /* A folder whose python3 fails, and /usr/bin/python3: either it has torch, or both are named. */
    char folder[] = "/tmp/ce-test-python-XXXXXX", link[64];
    assert_non_null(mkdtemp(folder));
    snprintf(link, sizeof link, "%s/python3", folder);
    assert_int_equal(symlink("/bin/false", link), 0);
    assert_int_equal(setenv("PATH", folder, 1), 0);
    err e = {0};
    SCOPED(scoped_free) char *found = python_find(NULL, &e);
    if (found != NULL)
        assert_string_equal(found, "/usr/bin/python3");
    else
        assert_non_null(strstr(e.text, link));
    unlink(link);
    rmdir(folder);
}

static void the_environment_may_name_the_interpreter(void **state)
{
    (void)state;
    err e = {0};
    assert_int_equal(setenv("CE_PYTHON", "/nowhere/python3", 1), 0);
    assert_null(python_find(NULL, &e));
    assert_non_null(strstr(e.text, "/nowhere/python3"));
    unsetenv("CE_PYTHON");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_reaches_the_judge),
        cmocka_unit_test(a_program_that_cannot_import_torch_is_refused_with_its_reason),
        cmocka_unit_test(the_environment_may_name_the_interpreter),
        cmocka_unit_test(the_search_tells_what_it_tried),
        cmocka_unit_test(what_python_and_cuda_need_is_passed_on),
    };
    return cmocka_run_group_tests_name("python", tests, NULL, NULL);
}
