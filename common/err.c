/* err - the error value every function that can fail fills in
 *
 * The text is always valid UTF-8 of one line: it travels in messages and database rows, and parts of
 * it come from foreign input. Bytes that are no UTF-8 become '?', control characters a space.
 *
 * SPDX-License-Identifier: MIT */
#include "common/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

typedef struct errno_row {
    int errnum;
    err_code code;
    bool retry;
} errno_row;

static const errno_row errno_rows[] = {
    {ENOENT, ERR_NOT_FOUND, false},
    {ENOTDIR, ERR_NOT_FOUND, false},
    {ESRCH, ERR_NOT_FOUND, false},
    {EACCES, ERR_DENIED, false},
    {EPERM, ERR_DENIED, false},
    {EROFS, ERR_DENIED, false},
    {EEXIST, ERR_CONFLICT, false},
    {ENOTEMPTY, ERR_CONFLICT, false},
    {EBUSY, ERR_CONFLICT, true},
    {EADDRINUSE, ERR_CONFLICT, true},
    {ETIMEDOUT, ERR_TIMEOUT, true},
    {EMFILE, ERR_LIMIT, true},
    {ENFILE, ERR_LIMIT, true},
    {ENOMEM, ERR_LIMIT, true},
    {ENOSPC, ERR_LIMIT, true},
    {EDQUOT, ERR_LIMIT, true},
    {EFBIG, ERR_LIMIT, false},
    {E2BIG, ERR_LIMIT, false},
    {ENAMETOOLONG, ERR_LIMIT, false},
    {ENOSYS, ERR_UNAVAILABLE, false},
    {EOPNOTSUPP, ERR_UNAVAILABLE, false},
    {ENODEV, ERR_UNAVAILABLE, false},
    {ENXIO, ERR_UNAVAILABLE, false},
    {EADDRNOTAVAIL, ERR_UNAVAILABLE, false},
    {ECONNREFUSED, ERR_UNAVAILABLE, true},
    {EAGAIN, ERR_SYSTEM, true},
    {EINTR, ERR_SYSTEM, true},
};

static const char *const code_names[] = {
    "none",  "usage",       "config", "protocol", "not_found", "conflict", "timeout",
    "limit", "unavailable", "denied", "gpu",      "system",    "internal",
};

/* keep_text copies text into e, cut at a UTF-8 boundary and cleaned. It may alias e->text's source
 * only through a copy. */
static void keep_text(err *e, const char *text, size_t size, size_t room)
{
    size_t used = 0;
    for (size_t at = 0; at < size;) {
        size_t step = str_utf8_step(text + at, size - at);
        size_t bytes = step == 0 ? 1 : step;
        if (used + bytes > room)
            break;
        unsigned char first = (unsigned char)text[at];
        if (step == 0)
            e->text[used] = '?';
        else if (step == 1 && (first < 0x20 || first == 0x7f))
            e->text[used] = ' ';
        else
            memcpy(e->text + used, text + at, step);
        used += bytes;
        at += bytes;
    }
    e->text[used] = '\0';
}

static void fill(err *e, err_code code, err_domain domain, int64_t native)
{
    e->code = code;
    e->domain = domain;
    e->native = native;
    e->retry = false;
    e->retry_after_ms = 0;
}

/* format_text formats into a buffer twice the size of err.text: arguments may point into e->text, and
 * the cut must see whole characters. */
static size_t format_text(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static size_t format_text(char *out, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(out, size, format, args);
    if (length < 0)
        length = 0;
    return (size_t)length < size ? (size_t)length : size - 1;
}

int err_set(err *e, err_code code, const char *format, ...)
{
    if (e == NULL)
        return -1;
    char text[2 * ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    size_t size = format_text(text, sizeof text, format, args);
    va_end(args);
    fill(e, code, ERR_DOMAIN_NONE, 0);
    keep_text(e, text, size, ERR_TEXT_MAX - 1);
    return -1;
}

int err_native(err *e, err_code code, err_domain domain, int64_t native, const char *format, ...)
{
    if (e == NULL)
        return -1;
    char text[2 * ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    size_t size = format_text(text, sizeof text, format, args);
    va_end(args);
    fill(e, code, domain, native);
    keep_text(e, text, size, ERR_TEXT_MAX - 1);
    return -1;
}

static const errno_row *find_errno(int errnum)
{
    for (size_t i = 0; i < sizeof errno_rows / sizeof errno_rows[0]; i++)
        if (errno_rows[i].errnum == errnum)
            return &errno_rows[i];
    return NULL;
}

int err_errno(err *e, int errnum, const char *format, ...)
{
    if (e == NULL)
        return -1;
    char text[2 * ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    size_t size = format_text(text, sizeof text, format, args);
    va_end(args);
    char reason[80];
    const char *known = strerrordesc_np(errnum);
    if (known != NULL)
        snprintf(reason, sizeof reason, ": %s", known);
    else
        snprintf(reason, sizeof reason, ": errno %d", errnum);
    const errno_row *row = find_errno(errnum);
    fill(e, row != NULL ? row->code : ERR_SYSTEM, ERR_DOMAIN_ERRNO, errnum);
    e->retry = row != NULL && row->retry;
    /* The reason must survive a long path: the front is cut instead. */
    size_t reason_size = strlen(reason);
    keep_text(e, text, size, ERR_TEXT_MAX - 1 - reason_size);
    memcpy(e->text + strlen(e->text), reason, reason_size + 1);
    return -1;
}

int err_wrap(err *e, const char *format, ...)
{
    if (e == NULL)
        return -1;
    char text[3 * ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    size_t size = format_text(text, 2 * ERR_TEXT_MAX - 2, format, args);
    va_end(args);
    int length = snprintf(text + size, sizeof text - size, ": %s", e->text);
    if (length > 0)
        size += (size_t)length;
    keep_text(e, text, size, ERR_TEXT_MAX - 1);
    return -1;
}

const char *err_code_name(err_code code)
{
    size_t index = (size_t)code;
    return index < sizeof code_names / sizeof code_names[0] ? code_names[index] : "unknown";
}
