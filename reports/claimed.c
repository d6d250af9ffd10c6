/* claimed - what other programs say they measured, apart from what was measured here
 *
 * SPDX-License-Identifier: MIT */
#include "reports/claimed.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/stats.h"
#include "common/versus.h"
#include "common/xalloc.h"
#include "reports/html.h"
#include "reports/text.h"

enum { CELL_MAX = 64 * 1024 };

static const uint64_t seed = 20261130;

/* An entrant of a format, over all its rows. */
typedef struct line {
    const char *format, *entrant;
    size_t first, rows; /* among the sorted rows */
    size_t correct, fast, measured;
    double low, high, median, p25, geomean;
    size_t common; /* problems that all entrants of the format have */
    versus_rank place;
} line;

typedef struct table {
    claim_row *rows; /* sorted: by format, entrant, problem, sample, file */
    line *lines;
    size_t count;
} table;

static void table_fini(table *t)
{
    free(t->rows);
    free(t->lines);
}

static int by_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "");
}

static int in_order(const void *a, const void *b)
{
    const claim_row *x = a, *y = b;
    int order = by_text(x->format, y->format);
    if (order == 0)
        order = by_text(x->entrant, y->entrant);
    if (order == 0)
        order = by_text(x->problem, y->problem);
    if (order == 0)
        order = memcmp(&x->content, &y->content, sizeof x->content);
    return order != 0 ? order : (x->sample > y->sample) - (x->sample < y->sample);
}

/* ---- one entrant ---- */

static void sum_line(const table *t, line *l)
{
    SCOPED(scoped_free) double *speeds = xcalloc(l->rows + 1, sizeof *speeds);
    for (size_t i = 0; i < l->rows; i++) {
        const claim_row *row = &t->rows[l->first + i];
        l->correct += row->correct ? 1 : 0;
        if (isnan(row->speedup))
            continue;
        speeds[l->measured++] = row->speedup;
        l->fast += row->speedup > 1 ? 1 : 0;
    }
    stats_wilson(l->correct, l->rows, &l->low, &l->high);
    l->median = stats_median(speeds, l->measured);
    l->p25 = stats_quantile(speeds, l->measured, 0.25);
    l->geomean = stats_geomean(speeds, l->measured);
}

static void list_lines(table *t, size_t count)
{
    t->lines = xcalloc(count + 1, sizeof *t->lines);
    for (size_t i = 0; i < count; i++) {
        const claim_row *row = &t->rows[i];
        line *last = t->count > 0 ? &t->lines[t->count - 1] : NULL;
        if (last == NULL || strcmp(last->format, row->format) != 0 ||
            strcmp(last->entrant, row->entrant) != 0)
            t->lines[t->count++] =
                (line){.format = row->format, .entrant = row->entrant, .first = i};
        t->lines[t->count - 1].rows++;
    }
    for (size_t i = 0; i < t->count; i++)
        sum_line(t, &t->lines[i]);
}

/* ---- places within a format ---- */

/* Rows of an entrant at a problem, or none. */
static const claim_row *rows_at(const table *t, const line *l, const char *problem, size_t *n)
{
    size_t low = l->first, high = l->first + l->rows, end = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(t->rows[middle].problem, problem) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < end && strcmp(t->rows[low + *n].problem, problem) == 0;)
        (*n)++;
    return &t->rows[low];
}

typedef struct group {
    const table *t;
    line *lines;
    size_t count;
    const char **common; /* problems that all have */
    size_t common_count, samples;
    bool by_speed; /* else by correctness: the format has no speeds */
} group;

static size_t least_samples(const group *g, const char *problem)
{
    size_t least = SIZE_MAX;
    for (size_t e = 0; e < g->count; e++) {
        size_t n;
        rows_at(g->t, &g->lines[e], problem, &n);
        least = n < least ? n : least;
    }
    return least;
}

static void find_common(group *g)
{
    const line *first = &g->lines[0];
    g->common = xcalloc(first->rows + 1, sizeof *g->common);
    g->samples = SIZE_MAX;
    for (size_t i = 0; i < first->rows; i++) {
        const char *problem = g->t->rows[first->first + i].problem;
        if (g->common_count > 0 && strcmp(g->common[g->common_count - 1], problem) == 0)
            continue;
        size_t least = least_samples(g, problem);
        if (least == 0)
            continue;
        g->common[g->common_count++] = problem;
        g->samples = least < g->samples ? least : g->samples;
    }
    for (size_t e = 0; e < g->count; e++) {
        g->by_speed = g->by_speed || g->lines[e].measured > 0;
        g->lines[e].common = g->common_count;
    }
}

static void give_places(group *g)
{
    SCOPED(scoped_free)
    uint32_t *hits = xcalloc(g->count * g->common_count + 1, sizeof *hits);
    for (size_t e = 0; e < g->count; e++)
        for (size_t p = 0; p < g->common_count; p++) {
            size_t n;
            const claim_row *rows = rows_at(g->t, &g->lines[e], g->common[p], &n);
            for (size_t s = 0; s < g->samples; s++)
                hits[e * g->common_count + p] +=
                    (g->by_speed ? rows[s].speedup > 1 : rows[s].correct) ? 1 : 0;
        }
    const versus_input input = {.hits = hits,
                                .entrants = g->count,
                                .problems = g->common_count,
                                .samples = g->samples,
                                .seed = seed};
    SCOPED(versus_destroy) versus *v = versus_create(&input);
    for (size_t e = 0; e < g->count; e++)
        g->lines[e].place = versus_ranks(v)[e];
}

static void place_lines(table *t)
{
    for (size_t i = 0, n; i < t->count; i += n) {
        for (n = 1; i + n < t->count && strcmp(t->lines[i + n].format, t->lines[i].format) == 0;)
            n++;
        group g = {.t = t, .lines = &t->lines[i], .count = n};
        find_common(&g);
        if (g.common_count > 0 && n <= VERSUS_ENTRANTS_MAX)
            give_places(&g);
        free(g.common);
    }
}

static int by_place(const void *a, const void *b)
{
    const line *x = a, *y = b;
    int order = strcmp(x->format, y->format);
    if (order == 0)
        order = (x->place.rank > y->place.rank) - (x->place.rank < y->place.rank);
    return order != 0 ? order : strcmp(x->entrant, y->entrant);
}

static table make_table(const claim_row *rows, size_t count)
{
    table t = {.rows = xmemdup(rows, count * sizeof *rows)};
    qsort(t.rows, count, sizeof *t.rows, in_order);
    list_lines(&t, count);
    place_lines(&t);
    qsort(t.lines, t.count, sizeof *t.lines, by_place);
    return t;
}

/* ---- words ---- */

static const char note[] =
    "Claimed, not re-run here: what other programs wrote into their files. No input, no time and "
    "no "
    "kernel of it was seen by this harness; each format checks and times in its own way, so that "
    "places are within a format only (over the problems that its entrants share, by raw fast_1, or "
    "by correctness where there are no speeds) and never beside measured ranks.";

enum { COLUMNS = 8 };
static const char *const heads[COLUMNS] = {"place",        "format",         "entrant",
                                           "correct",      "raw fast_1",     "geomean",
                                           "median / p25", "common problems"};
static const bool is_text[COLUMNS] = {true, true, true, false, false, false, false, false};
enum { ENTRANT = 2 };

static void put_cell(const line *l, size_t column, buf *out)
{
    switch (column) {
    case 0:
        if (l->place.rank == 0)
            buf_puts(out, "–");
        else
            buf_printf(out, "%zu [%zu–%zu]", l->place.rank, l->place.low, l->place.high);
        return;
    case 1:
        buf_puts(out, l->format);
        return;
    case ENTRANT:
        buf_puts(out, l->entrant);
        return;
    case 3:
        buf_printf(out, "%zu/%zu [%.1f, %.1f] %%", l->correct, l->rows, 100 * l->low,
                   100 * l->high);
        return;
    case 4:
        text_share(out, l->fast, l->measured > 0 ? l->rows : 0);
        return;
    case 5:
        text_factor(out, l->geomean);
        buf_printf(out, " (n=%zu)", l->measured);
        return;
    case 6:
        text_factor(out, l->median);
        buf_puts(out, " / ");
        text_factor(out, l->p25);
        return;
    default:
        buf_printf(out, "%zu", l->common);
        return;
    }
}

void claimed_markdown(const claim_row *rows, size_t count, buf *out)
{
    if (count == 0)
        return;
    SCOPED(table_fini) table t = make_table(rows, count);
    buf_printf(out, "\n## Claimed\n\n%s\n\n|", note);
    for (size_t c = 0; c < COLUMNS; c++)
        buf_printf(out, " %s |", heads[c]);
    buf_puts(out, "\n|");
    for (size_t c = 0; c < COLUMNS; c++)
        buf_puts(out, is_text[c] ? "---|" : "--:|");
    buf_puts(out, "\n");
    for (size_t i = 0; i < t.count; i++) {
        buf_puts(out, "|");
        for (size_t c = 0; c < COLUMNS; c++) {
            SCOPED(buf_fini) buf cell = {0};
            buf_init(&cell, CELL_MAX);
            put_cell(&t.lines[i], c, &cell);
            buf_puts(out, " ");
            if (c == ENTRANT)
                text_cell(out, buf_text(&cell));
            else
                buf_add(out, buf_text(&cell), cell.size);
            buf_puts(out, " |");
        }
        buf_puts(out, "\n");
    }
}

void claimed_html(const claim_row *rows, size_t count, buf *out)
{
    if (count == 0)
        return;
    SCOPED(table_fini) table t = make_table(rows, count);
    buf_puts(out, "<h2 id=\"claimed\">Claimed</h2>\n<p>");
    html_text(out, note);
    buf_puts(out, "</p>\n");
    html_region(out, "claimed", "Claimed results of other programs");
    buf_puts(out, "<thead><tr>");
    for (size_t c = 0; c < COLUMNS; c++)
        buf_printf(out, "<th scope=\"col\"%s>%s</th>", is_text[c] ? " class=\"t\"" : "", heads[c]);
    buf_puts(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t.count; i++) {
        buf_puts(out, "<tr>");
        for (size_t c = 0; c < COLUMNS; c++) {
            SCOPED(buf_fini) buf cell = {0};
            buf_init(&cell, CELL_MAX);
            put_cell(&t.lines[i], c, &cell);
            buf_puts(out, c == ENTRANT ? "<th scope=\"row\">"
                          : is_text[c] ? "<td class=\"t\">"
                                       : "<td>");
            html_text(out, buf_text(&cell));
            buf_puts(out, c == ENTRANT ? "</th>" : "</td>");
        }
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</tbody>\n</table></div>\n");
}

json *claimed_json(const claim_row *rows, size_t count)
{
    json *list = json_new_array();
    if (count == 0)
        return list;
    SCOPED(table_fini) table t = make_table(rows, count);
    for (size_t i = 0; i < t.count; i++) {
        const line *l = &t.lines[i];
        json *one = json_new_object();
        json_set_str(one, "format", l->format);
        json_set_str(one, "entrant", l->entrant);
        json_set_int(one, "place", (int64_t)l->place.rank);
        json_set_int(one, "results", (int64_t)l->rows);
        json_set_int(one, "correct", (int64_t)l->correct);
        json_set_int(one, "measured", (int64_t)l->measured);
        json_set_int(one, "fast_1", (int64_t)l->fast);
        json_set_real(one, "geomean", l->geomean);
        json_set_real(one, "median", l->median);
        json_set_real(one, "p25", l->p25);
        json_set_int(one, "common_problems", (int64_t)l->common);
        json_append(list, &one);
    }
    return list;
}
