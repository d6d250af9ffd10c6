/* test_scoped - release at the end of the scope
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/scoped.h"

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static char *keep_or_free(bool keep)
{
    SCOPED(scoped_free) char *text = malloc(8);
    return keep ? TAKE(text) : NULL;
}

static void taken_memory_outlives_the_scope(void **state)
{
    (void)state;
    char *kept = keep_or_free(true);
    assert_non_null(kept);
    kept[7] = 'x'; /* a sanitizer would see freed memory, and a leak in the line below */
    free(kept);
    assert_null(keep_or_free(false));
}

static void take_leaves_null_and_evaluates_once(void **state)
{
    (void)state;
    int value = 0;
    int *list[2] = {&value, &value};
    int i = 0;
    assert_ptr_equal(TAKE(list[i++]), &value);
    assert_int_equal(i, 1);
    assert_null(list[0]);
    assert_non_null(list[1]);
}

static void a_descriptor_is_closed_once_and_errno_kept(void **state)
{
    (void)state;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    int copy = fd;
    errno = ENOSPC;
    scoped_close(&copy);
    assert_int_equal(copy, -1);
    assert_int_equal(errno, ENOSPC);
    assert_false(is_open(fd));
    errno = ENOSPC;
    scoped_close(&copy);
    assert_int_equal(errno, ENOSPC);
}

static void a_stream_is_closed_and_nulled(void **state)
{
    (void)state;
    FILE *file = fopen("/dev/null", "re");
    assert_non_null(file);
    int fd = fileno(file);
    scoped_fclose(&file);
    assert_null(file);
    assert_false(is_open(fd));
    scoped_fclose(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_memory_outlives_the_scope),
        cmocka_unit_test(take_leaves_null_and_evaluates_once),
        cmocka_unit_test(a_descriptor_is_closed_once_and_errno_kept),
        cmocka_unit_test(a_stream_is_closed_and_nulled),
    };
    return cmocka_run_group_tests_name("scoped", tests, NULL, NULL);
}
