/* test_xalloc - allocators that abort when memory is gone
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/xalloc.h"

static void nothing_asked_is_memory_too(void **state)
{
    (void)state;
    void *blocks[] = {xmalloc(0), xcalloc(0, 8), xcalloc(8, 0), xreallocarray(NULL, 0, 8),
                      xmemdup("", 0)};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        assert_non_null(blocks[i]);
        free(blocks[i]);
    }
    assert_non_null(blocks[0] = xreallocarray(xmalloc(4), 0, 4));
    free(blocks[0]);
}

static void copies_are_copies(void **state)
{
    (void)state;
    char source[] = "abc\0def";
    char *all = xmemdup(source, sizeof source);
    char *text = xstrdup(source);
    char *part = xstrndup(source, 2);
    char *more = xstrndup(source, 99);
    char *made = xasprintf("%s-%d", source, 7);
    source[0] = 'X';
    assert_memory_equal(all, "abc\0def", sizeof source);
    assert_string_equal(text, "abc");
    assert_string_equal(part, "ab");
    assert_string_equal(more, "abc");
    assert_string_equal(made, "abc-7");
    free(all);
    free(text);
    free(part);
    free(more);
    free(made);
}

/* status_of_asking is the wait status of a child that asks for more than there is. */
static int status_of_asking(size_t count, size_t size)
{
    pid_t pid = fork();
    if (pid == 0) {
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
        free(xreallocarray(NULL, count, size));
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void asking_for_too_much_ends_the_process(void **state)
{
    (void)state;
    assert_int_not_equal(status_of_asking(SIZE_MAX / 2, 4), 0);
    assert_int_not_equal(status_of_asking(SIZE_MAX / 8, 4), 0);
    assert_int_equal(status_of_asking(4, 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_asked_is_memory_too),
        cmocka_unit_test(copies_are_copies),
        cmocka_unit_test(asking_for_too_much_ends_the_process),
    };
    return cmocka_run_group_tests_name("xalloc", tests, NULL, NULL);
}
