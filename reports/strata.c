/* strata - entrants by kind of problem: where each of them is strong
 *
 * SPDX-License-Identifier: MIT */
#include "reports/strata.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "reports/text.h"

enum { NAME_MAX_SIZE = 1024 };

typedef const char *key_fn(const problem_row *problem);

static const char *category_of(const problem_row *problem)
{
    return problem->category;
}

static const char *dtype_of(const problem_row *problem)
{
    return problem->dtype;
}

static const struct kind {
    const char *name, *title;
    key_fn *key;
} kinds[] = {{"category", "By category", category_of}, {"dtype", "By dtype", dtype_of}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* What an entrant has in a stratum. */
typedef struct score {
    size_t tasks, correct, certified, measured;
    double geomean;
} score;

typedef struct strata {
    const strata_ask *ask;
    key_fn *key;
    const char **names; /* in order of appearance */
    size_t count;
} strata;

static void strata_fini(strata *s)
{
    free(s->names);
}

static const problem_row *problem_at(const strata_ask *ask, size_t i)
{
    for (size_t e = 0; e < ask->g->entrant_count; e++) {
        const grid_cell *cell = grid_at(ask->g, ask->problems[i], e);
        if (cell->example != NULL)
            return cell->example->problem;
    }
    return NULL;
}

static bool is_in(const strata *s, size_t i, const char *name)
{
    const problem_row *problem = problem_at(s->ask, i);
    return problem != NULL && strcmp(s->key(problem), name) == 0;
}

static strata list_strata(const strata_ask *ask, key_fn *key)
{
    strata s = {.ask = ask, .key = key, .names = xcalloc(ask->count + 1, sizeof(char *))};
    for (size_t i = 0; i < ask->count; i++) {
        const problem_row *problem = problem_at(ask, i);
        bool known = problem == NULL;
        for (size_t k = 0; k < s.count && !known; k++)
            known = strcmp(s.names[k], key(problem)) == 0;
        if (!known)
            s.names[s.count++] = key(problem);
    }
    return s;
}

/* Speeds of the GEMM track count in their own category only. */
static score score_of(const strata *s, const char *name, size_t entrant)
{
    score sum = {0};
    SCOPED(scoped_free) double *speeds = xcalloc(s->ask->count + 1, sizeof *speeds);
    size_t samples = (size_t)s->ask->b->entrants[entrant].run->row.samples;
    for (size_t i = 0; i < s->ask->count; i++) {
        const grid_cell *cell = grid_at(s->ask->g, s->ask->problems[i], entrant);
        if (name != NULL && !is_in(s, i, name))
            continue;
        sum.tasks += samples;
        sum.correct += cell->correct;
        sum.certified += cell->certified;
        bool counts = s->key == category_of || !board_is_gemm(problem_at(s->ask, i));
        if (!isnan(cell->speedup) && counts)
            speeds[sum.measured++] = cell->speedup;
    }
    sum.geomean = stats_geomean(speeds, sum.measured);
    return sum;
}

static size_t problems_in(const strata *s, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < s->ask->count; i++)
        n += is_in(s, i, name) ? 1 : 0;
    return n;
}

/* ---- Markdown ---- */

static void put_name(const strata_ask *ask, size_t entrant, buf *out)
{
    text_cell(out, ask->b->entrants[entrant].row->name);
    if (ask->b->run_count > 1) {
        buf_puts(out, " (");
        text_cell(out, ask->b->entrants[entrant].run->row.id);
        buf_puts(out, ")");
    }
}

static void put_score(const score *sum, buf *out)
{
    buf_printf(out, " %zu/%zu, %zu won, ", sum->correct, sum->tasks, sum->certified);
    text_factor(out, sum->geomean);
    buf_printf(out, " (n=%zu) |", sum->measured);
}

static void put_averages(const strata *s, buf *out)
{
    buf_puts(out, "| mean of strata / of tasks | |");
    for (size_t e = 0; e < s->ask->g->entrant_count; e++) {
        double macro = 0;
        for (size_t k = 0; k < s->count; k++) {
            const score sum = score_of(s, s->names[k], e);
            macro += (double)sum.correct / (double)(sum.tasks > 0 ? sum.tasks : 1);
        }
        const score all = score_of(s, NULL, e);
        buf_printf(out, " %.1f %% / %.1f %% correct |", 100 * macro / (double)s->count,
                   100 * (double)all.correct / (double)(all.tasks > 0 ? all.tasks : 1));
    }
    buf_puts(out, "\n");
}

static void put_kind(const strata_ask *ask, const struct kind *kind, buf *out)
{
    SCOPED(strata_fini) strata s = list_strata(ask, kind->key);
    buf_printf(out, "\n## %s\n\n| %s | problems |", kind->title, kind->name);
    for (size_t e = 0; e < ask->g->entrant_count; e++) {
        buf_puts(out, " ");
        put_name(ask, e, out);
        buf_puts(out, " |");
    }
    buf_puts(out, "\n|---|--:|");
    for (size_t e = 0; e < ask->g->entrant_count; e++)
        buf_puts(out, "--:|");
    buf_puts(out, "\n");
    for (size_t k = 0; k < s.count; k++) {
        buf_puts(out, "| ");
        text_cell(out, s.names[k]);
        buf_printf(out, " | %zu |", problems_in(&s, s.names[k]));
        for (size_t e = 0; e < ask->g->entrant_count; e++) {
            const score sum = score_of(&s, s.names[k], e);
            put_score(&sum, out);
        }
        buf_puts(out, "\n");
    }
    if (s.count > 0)
        put_averages(&s, out);
}

void strata_markdown(const strata_ask *ask, buf *out)
{
    for (size_t i = 0; i < KINDS; i++)
        put_kind(ask, &kinds[i], out);
}

/* ---- JSON ---- */

static json *stratum_json(const strata *s, const char *name)
{
    json *one = json_new_object(), *list = json_new_array();
    json_set_str(one, "name", name);
    json_set_int(one, "problems", (int64_t)problems_in(s, name));
    for (size_t e = 0; e < s->ask->g->entrant_count; e++) {
        const score sum = score_of(s, name, e);
        json *row = json_new_object();
        json_set_int(row, "tasks", (int64_t)sum.tasks);
        json_set_int(row, "correct", (int64_t)sum.correct);
        json_set_int(row, "certified", (int64_t)sum.certified);
        json_set_int(row, "measured", (int64_t)sum.measured);
        json_set_real(row, "geomean", sum.geomean);
        json_append(list, &row);
    }
    json_set(one, "entrants", &list);
    return one;
}

json *strata_json(const strata_ask *ask)
{
    json *out = json_new_object();
    for (size_t i = 0; i < KINDS; i++) {
        SCOPED(strata_fini) strata s = list_strata(ask, kinds[i].key);
        json *list = json_new_array();
        for (size_t k = 0; k < s.count; k++) {
            json *one = stratum_json(&s, s.names[k]);
            json_append(list, &one);
        }
        json_set(out, kinds[i].name, &list);
    }
    return out;
}
