/* term - what a terminal can do, and one that is drawn on
 *
 * Purpose:   whether a descriptor is a terminal that may be redrawn, whether colours and UTF-8 are wanted there,
 *            how large it is; and a whole-screen display: the alternate screen, no cursor, keys one by one
 *            without echo. Plain ECMA-48 and what xterm added and everybody took over.
 * Ownership: term_open gives an owned object that borrows the descriptors; term_close leaves the terminal as
 *            it was found.
 * Threads:   one owner. A second term on the same terminal would restore what the first one made.
 * Errors:    term_open: when the terminal's modes cannot be read or set. A screen that cannot be written to
 *            is noticed by term_draw.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_TERM_H
#define CE_COMMON_TERM_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/err.h"

/* What the environment says; NULL: not set. */
typedef struct term_env {
    const char *term;     /* $TERM */
    const char *no_color; /* $NO_COLOR, https://no-color.org */
} term_env;

typedef struct term_kind {
    bool redraws; /* a terminal, and not a dumb one: lines may be drawn again */
    bool colour;
    bool utf8; /* as LC_ALL, LC_CTYPE and LANG say */
} term_kind;

typedef struct term_size {
    size_t width, height;
} term_size;

term_kind term_of(int fd, const term_env *env);
/* term_size_of is 80 × 24 where the terminal does not say, or fd is none. */
term_size term_size_of(int fd);

typedef struct term term;

/* term_open: `in` may be no terminal; then there are no keys. */
term *term_open(int in, int out, err *e);
void term_close(term **self);
/* term_leave gives the terminal back for a while (the process is to be stopped), term_enter takes it again. */
void term_leave(term *self);
int term_enter(term *self, err *e);
/* term_draw shows these lines, each ended by '\n', and nothing else. Only lines that changed are written, in
 * one piece, so nothing flickers. */
int term_draw(term *self, const char *lines, err *e);
/* term_redraw makes the next term_draw write everything: the size has changed. */
void term_redraw(term *self);

/* term_difference appends what turns a screen that shows `before` (NULL: an unknown one) into `after`. */
void term_difference(buf *out, const char *before, const char *after);

#endif
