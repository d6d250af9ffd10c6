/* runs - what runs there are, and how one is going
 *
 * SPDX-License-Identifier: MIT */
#include "reports/runs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/need.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/straggler.h"
#include "reports/text.h"
#include "store/charge.h"
#include "store/node.h"
#include "store/run.h"
#include "store/task.h"

/* A job renders straight from the snapshot it reads. */
typedef struct asking {
    const char *run;
    buf *out;
    size_t max; /* rows, where they are limited */
} asking;

static int ask(store *db, store_fn *fn, const char *run, buf *out, err *e)
{
    asking a = {run, out, 0};
    return store_run(db, fn, &a, e);
}

static void print_json(const json *root, buf *out)
{
    SCOPED(scoped_free) char *text = json_dump_pretty(root);
    buf_puts(out, text);
}

/* ---- all runs ---- */

static int join_entrants(store_tx *tx, const char *run, buf *out, err *e)
{
    SCOPED(entrant_list_fini) entrant_list entrants = {0};
    if (entrant_list_read(tx, run, &entrants, e) < 0)
        return -1;
    for (size_t i = 0; i < entrants.count; i++)
        buf_printf(out, "%s%s", i > 0 ? ", " : "", entrants.rows[i].name);
    return 0;
}

static int run_line(store_tx *tx, const run_row *run, buf *out, err *e)
{
    run_counts counts;
    if (run_count(tx, run->id, &counts, e) < 0)
        return -1;
    buf_printf(out, "%-26s  %-11s  ", run->id, run_state_name(run->state));
    text_date(out, run->created_ms);
    buf_printf(out, "  %-5s  %5" PRId64 "/%-5" PRId64 "  %s %s: ", run->device, counts.scored,
               counts.planned, run->suite, run->suite_version);
    if (join_entrants(tx, run->id, out, e) < 0)
        return -1;
    buf_puts(out, "\n");
    return 0;
}

static int runs_text_fn(store_tx *tx, void *arg, err *e)
{
    const asking *a = arg;
    SCOPED(run_list_fini) run_list runs = {0};
    if (run_list_read(tx, &runs, e) < 0)
        return -1;
    if (runs.count == 0)
        buf_puts(a->out, "no runs yet\n");
    else
        buf_printf(a->out, "%-26s  %-11s  %-20s  %-5s  %11s  %s\n", "run", "state", "created",
                   "device", "scored", "suite: entrants");
    for (size_t i = 0; i < runs.count; i++)
        if (run_line(tx, &runs.rows[i], a->out, e) < 0)
            return -1;
    return 0;
}

static json *counts_json(const run_counts *counts)
{
    json *out = json_new_object();
    json_set_int(out, "planned", counts->planned);
    json_set_int(out, "waiting", counts->waiting);
    json_set_int(out, "leased", counts->leased);
    json_set_int(out, "done", counts->done);
    json_set_int(out, "failed", counts->failed);
    json_set_int(out, "scored", counts->scored);
    return out;
}

static json *run_json(store_tx *tx, const run_row *run, err *e)
{
    run_counts counts;
    SCOPED(entrant_list_fini) entrant_list entrants = {0};
    if (run_count(tx, run->id, &counts, e) < 0 || entrant_list_read(tx, run->id, &entrants, e) < 0)
        return NULL;
    json *out = json_new_object(), *names = json_new_array(), *tasks = counts_json(&counts);
    json_set_str(out, "id", run->id);
    json_set_str(out, "state", run_state_name(run->state));
    json_set_int(out, "created_ms", run->created_ms);
    if (run->finished_ms > 0)
        json_set_int(out, "finished_ms", run->finished_ms);
    else
        json_set_null(out, "finished_ms");
    json_set_str(out, "suite", run->suite);
    json_set_str(out, "suite_version", run->suite_version);
    json_set_str(out, "device", run->device);
    json_set_int(out, "samples", run->samples);
    json_set_str(out, "command", run->command);
    json_set(out, "tasks", &tasks);
    for (size_t i = 0; i < entrants.count; i++) {
        json *name = json_new_str(entrants.rows[i].name);
        json_append(names, &name);
    }
    json_set(out, "entrants", &names);
    return out;
}

static int list_json(store_tx *tx, const run_list *runs, buf *out, err *e)
{
    SCOPED(json_destroy) json *root = json_new_object();
    SCOPED(json_destroy) json *list = json_new_array();
    for (size_t i = 0; i < runs->count; i++) {
        json *one = run_json(tx, &runs->rows[i], e);
        if (one == NULL)
            return -1;
        json_append(list, &one);
    }
    json_set(root, "runs", &list);
    print_json(root, out);
    return 0;
}

static int runs_json_fn(store_tx *tx, void *arg, err *e)
{
    const asking *a = arg;
    SCOPED(run_list_fini) run_list runs = {0};
    return run_list_read(tx, &runs, e) < 0 ? -1 : list_json(tx, &runs, a->out, e);
}

static int runs_page_fn(store_tx *tx, void *arg, err *e)
{
    const asking *a = arg;
    SCOPED(run_list_fini) run_list runs = {0};
    return run_list_newest(tx, a->run, a->max, &runs, e) < 0 ? -1 : list_json(tx, &runs, a->out, e);
}

int runs_text(store *db, buf *out, err *e)
{
    return ask(db, runs_text_fn, NULL, out, e);
}

int runs_json(store *db, buf *out, err *e)
{
    return ask(db, runs_json_fn, NULL, out, e);
}

int runs_page(store *db, const char *before, size_t max, buf *out, err *e)
{
    asking a = {before, out, max};
    return store_run(db, runs_page_fn, &a, e);
}

/* ---- one run ---- */

typedef struct standing {
    run_row run;
    spend_list spend;
    run_counts counts;
    entrant_list entrants;
    task_list tasks; /* both kinds */
    node_list nodes;
} standing;

static void standing_fini(standing *s)
{
    run_row_fini(&s->run);
    spend_list_fini(&s->spend);
    entrant_list_fini(&s->entrants);
    task_list_fini(&s->tasks);
    node_list_fini(&s->nodes);
}

static int standing_read(store_tx *tx, const char *run, standing *s, err *e)
{
    if (run_find(tx, run, &s->run, e) < 0 || run_count(tx, s->run.id, &s->counts, e) < 0 ||
        entrant_list_read(tx, s->run.id, &s->entrants, e) < 0 ||
        spend_list_read(tx, s->run.id, &s->spend, e) < 0 ||
        task_list_read(tx, s->run.id, NULL, &s->tasks, e) < 0)
        return -1;
    return node_list_read(tx, &s->nodes, e);
}

static const char *entrant_of(const standing *s, const task_row *task)
{
    for (size_t i = 0; i < s->entrants.count; i++)
        if (s->entrants.rows[i].id == task->entrant)
            return s->entrants.rows[i].name;
    return "contract check";
}

static bool is_contract(const task_row *task)
{
    return strcmp(task->kind, "contract") == 0;
}

static void contract_line(const standing *s, buf *out)
{
    int64_t total = 0, good = 0, bad = 0;
    for (size_t i = 0; i < s->tasks.count; i++) {
        const task_row *t = &s->tasks.rows[i];
        if (!is_contract(t))
            continue;
        total++;
        good += t->state == TASK_DONE && t->outcome.result == OUTCOME_OK ? 1 : 0;
        bad +=
            t->state == TASK_FAILED || (t->state == TASK_DONE && t->outcome.result != OUTCOME_OK);
    }
    if (total > 0)
        buf_printf(out, "contracts   %" PRId64 " of %" PRId64 " good, %" PRId64 " bad\n", good,
                   total, bad);
}

static void task_line(const standing *s, const task_row *t, buf *out)
{
    buf_printf(out, "  %-26s  %-28s  %-24s  %" PRId64 "  ", t->id, t->problem, entrant_of(s, t),
               t->sample);
}

static void leased_lines(const standing *s, buf *out)
{
    bool any = false;
    for (size_t i = 0; i < s->tasks.count; i++) {
        const task_row *t = &s->tasks.rows[i];
        if (t->state != TASK_LEASED)
            continue;
        buf_puts(out, any ? "" : "\nrunning\n");
        any = true;
        task_line(s, t, out);
        buf_printf(out, "on %s, lease %" PRId64 "\n", t->node != NULL ? t->node : "?", t->leases);
    }
}

/* Harness errors, also of tasks that went on after one. */
static void error_lines(const standing *s, buf *out)
{
    bool any = false;
    for (size_t i = 0; i < s->tasks.count; i++) {
        const task_row *t = &s->tasks.rows[i];
        if (t->error == NULL || t->state == TASK_DONE)
            continue;
        buf_puts(out, any ? "" : "\nharness errors\n");
        any = true;
        task_line(s, t, out);
        buf_printf(out, "%s: %s\n", task_state_name(t->state), t->error);
    }
}

/* Sums over the stages of one entrant, or of all (id 0). */
static spend_row spend_of(const spend_list *spend, int64_t entrant)
{
    spend_row sum = {.entrant = entrant};
    for (size_t i = 0; i < spend->count; i++) {
        const spend_row *s = &spend->rows[i];
        if (entrant != 0 && s->entrant != entrant)
            continue;
        sum.calls += s->calls;
        sum.cost_unknown += s->cost_unknown;
        sum.cost_usd += s->cost_usd;
        sum.unknown_calls += s->unknown_calls;
        sum.unknown_usd += s->unknown_usd;
    }
    return sum;
}

static void cost_text(const spend_row *s, buf *out)
{
    text_usd(out, s->cost_usd, s->cost_unknown);
    text_usd_beside(out, s->unknown_usd, s->unknown_calls);
}

static void cost_line(const standing *s, buf *out)
{
    spend_row all = spend_of(&s->spend, 0);
    buf_printf(out, "cost        %" PRId64 " calls, ", all.calls);
    cost_text(&all, out);
    if (s->run.budget_usd > 0)
        buf_printf(out, "; budget $%.4f", s->run.budget_usd);
    buf_puts(out, "\n");
}

static void entrant_lines(const standing *s, buf *out)
{
    buf_puts(out, "\nentrants\n");
    for (size_t e = 0; e < s->entrants.count; e++) {
        int64_t planned = 0, done = 0, correct = 0;
        for (size_t i = 0; i < s->tasks.count; i++) {
            const task_row *t = &s->tasks.rows[i];
            if (is_contract(t) || t->entrant != s->entrants.rows[e].id)
                continue;
            planned++;
            done += t->state == TASK_DONE ? 1 : 0;
            correct += t->state == TASK_DONE && t->outcome.result == OUTCOME_OK ? 1 : 0;
        }
        buf_printf(out, "  %-40s  %" PRId64 " of %" PRId64 " done, %" PRId64 " correct, ",
                   s->entrants.rows[e].name, done, planned, correct);
        spend_row cost = spend_of(&s->spend, s->entrants.rows[e].id);
        cost_text(&cost, out);
        buf_puts(out, "\n");
    }
}

/* ---- why tasks wait ---- */

/* Lanes of connected nodes that can run. */
static void add_lanes(const node_row *n, need_device **lanes, size_t *count)
{
    SCOPED(json_doc_destroy)
    json_doc *doc = json_parse(n->devices, strlen(n->devices), n->name, NULL);
    const json *list = doc != NULL ? json_doc_root(doc) : NULL;
    *lanes = xreallocarray(*lanes, *count + json_size(list) + 1, sizeof **lanes);
    for (size_t i = 0; i < json_size(list); i++) {
        const json *d = json_at(list, i);
        if (*json_str(json_get(d, "reason"), "") != '\0')
            continue;
        (*lanes)[(*count)++] =
            need_device_of(json_str(json_get(d, "kind"), ""), json_str(json_get(d, "arch"), ""),
                           json_int(json_get(d, "memory_bytes"), 0));
    }
}

static int64_t waiting_of(const standing *s, const char *problem)
{
    int64_t count = 0;
    for (size_t i = 0; i < s->tasks.count; i++)
        count += s->tasks.rows[i].state == TASK_WAITING &&
                 strcmp(s->tasks.rows[i].problem, problem) == 0;
    return count;
}

/* Called for each problem whose tasks wait for want of a device. */
typedef void wait_fn(const char *problem, int64_t tasks, const char *why, void *arg);

static int each_wait(store_tx *tx, const standing *s, wait_fn *fn, void *arg, err *e)
{
    SCOPED(problem_list_fini) problem_list problems = {0};
    SCOPED(scoped_free) need_device *lanes = NULL;
    size_t count = 0;
    if (problem_list_read(tx, s->run.id, &problems, e) < 0)
        return -1;
    for (size_t i = 0; i < s->nodes.count; i++)
        if (s->nodes.rows[i].state == NODE_UP)
            add_lanes(&s->nodes.rows[i], &lanes, &count);
    for (size_t i = 0; i < problems.count && count > 0 && run_state_is_open(s->run.state); i++) {
        const problem_row *p = &problems.rows[i];
        SCOPED(json_doc_destroy)
        json_doc *terms = json_parse(p->contract, strlen(p->contract), p->id, e);
        if (terms == NULL)
            return -1;
        const json_cursor root = json_root(terms);
        need_set needs = {.memory = 0};
        if (need_read(&root, &needs, e) < 0)
            return -1;
        if (need_find(&needs, s->run.device, lanes, count) != NULL)
            continue; /* the usual case: a million tasks are not looked through for it */
        const int64_t tasks = waiting_of(s, p->id);
        if (tasks == 0)
            continue;
        char why[NEED_TEXT];
        need_why(&needs, s->run.device, lanes, count, why);
        fn(p->id, tasks, why, arg);
    }
    return 0;
}

static void print_wait(const char *problem, int64_t tasks, const char *why, void *arg)
{
    buf *out = arg;
    buf_printf(out, "waits       %s, %" PRId64 " tasks: %s\n", problem, tasks, why);
}

static void append_wait(const char *problem, int64_t tasks, const char *why, void *arg)
{
    json *one = json_new_object();
    json_set_str(one, "problem", problem);
    json_set_int(one, "tasks", tasks);
    json_set_str(one, "reason", why);
    json_append(arg, &one);
}

/* ---- what runs much longer than its peers ---- */

static int read_stragglers(store_tx *tx, const standing *s, straggler_list *out, err *e)
{
    if (!run_state_is_open(s->run.state) || s->counts.leased == 0)
        return 0;
    return straggler_find(tx, s->run.id, clock_wall_ms(), out, e);
}

static const task_row *task_named(const standing *s, const char *id)
{
    size_t i = 0;
    while (strcmp(s->tasks.rows[i].id, id) != 0) /* one snapshot: it is there */
        i++;
    return &s->tasks.rows[i];
}

static int straggler_lines(store_tx *tx, const standing *s, buf *out, err *e)
{
    SCOPED(straggler_list_fini) straggler_list list = {0};
    if (read_stragglers(tx, s, &list, e) < 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        const task_row *t = task_named(s, list.rows[i].task);
        buf_puts(out, i == 0 ? "\nmuch longer than their peers\n" : "");
        task_line(s, t, out);
        buf_printf(out, "on %s for %" PRId64 " s, the median is %" PRId64 " s\n",
                   t->node != NULL ? t->node : "?", list.rows[i].ran_ms / 1000,
                   list.rows[i].median_ms / 1000);
    }
    return 0;
}

static json *stragglers_json(store_tx *tx, const standing *s, err *e)
{
    SCOPED(straggler_list_fini) straggler_list list = {0};
    if (read_stragglers(tx, s, &list, e) < 0)
        return NULL;
    json *out = json_new_array();
    for (size_t i = 0; i < list.count; i++) {
        json *one = json_new_object();
        json_set_str(one, "task", list.rows[i].task);
        json_set_str(one, "node", task_named(s, list.rows[i].task)->node);
        json_set_int(one, "ran_ms", list.rows[i].ran_ms);
        json_set_int(one, "median_ms", list.rows[i].median_ms);
        json_append(out, &one);
    }
    return out;
}

static void node_lines(const standing *s, buf *out)
{
    for (size_t i = 0; i < s->nodes.count; i++) {
        const node_row *n = &s->nodes.rows[i];
        buf_printf(out, "%s  %-28s  %-5s  last seen ", i == 0 ? "\nnodes\n" : "", n->name,
                   node_state_name(n->state));
        text_date(out, n->seen_ms);
        buf_puts(out, "\n");
    }
}

static int status_text_fn(store_tx *tx, void *arg, err *e)
{
    const asking *a = arg;
    SCOPED(standing_fini) standing s = {0};
    if (standing_read(tx, a->run, &s, e) < 0)
        return -1;
    buf_printf(
        a->out, "run         %s\nstate       %s\nsuite       %s %s\ndevice      %s\nstarted     ",
        s.run.id, run_state_name(s.run.state), s.run.suite, s.run.suite_version, s.run.device);
    text_date(a->out, s.run.created_ms);
    buf_puts(a->out, "\nfinished    ");
    text_date(a->out, s.run.finished_ms);
    buf_puts(a->out, "\n");
    contract_line(&s, a->out);
    buf_printf(a->out,
               "tasks       %" PRId64 " planned, %" PRId64 " scored, %" PRId64 " done, %" PRId64
               " running, %" PRId64 " waiting, %" PRId64 " given up\n",
               s.counts.planned, s.counts.scored, s.counts.done, s.counts.leased, s.counts.waiting,
               s.counts.failed);
    if (each_wait(tx, &s, print_wait, a->out, e) < 0)
        return -1;
    cost_line(&s, a->out);
    if (s.run.redacted_ms > 0)
        buf_puts(a->out, "redacted    references and transcripts were removed\n");
    entrant_lines(&s, a->out);
    leased_lines(&s, a->out);
    if (straggler_lines(tx, &s, a->out, e) < 0)
        return -1;
    error_lines(&s, a->out);
    node_lines(&s, a->out);
    return 0;
}

static json *open_task_json(const standing *s, const task_row *t)
{
    json *out = json_new_object();
    json_set_str(out, "task", t->id);
    json_set_str(out, "kind", t->kind);
    json_set_str(out, "problem", t->problem);
    json_set_str(out, "entrant", is_contract(t) ? NULL : entrant_of(s, t));
    json_set_int(out, "sample", t->sample);
    json_set_str(out, "state", task_state_name(t->state));
    json_set_int(out, "leases", t->leases);
    json_set_str(out, "node", t->node);
    json_set_str(out, "error", t->error);
    return out;
}

static json *nodes_json(const node_list *nodes)
{
    json *list = json_new_array();
    for (size_t i = 0; i < nodes->count; i++) {
        json *one = json_new_object();
        json_set_str(one, "name", nodes->rows[i].name);
        json_set_str(one, "state", node_state_name(nodes->rows[i].state));
        json_set_int(one, "seen_ms", nodes->rows[i].seen_ms);
        json_append(list, &one);
    }
    return list;
}

static void set_spend(json *out, const spend_row *s)
{
    json_set_int(out, "calls", s->calls);
    json_set_real(out, "cost_usd", s->cost_usd);
    json_set_int(out, "cost_unknown_calls", s->cost_unknown);
    json_set_int(out, "unknown_calls", s->unknown_calls);
    json_set_real(out, "unknown_usd", s->unknown_usd);
}

static void set_cost(json *run, const standing *s)
{
    spend_row all = spend_of(&s->spend, 0);
    set_spend(run, &all);
    json_set_real(run, "charged_usd", all.cost_usd + all.unknown_usd);
    json_set_real(run, "budget_usd", s->run.budget_usd > 0 ? s->run.budget_usd : (double)NAN);
    json_set_bool(run, "redacted", s->run.redacted_ms > 0);
}

static json *spend_json(const standing *s)
{
    json *list = json_new_array();
    for (size_t i = 0; i < s->spend.count; i++) {
        json *one = json_new_object();
        const task_row owner = {.entrant = s->spend.rows[i].entrant};
        json_set_str(one, "entrant", entrant_of(s, &owner));
        json_set_str(one, "stage", s->spend.rows[i].stage);
        json_set_str(one, "provider", s->spend.rows[i].provider);
        set_spend(one, &s->spend.rows[i]);
        json_append(list, &one);
    }
    return list;
}

static int status_json_fn(store_tx *tx, void *arg, err *e)
{
    const asking *a = arg;
    SCOPED(standing_fini) standing s = {0};
    if (standing_read(tx, a->run, &s, e) < 0)
        return -1;
    json *run = run_json(tx, &s.run, e);
    if (run == NULL)
        return -1;
    SCOPED(json_destroy) json *root = json_new_object();
    SCOPED(json_destroy) json *waits = json_new_array();
    SCOPED(json_destroy) json *stragglers = stragglers_json(tx, &s, e);
    if (stragglers == NULL || each_wait(tx, &s, append_wait, waits, e) < 0) {
        json_destroy(&run);
        return -1;
    }
    json *open = json_new_array(), *nodes = nodes_json(&s.nodes);
    for (size_t i = 0; i < s.tasks.count; i++)
        if (s.tasks.rows[i].state != TASK_DONE) {
            json *one = open_task_json(&s, &s.tasks.rows[i]);
            json_append(open, &one);
        }
    set_cost(run, &s);
    json *spend = spend_json(&s);
    json_set(root, "run", &run);
    json_set(root, "spend", &spend);
    json_set(root, "open", &open);
    json_set(root, "waits", &waits);
    json_set(root, "stragglers", &stragglers);
    json_set(root, "nodes", &nodes);
    print_json(root, a->out);
    return 0;
}

int status_text(store *db, const char *run, buf *out, err *e)
{
    return ask(db, status_text_fn, run, out, e);
}

int status_json(store *db, const char *run, buf *out, err *e)
{
    return ask(db, status_json_fn, run, out, e);
}
