/* glyph - decode, measure, replace
 *
 * Widths are wcwidth's of the locale C.UTF-8, whatever the process's own is.
 *
 * SPDX-License-Identifier: MIT */
#include "common/glyph.h"

#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <wchar.h>

#include "common/str.h"

/* One character as it will be shown. */
typedef struct shown {
    const char *text;
    size_t size;    /* bytes of text */
    size_t columns; /* 1 or 2 */
    size_t taken;   /* bytes of the source */
} shown;

/* The direction of writing: marks that turn it, and letters that do by themselves. */
static const struct {
    wchar_t first, last;
} turning[] = {
    {0x590, 0x8ff},   {0x200e, 0x200f}, {0x202a, 0x202e},   {0x2066, 0x2069},
    {0xfb1d, 0xfdff}, {0xfe70, 0xfefc}, {0x10800, 0x10fff}, {0x1e800, 0x1efff},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t measures; /* 0: there is no such locale, and nothing beyond ASCII is known */

static void find_locale(void)
{
    measures = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static int width_of(wchar_t c)
{
    if (c < 0x7f)
        return c < ' ' ? -1 : 1;
    pthread_once(&once, find_locale);
    if (!measures)
        return -1;
    locale_t before = uselocale(measures);
    int width = wcwidth(c);
    uselocale(before);
    return width;
}

static bool turns(wchar_t c)
{
    for (size_t i = 0; i < sizeof turning / sizeof turning[0]; i++) {
        if (c >= turning[i].first && c <= turning[i].last)
            return true;
    }
    return false;
}

static wchar_t decode(const char *text, size_t size)
{
    static const unsigned char head[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    wchar_t c = (wchar_t)((unsigned char)text[0] & head[size]);
    for (size_t i = 1; i < size; i++)
        c = (wchar_t)((c << 6) | ((unsigned char)text[i] & 0x3f));
    return c;
}

static shown next(const char *text, bool utf8)
{
    static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
    size_t size = str_utf8_step(text, strnlen(text, 4));
    wchar_t c = size > 0 ? decode(text, size) : 0;
    int width = size > 0 && (utf8 || size == 1) ? width_of(c) : -1;
    if (width > 0 && !turns(c))
        return (shown){text, size, (size_t)width, size};
    size_t taken = size > 0 ? size : 1;
    return utf8 ? (shown){replacement, sizeof replacement - 1, 1, taken}
                : (shown){"?", 1, 1, taken};
}

size_t glyph_width(const char *text, bool utf8)
{
    size_t columns = 0;
    while (*text) {
        shown c = next(text, utf8);
        columns += c.columns;
        text += c.taken;
    }
    return columns;
}

/* Appends characters as long as they fit. */
static size_t add_fitting(buf *out, const char *text, size_t columns, bool utf8)
{
    size_t used = 0;
    while (*text) {
        shown c = next(text, utf8);
        if (used + c.columns > columns)
            break;
        buf_add(out, c.text, c.size);
        used += c.columns;
        text += c.taken;
    }
    return used;
}

size_t glyph_add(buf *out, const char *text, size_t columns, bool utf8)
{
    if (glyph_width(text, utf8) <= columns)
        return add_fitting(out, text, columns, utf8);
    size_t mark = utf8 ? 1 : 3;
    if (columns < mark)
        return add_fitting(out, text, columns, utf8);
    size_t used = add_fitting(out, text, columns - mark, utf8);
    buf_puts(out, utf8 ? "\xe2\x80\xa6" : "...");
    return used + mark;
}

void glyph_fill(buf *out, const char *text, size_t columns, bool utf8)
{
    for (size_t used = glyph_add(out, text, columns, utf8); used < columns; used++)
        buf_puts(out, " ");
}
