/* log - JSON lines on stderr
 *
 * Levels and areas are set once, before the first thread. Areas hide debug and info only: a warning or
 * an error is always worth a line.
 *
 * SPDX-License-Identifier: MIT */
#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/str.h"

enum { TEXT_MAX = 2048, LINE_MAX_BYTES = 64 * 1024, NAME_ROOM = 32, AREAS_ROOM = 256 };

static struct {
    char process[NAME_ROOM];
    char areas[AREAS_ROOM]; /* "" is all */
    log_level level;
    int fd;
} sink = {.process = "ce", .level = LOG_WARN, .fd = STDERR_FILENO};

static const char *const level_names[] = {"debug", "info", "warn", "error", "off"};

void log_open(const char *process, log_level level, const char *areas, int fd)
{
    snprintf(sink.process, sizeof sink.process, "%s", process);
    snprintf(sink.areas, sizeof sink.areas, "%s", areas == NULL ? "" : areas);
    sink.level = level;
    sink.fd = fd;
}

bool log_level_parse(const char *text, log_level *out)
{
    for (size_t i = 0; i < sizeof level_names / sizeof level_names[0]; i++) {
        if (strcmp(level_names[i], text) == 0) {
            *out = (log_level)i;
            return true;
        }
    }
    return false;
}

/* area_on: the last word that names the area (or "all") decides. */
static bool area_on(const char *area)
{
    if (sink.areas[0] == '\0')
        return true;
    bool on = false;
    str rest = str_of(sink.areas);
    for (str word; str_split(&rest, ',', &word);) {
        word = str_trim(word);
        bool off = word.size > 0 && word.data[0] == '-';
        str name = off ? (str){word.data + 1, word.size - 1} : word;
        if (str_equal(name, "all") || str_equal(name, area))
            on = !off;
    }
    return on;
}

static bool wanted(log_level level, const char *area)
{
    return level >= sink.level && level < LOG_OFF && (level >= LOG_WARN || area_on(area));
}

static void add_text(buf *line, const char *key, const char *text)
{
    buf_printf(line, ",\"%s\":", key);
    json_quote(line, text, strlen(text));
}

static void begin_line(buf *line, log_level level, const char *area, const char *text)
{
    int64_t now = clock_wall_ms();
    char when[CLOCK_TEXT];
    clock_text(now, when);
    buf_printf(line, "{\"ts\":\"%.19s.%03dZ\",\"level\":\"%s\"", when, (int)(now % 1000),
               level_names[level]);
    add_text(line, "process", sink.process);
    add_text(line, "area", area);
    add_text(line, "msg", text);
}

static void end_line(buf *line)
{
    buf_puts(line, "}\n");
    if (!line->overflow && write(sink.fd, line->data, line->size) < 0)
        return; /* nowhere left to complain */
}

void log_line(log_level level, const char *area, const char *format, ...)
{
    if (!wanted(level, area))
        return;
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    SCOPED(buf_fini) buf line;
    buf_init(&line, LINE_MAX_BYTES);
    begin_line(&line, level, area, text);
    end_line(&line);
}

void log_err(log_level level, const char *area, const err *e, const char *format, ...)
{
    if (!wanted(level, area))
        return;
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    SCOPED(buf_fini) buf line;
    buf_init(&line, LINE_MAX_BYTES);
    begin_line(&line, level, area, text);
    add_text(&line, "code", err_code_name(e->code));
    add_text(&line, "error", e->text);
    end_line(&line);
}
