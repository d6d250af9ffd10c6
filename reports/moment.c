/* moment - one job, a few statements
 *
 * SPDX-License-Identifier: MIT */
#include "reports/moment.h"

#include <string.h>

#include "common/scoped.h"

typedef struct asking {
    const char *run;
    moment *out;
} asking;

static int read_spend(store_tx *tx, moment *m, err *e)
{
    SCOPED(spend_list_fini) spend_list all = {0};
    if (spend_list_read(tx, m->run.id, &all, e) < 0)
        return -1;
    for (size_t i = 0; i < all.count; i++) {
        const spend_row *row = &all.rows[i];
        m->spend.calls += row->calls;
        m->spend.cost_unknown += row->cost_unknown;
        m->spend.cost_usd += row->cost_usd;
        m->spend.unknown_calls += row->unknown_calls;
        m->spend.unknown_usd += row->unknown_usd;
    }
    return 0;
}

/* Tasks that wait are looked for among all of the run: not where none does. */
static int read_tasks(store_tx *tx, moment *m, err *e)
{
    if (live_running(tx, m->run.id, &m->running, e) < 0)
        return -1;
    return m->tally.waiting > 0 ? live_waiting(tx, m->run.id, &m->waiting, e) : 0;
}

static int read_rest(store_tx *tx, moment *m, err *e)
{
    const char *run = m->run.id;
    return live_tally_read(tx, run, &m->tally, e) < 0 || read_spend(tx, m, e) < 0 ||
                   live_pace_read(tx, run, &m->pace, e) < 0 || read_tasks(tx, m, e) < 0 ||
                   live_nodes(tx, run, &m->nodes, e) < 0
               ? -1
               : 0;
}

static int read_fn(store_tx *tx, void *arg, err *e)
{
    const asking *a = arg;
    SCOPED(scoped_free) char *working = NULL;
    if (a->run == NULL && live_working(tx, &working, e) < 0)
        return -1;
    if (run_find(tx, a->run != NULL ? a->run : working, &a->out->run, e) < 0)
        return -1;
    return read_rest(tx, a->out, e);
}

int moment_read(store *db, const char *run, int64_t now_ms, moment *out, err *e)
{
    moment fresh = {.now_ms = now_ms, .attended_ms = store_owned_since(db)};
    asking a = {run, &fresh};
    if (store_run(db, read_fn, &a, e) < 0) {
        moment_fini(&fresh);
        return -1;
    }
    *out = fresh;
    return 0;
}

void moment_fini(moment *self)
{
    run_row_fini(&self->run);
    live_task_list_fini(&self->running);
    live_task_list_fini(&self->waiting);
    live_node_list_fini(&self->nodes);
}

bool moment_over(const moment *self)
{
    return !run_state_is_open(self->run.state);
}

int64_t moment_left_ms(const moment *self)
{
    const int64_t left = self->tally.planned - self->tally.done - self->tally.failed;
    const int64_t took = self->now_ms - self->pace.since_ms;
    if (moment_over(self) || self->pace.results <= 0 || left <= 0 || took < 0)
        return -1;
    return (int64_t)((double)took / (double)self->pace.results * (double)left);
}

bool moment_is_up(const moment *self, const live_node *node)
{
    return self->attended_ms > 0 && node->joined_ms >= self->attended_ms &&
           strcmp(node->state, "up") == 0;
}
