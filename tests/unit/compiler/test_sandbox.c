/* What a locked process can still do. Each case runs in a child that enters the sandbox first.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent-node/compiler/sandbox.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { BROKEN = 100 }; /* exit status: the sandbox could not be entered */

static char allowed[] = "/tmp/ce-allowed-XXXXXX";
static char outside[] = "/tmp/ce-outside-XXXXXX";
static char listener_port[8];

static void put(const char *folder, const char *name)
{
    err e;
    SCOPED(scoped_free) char *path = file_join(folder, name);
    assert_int_equal(file_write(path, "text\n", 5, &e), 0);
}

static int make_folders(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(allowed));
    assert_non_null(mkdtemp(outside));
    put(allowed, "file");
    put(outside, "file");
    SCOPED(scoped_free) char *inner = file_join(allowed, "way-out");
    SCOPED(scoped_free) char *target = file_join(outside, "file");
    return symlink(target, inner);
}

static int remove_folders(void **state)
{
    (void)state;
    file_remove_tree(allowed, NULL);
    file_remove_tree(outside, NULL);
    return 0;
}

typedef bool act_fn(void);

static bool can_open(const char *folder, const char *name, int flags)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s%s", folder, name[0] != '\0' ? "/" : "", name);
    SCOPED(scoped_close) int fd = open(path, flags | O_CLOEXEC, 0644);
    return fd >= 0;
}

static bool reads_what_is_listed(void)
{
    return can_open(allowed, "file", O_RDONLY);
}

static bool reads_another_file(void)
{
    return can_open(outside, "file", O_RDONLY) || can_open("/etc/passwd", "", O_RDONLY) ||
           can_open("/proc/self/environ", "", O_RDONLY);
}

static bool climbs_out(void)
{
    char path[256];
    snprintf(path, sizeof path, "../..%s/file", outside);
    return can_open(allowed, path, O_RDONLY) || can_open(allowed, "way-out", O_RDONLY);
}

static bool writes(void)
{
    return can_open(allowed, "file", O_WRONLY) || can_open(allowed, "new", O_WRONLY | O_CREAT) ||
           can_open("/tmp", "ce-new", O_WRONLY | O_CREAT) ||
           can_open("", "ce-new", O_WRONLY | O_CREAT) ||
           can_open("/dev/shm", "ce-new", O_WRONLY | O_CREAT);
}

static bool makes_or_removes(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/file", allowed);
    return mkdir("/tmp/ce-new", 0755) == 0 || unlink(path) == 0 || rename(path, "/tmp/ce-new") == 0;
}

static bool runs_a_program(void)
{
    char *argv[] = {(char *)(uintptr_t) "true", NULL};
    execv("/bin/true", argv);
    execv("/usr/bin/true", argv);
    return errno != EACCES && errno != ENOENT && errno != EPERM;
}

static bool connects(void)
{
    SCOPED(scoped_close) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtol(listener_port, NULL, 10)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
}

static bool dumps_core(void)
{
    struct rlimit r;
    return getrlimit(RLIMIT_CORE, &r) != 0 || r.rlim_max != 0;
}

static bool becomes_another_user(void)
{
    return setresuid(4711, 4711, 4711) == 0;
}

static bool takes_two_gibibytes(void)
{
    void *p = mmap(NULL, 2UL << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED;
}

static bool takes_a_mebibyte(void)
{
    void *p = mmap(NULL, 1UL << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED;
}

typedef struct act_row {
    const char *name;
    act_fn *act;
    bool possible;
} act_row;

static const act_row acts[] = {
    {"read what is listed", reads_what_is_listed, true},
    {"take a mebibyte", takes_a_mebibyte, true},
    {"read another file", reads_another_file, false},
    {"climb out", climbs_out, false},
    {"write", writes, false},
    {"make or remove", makes_or_removes, false},
    {"run a program", runs_a_program, false},
    {"connect", connects, false},
    {"dump core", dumps_core, false},
    {"become another user", becomes_another_user, false},
    {"take 2 GiB", takes_two_gibibytes, false},
};

static int in_child(sandbox_kind kind, act_fn *act)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const char *paths[] = {allowed, "/nowhere/at/all"};
        sandbox_options options = {paths, 2, 1LL << 30};
        err e = {.text = ""};
        if (sandbox_enter(kind, &options, &e) != 0) {
            fprintf(stderr, "%s: %s\n", sandbox_name(kind), e.text);
            _exit(BROKEN);
        }
        _exit(act() ? 1 : 0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int listen_here(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    assert_int_equal(bind(fd, (struct sockaddr *)&here, sizeof here), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&here, &size), 0);
    snprintf(listener_port, sizeof listener_port, "%u", (unsigned)ntohs(here.sin_port));
    return fd;
}

static void check_kind(sandbox_kind kind)
{
    SCOPED(scoped_close) int listener = listen_here();
    assert_true(listener >= 0);
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        int got = in_child(kind, acts[i].act);
        if (got == BROKEN) {
            printf("%s cannot be entered on this host\n", sandbox_name(kind));
            skip();
        }
        if (got != acts[i].possible)
            fail_msg("%s: %s is %s", sandbox_name(kind), acts[i].name,
                     got ? "possible" : "impossible");
    }
}

static void landlock_leaves_the_listed_paths_only(void **state)
{
    (void)state;
    check_kind(SANDBOX_LANDLOCK);
}

static void a_namespace_leaves_the_listed_paths_only(void **state)
{
    (void)state;
    check_kind(SANDBOX_NAMESPACE);
}

static void the_acts_are_possible_without_a_sandbox(void **state)
{
    (void)state;
    SCOPED(scoped_close) int listener = listen_here();
    assert_true(listener >= 0);
    act_fn *const open_acts[] = {reads_another_file, climbs_out, connects};
    for (size_t i = 0; i < sizeof open_acts / sizeof open_acts[0]; i++)
        assert_int_equal(in_child(SANDBOX_NONE, open_acts[i]), 1);
}

static void the_best_kind_can_be_entered(void **state)
{
    (void)state;
    sandbox_kind best = sandbox_best();
    if (best == SANDBOX_NONE)
        skip();
    assert_int_equal(in_child(best, reads_what_is_listed), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(landlock_leaves_the_listed_paths_only),
        cmocka_unit_test(a_namespace_leaves_the_listed_paths_only),
        cmocka_unit_test(the_acts_are_possible_without_a_sandbox),
        cmocka_unit_test(the_best_kind_can_be_entered),
    };
    return cmocka_run_group_tests_name("sandbox", tests, make_folders, remove_folders);
}
