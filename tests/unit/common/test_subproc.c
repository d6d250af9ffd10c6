/* test_subproc - a child process with a deadline
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
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/subproc.h"

enum { LONG_MS = 20000 };

/* A shell script run to its end, with what it wrote. */
typedef struct result {
    buf out, errors;
    int status;
    int rc;
    err e;
} result;

static void fini(result *r)
{
    buf_fini(&r->out);
    buf_fini(&r->errors);
}

static result run(subproc_options options, const char *script, int64_t timeout_ms)
{
    result r = {.status = -1};
    buf_init(&r.out, 64 * 1024);
    buf_init(&r.errors, 64 * 1024);
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    if (options.argv == NULL)
        options.argv = argv;
    r.rc = subproc_run(&options, timeout_ms, &r.out, &r.errors, &r.status, &r.e);
    return r;
}

/* number_in is the number that a script printed. */
static pid_t number_in(const char *text)
{
    return (pid_t)strtol(text, NULL, 10);
}

static result run_plain(const char *script)
{
    return run((subproc_options){0}, script, LONG_MS);
}

/* gone waits until no process has this number any more, or it is a zombie of somebody else. */
static bool gone(pid_t pid)
{
    int64_t until = clock_mono_ms() + LONG_MS;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    while (clock_mono_ms() < until) {
        SCOPED(buf_fini) buf stat;
        buf_init(&stat, 4096);
        if (file_read(path, &stat, NULL) < 0 || strstr(buf_text(&stat), ") Z ") != NULL)
            return true;
        poll(NULL, 0, 5);
    }
    return false;
}

static void output_and_status_come_back(void **state)
{
    (void)state;
    SCOPED(fini) result r = run_plain("echo out; echo err >&2; exit 3");
    assert_int_equal(r.rc, 0);
    assert_string_equal(buf_text(&r.out), "out\n");
    assert_string_equal(buf_text(&r.errors), "err\n");
    assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 3);
}

static void a_program_that_cannot_run_is_reported_at_start(void **state)
{
    (void)state;
    static const struct {
        const char *program;
        err_code code;
        const char *part;
    } rows[] = {
        {"/nowhere/at/all", ERR_NOT_FOUND, "/nowhere/at/all: No such file"},
        {"no-such-program-anywhere", ERR_NOT_FOUND, "no such program on PATH"},
        {"/etc/passwd", ERR_DENIED, "/etc/passwd: Permission denied"},
        {"/tmp", ERR_DENIED, "/tmp: Permission denied"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const argv[] = {rows[i].program, NULL};
        const subproc_options options = {.argv = argv};
        err e = {0};
        assert_null(subproc_start(&options, &e));
        assert_int_equal(e.code, rows[i].code);
        assert_non_null(strstr(e.text, rows[i].part));
        int status = 77;
        SCOPED(buf_fini) buf out;
        buf_init(&out, 10);
        assert_int_equal(subproc_run(&options, LONG_MS, &out, NULL, &status, &e), -1);
        assert_int_equal(status, 77);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie stays behind */
    assert_int_equal(errno, ECHILD);
}

static void a_bad_folder_or_descriptor_is_reported_at_start(void **state)
{
    (void)state;
    const char *const argv[] = {"/bin/true", NULL};
    err e = {0};
    assert_null(subproc_start(&(subproc_options){.argv = argv, .cwd = "/nowhere"}, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, "enter folder /nowhere"));
    const subproc_fd closed = {1000, 5};
    assert_null(subproc_start(&(subproc_options){.argv = argv, .fds = &closed, .fd_count = 1}, &e));
    assert_non_null(strstr(e.text, "pass descriptors: Bad file descriptor"));
}

static void the_environment_is_only_what_was_given(void **state)
{
    (void)state;
    const char *const argv[] = {"/usr/bin/env", NULL};
    const char *const env[] = {"A=1", "B=two words", NULL};
    const char *const none[] = {NULL};
    setenv("CE_TEST_SECRET_KEY", "hush", 1);
    SCOPED(fini) result bare = run((subproc_options){.argv = argv}, NULL, LONG_MS);
    assert_string_equal(buf_text(&bare.out), "PATH=/usr/bin:/bin\n");
    SCOPED(fini) result given = run((subproc_options){.argv = argv, .env = env}, NULL, LONG_MS);
    assert_string_equal(buf_text(&given.out), "A=1\nB=two words\n");
    SCOPED(fini) result empty = run((subproc_options){.argv = argv, .env = none}, NULL, LONG_MS);
    assert_string_equal(buf_text(&empty.out), "");
    unsetenv("CE_TEST_SECRET_KEY");
}

static void only_chosen_descriptors_are_open(void **state)
{
    (void)state;
    SCOPED(scoped_close) int secret = open("/etc/hostname", O_RDONLY); /* no O_CLOEXEC on purpose */
    SCOPED(scoped_close) int high = fcntl(secret, F_DUPFD, 200);
    assert_true(secret >= 0 && high >= 200);
    SCOPED(fini) result r = run_plain("cd /proc/self/fd && echo *; readlink 0");
    /* 3 may be the shell's own folder */
    assert_true(str_starts(buf_text(&r.out), "0 1 2"));
    assert_null(strstr(buf_text(&r.out), "200"));
    assert_non_null(strstr(buf_text(&r.out), "/dev/null"));
    char number[16];
    snprintf(number, sizeof number, " %d", secret > 3 ? secret : 4);
    assert_null(strstr(buf_text(&r.out), number));
}

static void passed_descriptors_may_cross(void **state)
{
    (void)state;
    int a[2];
    int b[2];
    assert_int_equal(pipe2(a, O_CLOEXEC), 0);
    assert_int_equal(pipe2(b, O_CLOEXEC), 0);
    /* the child's numbers are the parent's, swapped */
    const subproc_fd fds[] = {{a[1], b[1]}, {b[1], a[1]}};
    char script[100];
    snprintf(script, sizeof script, "printf A >&%d; printf B >&%d", b[1], a[1]);
    SCOPED(fini) result r = run((subproc_options){.fds = fds, .fd_count = 2}, script, LONG_MS);
    assert_int_equal(r.rc, 0);
    assert_string_equal(buf_text(&r.errors), "");
    char from_a = 0;
    char from_b = 0;
    assert_int_equal(read(a[0], &from_a, 1), 1);
    assert_int_equal(read(b[0], &from_b, 1), 1);
    assert_int_equal(from_a, 'A');
    assert_int_equal(from_b, 'B');
    for (int i = 0; i < 2; i++) {
        close(a[i]);
        close(b[i]);
    }
}

static void a_deadline_kills_and_says_so(void **state)
{
    (void)state;
    int64_t start = clock_mono_ms();
    SCOPED(fini) result r = run((subproc_options){0}, "echo begun; exec sleep 1000", 100);
    assert_true(clock_mono_ms() - start < LONG_MS);
    assert_int_equal(r.rc, -1);
    assert_int_equal(r.e.code, ERR_TIMEOUT);
    assert_string_equal(r.e.text, "/bin/sh: deadline passed");
    assert_true(WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGKILL);
    assert_string_equal(buf_text(&r.out), "begun\n");
}

static void the_whole_group_dies_with_its_leader(void **state)
{
    (void)state;
    /* the grandchild holds stdout open: only its death or our pidfd ends the run */
    SCOPED(fini) result r = run_plain("sleep 1000 & echo $!");
    assert_int_equal(r.rc, 0);
    pid_t grandchild = number_in(buf_text(&r.out));
    assert_true(grandchild > 1);
    assert_true(gone(grandchild));
}

static void destroying_kills_the_whole_group(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const char *const argv[] = {"/bin/sh", "-c", "sleep 1000 & echo $!; exec sleep 1000", NULL};
    const subproc_fd fd = {ends[1], 1};
    err e = {0};
    subproc *p = subproc_start(&(subproc_options){.argv = argv, .fds = &fd, .fd_count = 1}, &e);
    assert_non_null(p);
    close(ends[1]);
    char text[32] = "";
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    pid_t child = subproc_pid(p);
    assert_int_equal(getpgid(child), child);
    subproc_destroy(&p);
    assert_null(p);
    assert_int_equal(kill(child, 0), -1);
    assert_true(gone(number_in(text)));
    subproc_destroy(&p);
    close(ends[0]);
}

static void waiting_times_out_then_finds_the_status_again_and_again(void **state)
{
    (void)state;
    const char *const argv[] = {"/bin/sleep", "1000", NULL};
    err e = {0};
    SCOPED(subproc_destroy) subproc *p = subproc_start(&(subproc_options){.argv = argv}, &e);
    assert_non_null(p);
    int status = 77;
    assert_int_equal(subproc_wait(p, 0, &status, &e), -1);
    assert_int_equal(e.code, ERR_TIMEOUT);
    assert_int_equal(subproc_wait(p, 20, &status, &e), -1);
    assert_int_equal(status, 77);
    struct pollfd exited = {.fd = subproc_fd_exit(p), .events = POLLIN};
    assert_int_equal(poll(&exited, 1, 0), 0);
    subproc_kill(p, SIGTERM);
    assert_int_equal(poll(&exited, 1, LONG_MS), 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(subproc_wait(p, -1, &status, &e), 0);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    }
    subproc_kill(p, SIGKILL); /* reaped: nothing may be hit */
}

static void blocked_and_ignored_signals_do_not_reach_the_child(void **state)
{
    (void)state;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    void (*old)(int) = signal(SIGTERM, SIG_IGN);
    SCOPED(fini) result r = run_plain("kill -TERM $$; echo survived");
    sigset_t after;
    pthread_sigmask(SIG_SETMASK, &before, &after);
    signal(SIGTERM, old);
    assert_int_equal(sigismember(&after, SIGUSR1), 1); /* our own mask is as it was */
    assert_true(WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGTERM);
    assert_string_equal(buf_text(&r.out), "");
}

static void limits_hold(void **state)
{
    (void)state;
    SCOPED(fini)
    result files = run((subproc_options){.file_bytes = 2000},
                       "ulimit -f; ulimit -c; exec dd if=/dev/zero "
                       "of=/tmp/ce-test-subproc-limit bs=8192 count=1",
                       LONG_MS);
    unlink("/tmp/ce-test-subproc-limit");
    assert_false(WIFEXITED(files.status) && WEXITSTATUS(files.status) == 0);
    SCOPED(fini)
    result memory = run((subproc_options){.memory_bytes = 512 * 1024 * 1024}, "ulimit -v", LONG_MS);
    assert_string_equal(buf_text(&memory.out), "524288\n");
    SCOPED(fini)
    result cpu = run((subproc_options){.cpu_seconds = 1}, "while :; do :; done", LONG_MS);
    assert_true(WIFSIGNALED(cpu.status));
    SCOPED(fini) result none = run_plain("ulimit -t");
    assert_string_equal(buf_text(&none.out), "unlimited\n");
}

static void too_much_output_is_cut_and_marked(void **state)
{
    (void)state;
    const char *const argv[] = {"/bin/sh", "-c",
                                "head -c 300000 /dev/zero | tr '\\0' x; echo end >&2", NULL};
    SCOPED(buf_fini) buf out;
    SCOPED(buf_fini) buf errors;
    buf_init(&out, 1000);
    buf_init(&errors, 1000);
    int status = -1;
    err e = {0};
    assert_int_equal(
        subproc_run(&(subproc_options){.argv = argv}, LONG_MS, &out, &errors, &status, &e), 0);
    assert_int_equal(status, 0); /* the child was not blocked by a full pipe */
    assert_int_equal(out.size, 1000);
    assert_true(out.overflow);
    assert_string_equal(buf_text(&errors), "end\n");
}

static void streams_may_share_a_buffer_or_be_left_out(void **state)
{
    (void)state;
    const char *const argv[] = {"/bin/sh", "-c", "echo a; echo b >&2", NULL};
    SCOPED(buf_fini) buf both;
    buf_init(&both, 100);
    int status = -1;
    err e = {0};
    assert_int_equal(
        subproc_run(&(subproc_options){.argv = argv}, LONG_MS, &both, &both, &status, &e), 0);
    assert_int_equal(both.size, 4);
    buf_clear(&both);
    assert_int_equal(
        subproc_run(&(subproc_options){.argv = argv}, LONG_MS, NULL, &both, &status, &e), 0);
    assert_string_equal(both.data, "b\n");
}

static void folder_and_path_search_work(void **state)
{
    (void)state;
    SCOPED(fini) result r = run((subproc_options){.cwd = "/usr"}, "pwd", LONG_MS);
    assert_string_equal(buf_text(&r.out), "/usr\n");
    const char *const argv[] = {"sh", "-c", "echo $0", NULL};
    SCOPED(fini) result searched = run((subproc_options){.argv = argv}, NULL, LONG_MS);
    assert_string_equal(buf_text(&searched.out), "sh\n");
}

/* A process of ours starts a child and is killed: the child must not stay. */
static pid_t orphan_of(bool keep)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t parent = fork();
    if (parent == 0) {
        const char *const argv[] = {"/bin/sleep", "1000", NULL};
        subproc *p =
            subproc_start(&(subproc_options){.argv = argv, .keep_after_parent = keep}, NULL);
        pid_t child = p == NULL ? -1 : subproc_pid(p);
        if (write(ends[1], &child, sizeof child) < 0)
            _exit(1);
        pause();
        _exit(0);
    }
    pid_t child = -1;
    assert_int_equal(read(ends[0], &child, sizeof child), sizeof child);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void a_child_dies_with_its_parent_unless_kept(void **state)
{
    (void)state;
    pid_t child = orphan_of(false);
    assert_true(child > 1);
    assert_true(gone(child));
    pid_t kept = orphan_of(true);
    assert_true(kept > 1);
    assert_int_equal(kill(kept, 0), 0);
    assert_int_equal(kill(kept, SIGKILL), 0);
}

static void *start_many(void *arg)
{
    (void)arg;
    const char *const argv[] = {"/bin/sh", "-c", "echo $0; exit 7", NULL};
    for (int i = 0; i < 20; i++) {
        SCOPED(buf_fini) buf out;
        buf_init(&out, 100);
        int status = 0;
        err e;
        if (subproc_run(&(subproc_options){.argv = argv}, LONG_MS, &out, NULL, &status, &e) < 0 ||
            WEXITSTATUS(status) != 7 || out.size != 8)
            return arg;
    }
    return NULL;
}

static void threads_may_start_children_at_the_same_time(void **state)
{
    (void)state;
    pthread_t threads[4];
    int mark = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start_many, &mark), 0);
    for (int i = 0; i < 4; i++) {
        void *failed = &mark;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

static void a_status_reads_as_words(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *text;
    } rows[] = {{3 << 8, "exited with 3"},
                {SIGSEGV, "was killed by SIGSEGV"},
                {SIGKILL | 0x80, "was killed by SIGKILL"},
                {0x137f, "ended with wait status 4991"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[64];
        subproc_status_text(rows[i].status, out, sizeof out);
        assert_string_equal(out, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_status_come_back),
        cmocka_unit_test(a_program_that_cannot_run_is_reported_at_start),
        cmocka_unit_test(a_bad_folder_or_descriptor_is_reported_at_start),
        cmocka_unit_test(the_environment_is_only_what_was_given),
        cmocka_unit_test(only_chosen_descriptors_are_open),
        cmocka_unit_test(passed_descriptors_may_cross),
        cmocka_unit_test(a_deadline_kills_and_says_so),
        cmocka_unit_test(the_whole_group_dies_with_its_leader),
        cmocka_unit_test(destroying_kills_the_whole_group),
        cmocka_unit_test(waiting_times_out_then_finds_the_status_again_and_again),
        cmocka_unit_test(blocked_and_ignored_signals_do_not_reach_the_child),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(too_much_output_is_cut_and_marked),
        cmocka_unit_test(streams_may_share_a_buffer_or_be_left_out),
        cmocka_unit_test(folder_and_path_search_work),
        cmocka_unit_test(a_child_dies_with_its_parent_unless_kept),
        cmocka_unit_test(threads_may_start_children_at_the_same_time),
        cmocka_unit_test(a_status_reads_as_words),
    };
    return cmocka_run_group_tests_name("subproc", tests, NULL, NULL);
}
