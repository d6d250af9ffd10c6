/* test_watch - a run watched on a pty and into a pipe; tests/service/terminal.py has the long story
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "coordinator/watch.h"
#include "tests/unit/store/fixture.h"

enum { TEXT_MAX = 16384 };

typedef struct line {
    int near, far;
} line;

static void line_fini(line *self)
{
    scoped_close(&self->near);
    scoped_close(&self->far);
}

static line pty_open(void)
{
    line self = {.far = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)};
    assert_true(self.far >= 0 && grantpt(self.far) == 0 && unlockpt(self.far) == 0);
    self.near = open(ptsname(self.far), O_RDWR | O_NOCTTY);
    assert_true(self.near >= 0);
    return self;
}

static line pipe_open(void)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    return (line){.near = ends[1], .far = ends[0]};
}

static const char *read_all(const line *self, char text[TEXT_MAX])
{
    size_t size = 0;
    for (ssize_t n; (n = read(self->far, text + size, TEXT_MAX - 1 - size)) > 0;)
        size += (size_t)n;
    text[size] = '\0';
    return text;
}

static watch_request request_of(const fixture *f, const line *on, const char *run)
{
    return (watch_request){.db = f->db,
                           .run = run,
                           .every_ms = 60000,
                           .env = {"xterm", NULL},
                           .in = on->near,
                           .out = on->near};
}

static void q_ends_it_and_the_terminal_is_as_before(void **state)
{
    (void)state;
    char text[TEXT_MAX];
    struct termios before, after;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    SCOPED(line_fini) line pty = pty_open();
    tcgetattr(pty.near, &before);
    const watch_request request = request_of(f, &pty, NULL);
    assert_int_equal(write(pty.far, "xq", 2), 2);
    err e = {0};
    assert_int_equal(watch_run(&request, &e), CMD_EXIT_COMPLETE);
    tcgetattr(pty.near, &after);
    assert_int_equal(before.c_lflag, after.c_lflag);
    read_all(&pty, text);
    assert_non_null(strstr(text, "run run1 running, internal 0.1 on cuda"));
    assert_non_null(strstr(text, "\033[?7h\033[?25h\033[?1049l"));
}

static void a_signal_ends_it_as_interrupted(void **state)
{
    (void)state;
    char text[TEXT_MAX];
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    SCOPED(line_fini) line pty = pty_open();
    const watch_request request = request_of(f, &pty, "run1");
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    raise(SIGTERM); /* to this thread: is there when the watch begins */
    err e = {0};
    assert_int_equal(watch_run(&request, &e), CMD_EXIT_INTERRUPTED);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    read_all(&pty, text);
    assert_int_equal(strstr(text, "\033[?1049h") != NULL, strstr(text, "\033[?1049l") != NULL);
}

static void a_run_that_is_over_leaves_one_line(void **state)
{
    (void)state;
    char text[TEXT_MAX];
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    fixture_exec(f, "UPDATE run SET state = 'incomplete', finished_ms = 9000");
    SCOPED(line_fini) line out = pipe_open();
    const watch_request request = request_of(f, &out, "run1");
    err e = {0};
    assert_int_equal(watch_run(&request, &e), CMD_EXIT_COMPLETE);
    assert_string_equal(read_all(&out, text),
                        "run1 incomplete: 0/2 done, 0 correct, 0 running, 2 waiting, "
                        "0 nodes up, $0.0000, 0 calls\n");
}

static void a_run_that_is_not_there_touches_no_terminal(void **state)
{
    (void)state;
    char text[TEXT_MAX];
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(line_fini) line pty = pty_open();
    const watch_request request = request_of(f, &pty, "nothing");
    err e = {0};
    assert_int_equal(watch_run(&request, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_string_equal(read_all(&pty, text), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(q_ends_it_and_the_terminal_is_as_before),
        cmocka_unit_test(a_signal_ends_it_as_interrupted),
        cmocka_unit_test(a_run_that_is_over_leaves_one_line),
        cmocka_unit_test(a_run_that_is_not_there_touches_no_terminal),
    };
    return cmocka_run_group_tests_name("coordinator/watch", tests, NULL, NULL);
}
