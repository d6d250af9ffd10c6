/* replay - looks the answers up, refuses what would not be the same question
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/replay.h"

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/call.h"
#include "store/run.h"
#include "store/task.h"

struct replay {
    char *run;
    int64_t entrant; /* whose answers: a row id */
    problem_list problems;
    task_list tasks; /* kind synthesize */
};

static int find_entrant(store_tx *tx, replay *self, const char *name, err *e)
{
    SCOPED(entrant_list_fini) entrant_list list = {.rows = NULL};
    if (entrant_list_read(tx, self->run, &list, e))
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        if (list.count == 1 || strcmp(list.rows[i].name, name) == 0) {
            self->entrant = list.rows[i].id;
            return 0;
        }
    }
    return err_set(e, ERR_USAGE,
                   "replay:%s: that run has %zu entrants, and none is named %s: only a run of one "
                   "can be replayed by another name (names: docs/entrants.md)",
                   self->run, list.count, name);
}

replay *replay_open(store_tx *tx, const char *text, const char *entrant, err *e)
{
    SCOPED(replay_close) replay *self = xcalloc(1, sizeof *self);
    SCOPED(run_row_fini) run_row row = {.id = NULL};
    if (run_find(tx, text, &row, e)) {
        err_wrap(e, "replay:%s", text);
        return NULL;
    }
    if (row.redacted_ms) {
        err_set(e, ERR_USAGE, "replay:%s: the answers of run %s were redacted", text, row.id);
        return NULL;
    }
    self->run = xstrdup(row.id);
    if (find_entrant(tx, self, entrant, e) ||
        problem_list_read(tx, self->run, &self->problems, e) ||
        task_list_read(tx, self->run, "synthesize", &self->tasks, e))
        return NULL;
    return TAKE(self);
}

void replay_close(replay **self)
{
    if (!*self)
        return;
    problem_list_fini(&(*self)->problems);
    task_list_fini(&(*self)->tasks);
    free((*self)->run);
    free(*self);
    *self = NULL;
}

static int check_problem(const replay *self, const task_spec *spec, err *e)
{
    for (size_t i = 0; i < self->problems.count; i++) {
        const problem_row *p = &self->problems.rows[i];
        if (strcmp(p->id, spec->problem) != 0)
            continue;
        if (hash_equal(&p->contract_hash, &spec->contract_hash))
            return 0;
        return err_set(e, ERR_USAGE,
                       "replay:%s: its answers to %s were given under another contract: a replay "
                       "would compare different problems",
                       self->run, spec->problem);
    }
    return err_set(e, ERR_USAGE, "replay:%s: that run has no problem %s (choose with --only)",
                   self->run, spec->problem);
}

static const task_row *find_task(const replay *self, const task_spec *spec)
{
    for (size_t i = 0; i < self->tasks.count; i++) {
        const task_row *t = &self->tasks.rows[i];
        if (t->entrant == self->entrant && t->sample == spec->sample &&
            strcmp(t->problem, spec->problem) == 0)
            return t;
    }
    return NULL;
}

int replay_fill(store_tx *tx, const replay *self, task_spec *spec, err *e)
{
    if (check_problem(self, spec, e))
        return -1;
    const task_row *task = find_task(self, spec);
    if (!task)
        return err_set(e, ERR_USAGE, "replay:%s: that run has no sample %lld of %s", self->run,
                       (long long)spec->sample, spec->problem);
    SCOPED(call_list_fini) call_list calls = {.rows = NULL};
    if (call_list_read(tx, task->id, NULL, &calls, e))
        return -1;
    spec->replay = xcalloc(calls.count + 1, sizeof *spec->replay);
    for (size_t i = 0; i < calls.count && spec->replay_count < SPEC_REPLAY_MAX; i++) {
        const call_row *c = &calls.rows[i];
        spec->replay[spec->replay_count++] = (spec_replay){.stage = xstrdup(c->stage),
                                                           .index = c->number,
                                                           .answer = c->answer,
                                                           .stop = xstrdup(c->stop)};
    }
    return 0;
}

void replay_clear(task_spec *spec)
{
    for (size_t i = 0; i < spec->replay_count; i++) {
        free(spec->replay[i].stage);
        free(spec->replay[i].stop);
    }
    free(spec->replay);
    spec->replay = NULL;
    spec->replay_count = 0;
}
