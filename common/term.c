/* term - asking, entering, drawing, leaving
 *
 * SPDX-License-Identifier: MIT */
#include "common/term.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

enum { FRAME_MAX = 1024 * 1024, WIDTH = 80, HEIGHT = 24 };

/* Alternate screen, cursor off, no wrapping at the right edge; and back. */
static const char enter_text[] = "\033[?1049h\033[?25l\033[?7l";
static const char leave_text[] = "\033[?7h\033[?25h\033[?1049l";

struct term {
    int in, out;
    bool keys; /* `in` is a terminal */
    bool entered;
    struct termios found; /* of `in`, as it was */
    char *shown;          /* what stands on the screen; NULL: unknown */
};

/* ---- asking ---- */

static bool is_utf8(void)
{
    locale_t wanted = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!wanted)
        return false; /* the environment names a locale that is not installed */
    bool result = strcmp(nl_langinfo_l(CODESET, wanted), "UTF-8") == 0;
    freelocale(wanted);
    return result;
}

term_kind term_of(int fd, const term_env *env)
{
    bool able = env->term && *env->term && strcmp(env->term, "dumb") != 0;
    bool redraws = able && isatty(fd) == 1;
    return (term_kind){.redraws = redraws,
                       .colour = redraws && !(env->no_color && *env->no_color),
                       .utf8 = is_utf8()};
}

term_size term_size_of(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
        return (term_size){WIDTH, HEIGHT};
    return (term_size){size.ws_col, size.ws_row};
}

/* ---- the screen ---- */

static int put(const term *self, const char *data, size_t size, err *e)
{
    while (size > 0) {
        ssize_t n = write(self->out, data, size);
        struct pollfd room = {.fd = self->out, .events = POLLOUT};
        if (n < 0 && errno == EAGAIN)
            poll(&room, 1, -1);
        else if (n < 0 && errno != EINTR)
            return err_errno(e, errno, "write to the terminal");
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        }
    }
    return 0;
}

static void forget(term *self)
{
    free(self->shown);
    self->shown = NULL;
}

int term_enter(term *self, err *e)
{
    if (self->entered)
        return 0;
    if (self->keys) {
        struct termios raw = self->found;
        raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO); /* signals from the keyboard stay */
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        if (tcsetattr(self->in, TCSANOW, &raw) < 0)
            return err_errno(e, errno, "set the terminal's modes");
    }
    self->entered = true;
    forget(self);
    return put(self, enter_text, sizeof enter_text - 1, e);
}

void term_leave(term *self)
{
    if (!self->entered)
        return;
    put(self, leave_text, sizeof leave_text - 1, NULL);
    if (self->keys)
        tcsetattr(self->in, TCSANOW, &self->found);
    self->entered = false;
}

term *term_open(int in, int out, err *e)
{
    SCOPED(term_close) term *self = xcalloc(1, sizeof *self);
    self->in = in;
    self->out = out;
    self->keys = isatty(in) == 1;
    if (self->keys && tcgetattr(in, &self->found) < 0) {
        err_errno(e, errno, "read the terminal's modes");
        return NULL;
    }
    return term_enter(self, e) < 0 ? NULL : TAKE(self);
}

void term_close(term **self)
{
    if (!*self)
        return;
    term_leave(*self);
    free((*self)->shown);
    free(*self);
    *self = NULL;
}

void term_redraw(term *self)
{
    forget(self);
}

void term_difference(buf *out, const char *before, const char *after)
{
    str old = str_of(before), new = str_of(after);
    str was, is;
    if (!before)
        buf_puts(out, "\033[2J");
    for (size_t row = 1;; row++) {
        bool had = str_line(&old, &was), has = str_line(&new, &is);
        if (!had && !has)
            return;
        if (had && has && was.size == is.size && memcmp(was.data, is.data, is.size) == 0)
            continue;
        buf_printf(out, "\033[%zu;1H\033[2K", row);
        if (has)
            buf_add(out, is.data, is.size);
    }
}

int term_draw(term *self, const char *lines, err *e)
{
    SCOPED(buf_fini) buf out;
    buf_init(&out, FRAME_MAX);
    term_difference(&out, self->shown, lines);
    forget(self);
    if (put(self, buf_text(&out), out.size, e) < 0)
        return -1;
    self->shown = xstrdup(lines);
    return 0;
}
