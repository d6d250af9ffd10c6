/* text - numbers and names as reports print them
 *
 * SPDX-License-Identifier: MIT */
#include "reports/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"

enum { DISTINCT_MAX = 16, SANITIZER_REASONS = 4 };

static const char none[] = "–";

void text_cell(buf *out, const char *text)
{
    for (const char *p = text != NULL ? text : none; *p != '\0'; p++) {
        if (strchr("\\`*[]<>|", *p) != NULL)
            buf_add(out, "\\", 1);
        if ((unsigned char)*p < ' ')
            buf_add(out, " ", 1);
        else
            buf_add(out, p, 1);
    }
}

void text_factor(buf *out, double value)
{
    if (isnan(value))
        buf_puts(out, none);
    else
        buf_printf(out, value < 9.995 ? "%.2f×" : "%.1f×", value);
}

void text_ms(buf *out, double value)
{
    if (isnan(value))
        buf_puts(out, none);
    else
        buf_printf(out, "%.4g", value);
}

void text_share(buf *out, size_t k, size_t n)
{
    if (n == 0)
        buf_puts(out, none);
    else
        buf_printf(out, "%.1f %%", 100.0 * (double)k / (double)n);
}

void text_usd(buf *out, double usd, int64_t unknown)
{
    buf_printf(out, "$%.4f", usd);
    if (unknown > 0)
        buf_printf(out, " + %" PRId64 " unknown", unknown);
}

void text_usd_beside(buf *out, double unknown_usd, int64_t unknown_calls)
{
    if (unknown_calls == 0 && unknown_usd <= 0)
        return;
    buf_printf(out, " + at most $%.4f beside", unknown_usd);
    if (unknown_calls > 0)
        buf_printf(out, " (calls cut in flight: %" PRId64 ")", unknown_calls);
}

void text_count(buf *out, int64_t value)
{
    if (value >= 1000) {
        text_count(out, value / 1000);
        buf_printf(out, ",%03d", (int)(value % 1000));
    } else {
        buf_printf(out, "%d", (int)value);
    }
}

void text_bar(buf *out, size_t columns, size_t done, size_t planned)
{
    const size_t full = planned > 0 ? done * columns / planned : columns;
    buf_puts(out, "[");
    for (size_t i = 0; i < columns; i++)
        buf_puts(out, i < full ? "#" : ".");
    buf_puts(out, "] ");
}

void text_minutes(buf *out, double ms)
{
    buf_printf(out, "%.1f min", ms / 60000);
}

void text_date(buf *out, int64_t wall_ms)
{
    char date[CLOCK_TEXT];
    if (wall_ms > 0)
        clock_text(wall_ms, date);
    buf_puts(out, wall_ms > 0 ? date : none);
}

void text_result(buf *out, task_state state, outcome result, const char *detail)
{
    if (state != TASK_DONE) {
        buf_puts(out, "not scored");
        return;
    }
    buf_puts(out, outcome_name(result));
    if (detail != NULL && detail[0] != '\0') {
        buf_puts(out, "(");
        text_cell(out, detail);
        buf_puts(out, ")");
    }
}

void text_outcome(buf *out, const board_row *task)
{
    text_result(out, task->state, task->outcome.result, task->outcome.detail);
}

static const char *field(const board_facts *facts, size_t offset)
{
    const char *value;
    memcpy(&value, (const char *)facts + offset, sizeof value);
    return value;
}

static bool seen(const char *const *values, size_t count, const char *value)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(values[i], value) == 0)
            return true;
    return false;
}

typedef void put_fn(buf *out, const char *text);

static void put_plain(buf *out, const char *text)
{
    buf_puts(out, text);
}

static void put_distinct(buf *out, const board *b, size_t offset, put_fn *put)
{
    const char *values[DISTINCT_MAX];
    size_t count = 0;
    for (size_t i = 0; i < b->facts_count && count < DISTINCT_MAX; i++) {
        const char *value = field(b->facts[i], offset);
        if (value == NULL || seen(values, count, value))
            continue;
        buf_puts(out, count > 0 ? ", " : "");
        put(out, value);
        values[count++] = value;
    }
    if (count == 0)
        buf_puts(out, none);
}

void text_distinct(buf *out, const board *b, size_t offset)
{
    put_distinct(out, b, offset, text_cell);
}

void text_distinct_plain(buf *out, const board *b, size_t offset)
{
    put_distinct(out, b, offset, put_plain);
}

/* "not run (why)" → "why)". */
static const char *why_not(const char *state)
{
    static const char begins[] = "not run (";
    return state + (str_starts(state, begins) ? strlen(begins) : 0);
}

void text_sanitizer_counts(buf *out, const size_t said[BOARD_SANITIZERS])
{
    static const struct {
        board_sanitizer state;
        const char *word;
    } states[] = {{BOARD_SANITIZER_CLEAN, "clean"},
                  {BOARD_SANITIZER_FINDING, "with a finding"},
                  {BOARD_SANITIZER_NOT_RUN, "not run"}};
    const char *gap = "";
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (said[states[i].state] == 0)
            continue;
        buf_printf(out, "%s%zu %s", gap, said[states[i].state], states[i].word);
        gap = ", ";
    }
}

void text_sanitizer(buf *out, const board *b)
{
    size_t said[BOARD_SANITIZERS] = {0}, count = 0;
    const char *reasons[SANITIZER_REASONS];
    for (size_t i = 0; i < b->task_count; i++) {
        const board_sanitizer is = board_task_sanitizer(&b->tasks[i]);
        said[is]++;
        if (is != BOARD_SANITIZER_NOT_RUN || count == SANITIZER_REASONS)
            continue;
        const char *why = why_not(b->tasks[i].row->outcome.sanitizer);
        if (!seen(reasons, count, why))
            reasons[count++] = why;
    }
    if (said[BOARD_SANITIZER_NONE] == b->task_count) {
        buf_puts(out, none);
        return;
    }
    text_sanitizer_counts(out, said);
    for (size_t i = 0; i < count; i++) /* each reason ends with its parenthesis */
        buf_printf(out, "%s%.*s", i > 0 ? "; " : " (", (int)strlen(reasons[i]) - 1, reasons[i]);
    buf_puts(out, count > 0 ? ")" : "");
}
