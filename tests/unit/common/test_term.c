/* test_term - a terminal that nobody sees: the other side of a pty
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
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/term.h"

/* A pty; tests read what the program wrote at `far`. */
typedef struct line {
    int near, far;
} line;

static void line_fini(line *self)
{
    scoped_close(&self->near);
    scoped_close(&self->far);
}

static line line_open(void)
{
    line self = {.far = posix_openpt(O_RDWR | O_NOCTTY)};
    assert_true(self.far >= 0 && grantpt(self.far) == 0 && unlockpt(self.far) == 0);
    self.near = open(ptsname(self.far), O_RDWR | O_NOCTTY);
    assert_true(self.near >= 0);
    return self;
}

static const char *read_far(const line *self, char *text, size_t size)
{
    ssize_t n = read(self->far, text, size - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void a_terminal_says_what_it_can(void **state)
{
    (void)state;
    SCOPED(line_fini) line pty = line_open();
    static const struct {
        bool terminal;
        term_env env;
        bool redraws, colour;
    } rows[] = {
        {true, {"xterm", NULL}, true, true},    {true, {"xterm", ""}, true, true},
        {true, {"xterm", "1"}, true, false},    {true, {"dumb", NULL}, false, false},
        {true, {NULL, NULL}, false, false},     {true, {"", NULL}, false, false},
        {false, {"xterm", NULL}, false, false},
    };
    SCOPED(scoped_close) int file = open("/dev/null", O_RDWR);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        term_kind kind = term_of(rows[i].terminal ? pty.near : file, &rows[i].env);
        assert_int_equal(kind.redraws, rows[i].redraws);
        assert_int_equal(kind.colour, rows[i].colour);
    }
}

static void the_environment_names_the_encoding(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool utf8;
    } rows[] = {{"C", false}, {"C.UTF-8", true}, {"xx_NOWHERE.UTF-8", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        setenv("LC_ALL", rows[i].name, 1);
        assert_int_equal(term_of(0, &(term_env){0}).utf8, rows[i].utf8);
    }
}

static void the_size_is_what_the_terminal_says(void **state)
{
    (void)state;
    SCOPED(line_fini) line pty = line_open();
    term_size size = term_size_of(pty.near);
    assert_true(size.width == 80 && size.height == 24);
    const struct winsize wanted = {.ws_col = 40, .ws_row = 12};
    assert_int_equal(ioctl(pty.far, TIOCSWINSZ, &wanted), 0);
    size = term_size_of(pty.near);
    assert_true(size.width == 40 && size.height == 12);
}

static void only_lines_that_changed_are_written(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after, *written;
    } rows[] = {
        {NULL, "a\nb\n", "\033[2J\033[1;1H\033[2Ka\033[2;1H\033[2Kb"},
        {"a\nb\n", "a\nb\n", ""},
        {"a\nb\nc\n", "a\nB\nc\n", "\033[2;1H\033[2KB"},
        {"a\nb\n", "a\n", "\033[2;1H\033[2K"},
        {"a\n", "a\nb\n", "\033[2;1H\033[2Kb"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(buf_fini) buf out;
        buf_init(&out, 200);
        term_difference(&out, rows[i].before, rows[i].after);
        assert_string_equal(buf_text(&out), rows[i].written);
    }
}

static void a_terminal_is_left_as_it_was_found(void **state)
{
    (void)state;
    char text[256];
    struct termios before, meanwhile, after;
    SCOPED(line_fini) line pty = line_open();
    tcgetattr(pty.near, &before);
    err e = {0};
    SCOPED(term_close) term *self = term_open(pty.near, pty.near, &e);
    assert_non_null(self);
    assert_string_equal(read_far(&pty, text, sizeof text), "\033[?1049h\033[?25l\033[?7l");
    tcgetattr(pty.near, &meanwhile);
    assert_int_equal(meanwhile.c_lflag & (ICANON | ECHO), 0);
    assert_int_equal(meanwhile.c_lflag & ISIG, before.c_lflag & ISIG);
    assert_int_equal(term_draw(self, "one\n", &e), 0);
    assert_non_null(strstr(read_far(&pty, text, sizeof text), "one"));
    term_leave(self);
    assert_string_equal(read_far(&pty, text, sizeof text), "\033[?7h\033[?25h\033[?1049l");
    assert_int_equal(term_enter(self, &e), 0);
    read_far(&pty, text, sizeof text);
    assert_int_equal(term_draw(self, "one\n", &e), 0); /* all of it: the screen was another's */
    assert_non_null(strstr(read_far(&pty, text, sizeof text), "one"));
    term_close(&self);
    assert_non_null(strstr(read_far(&pty, text, sizeof text), "\033[?1049l"));
    tcgetattr(pty.near, &after);
    assert_int_equal(before.c_lflag, after.c_lflag);
    assert_memory_equal(before.c_cc, after.c_cc, sizeof before.c_cc);
}

static void a_new_size_draws_everything_again(void **state)
{
    (void)state;
    char text[256];
    SCOPED(line_fini) line pty = line_open();
    err e = {0};
    SCOPED(term_close) term *self = term_open(pty.near, pty.near, &e);
    assert_non_null(self);
    assert_int_equal(term_draw(self, "one\n", &e), 0);
    read_far(&pty, text, sizeof text);
    term_redraw(self);
    assert_int_equal(term_draw(self, "one\n", &e), 0);
    assert_string_equal(read_far(&pty, text, sizeof text), "\033[2J\033[1;1H\033[2Kone");
}

static void a_screen_that_is_gone_is_an_error(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(scoped_close) int none = open("/dev/null", O_RDONLY);
    assert_null(term_open(none, none, &e));
    assert_non_null(strstr(e.text, "write to the terminal"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_says_what_it_can),
        cmocka_unit_test(the_environment_names_the_encoding),
        cmocka_unit_test(the_size_is_what_the_terminal_says),
        cmocka_unit_test(only_lines_that_changed_are_written),
        cmocka_unit_test(a_terminal_is_left_as_it_was_found),
        cmocka_unit_test(a_new_size_draws_everything_again),
        cmocka_unit_test(a_screen_that_is_gone_is_an_error),
    };
    return cmocka_run_group_tests_name("common/term", tests, NULL, NULL);
}
