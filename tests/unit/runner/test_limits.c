/* test_limits - what a runner process may not do
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent-node/runner/limits.h"

/* in_child runs fn in a process of its own and gives its exit code. */
static int in_child(int (*fn)(int keep), int keep)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(fn(keep));
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static int look_at_descriptors(int keep)
{
    for (int fd = 3; fd < 20; fd++)
        dup2(STDERR_FILENO, fd);
    if (limits_apply(keep, NULL) < 0)
        return 1;
    for (int fd = 0; fd < 20; fd++)
        if (is_open(fd) != (fd <= 2 || fd == keep))
            return 10 + fd;
    return 0;
}

static void only_the_named_descriptor_survives(void **state)
{
    (void)state;
    assert_int_equal(in_child(look_at_descriptors, 3), 0);
    assert_int_equal(in_child(look_at_descriptors, 9), 0);
    assert_int_equal(in_child(look_at_descriptors, 19), 0);
}

static int look_at_the_rest(int keep)
{
    struct rlimit core;
    int sig = 0;
    if (limits_apply(keep, NULL) < 0)
        return 1;
    if (getrlimit(RLIMIT_CORE, &core) < 0 || core.rlim_cur != 0 || core.rlim_max != 0)
        return 2;
    if (prctl(PR_GET_PDEATHSIG, &sig) < 0 || sig != SIGKILL)
        return 3;
    return 0;
}

static void there_are_no_cores_and_no_orphans(void **state)
{
    (void)state;
    assert_int_equal(in_child(look_at_the_rest, 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_named_descriptor_survives),
        cmocka_unit_test(there_are_no_cores_and_no_orphans),
    };
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
