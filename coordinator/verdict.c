/* verdict - counts into a state, tasks into sentences
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/verdict.h"

#include <string.h>

#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "store/task.h"

run_state verdict_of(const sched *tasks, int *exit_code)
{
    sched_counts work = sched_count(tasks, SCHED_SYNTHESIZE);
    if (work.scored == work.planned) {
        *exit_code = CMD_EXIT_COMPLETE;
        return RUN_COMPLETE;
    }
    bool nothing = work.state[SCHED_DONE] == 0;
    *exit_code = nothing ? CMD_EXIT_HARNESS : CMD_EXIT_INCOMPLETE;
    return nothing ? RUN_FAILED : RUN_INCOMPLETE;
}

/* Why a task is not scored; NULL when it is, or when it only waited for others. */
static const char *reason_of(const task_row *task)
{
    if (task->state == TASK_FAILED)
        return task->error ? task->error : "it was given up";
    if (task->state != TASK_DONE || outcome_is_scored(task->outcome.result))
        return NULL;
    if (task->outcome.text)
        return task->outcome.text;
    return task->outcome.reason ? task->outcome.reason : outcome_name(task->outcome.result);
}

typedef struct reason {
    const char *text; /* borrowed from the list */
    const task_row *first;
    size_t count;
} reason;

static void count_reason(reason *reasons, const char *text, const task_row *task)
{
    for (size_t i = 0; i < VERDICT_REASONS; i++) {
        if (reasons[i].text && strcmp(reasons[i].text, text) != 0)
            continue;
        if (!reasons[i].text)
            reasons[i] = (reason){.text = text, .first = task};
        reasons[i].count++;
        return;
    }
}

static void print_reason(const reason *r, FILE *out)
{
    fprintf(out, "%s of %s", r->first->kind, r->first->problem);
    if (r->count > 1)
        fprintf(out, " and %zu more", r->count - 1);
    fprintf(out, ": %s: %s\n", r->first->state == TASK_FAILED ? "the harness failed" : "not scored",
            r->text);
}

typedef struct reading {
    const char *run;
    task_list tasks;
} reading;

static int read_tasks(store_tx *tx, void *arg, err *e)
{
    reading *r = arg;
    return task_list_read(tx, r->run, NULL, &r->tasks, e);
}

int verdict_explain(store *s, const char *run, FILE *out, err *e)
{
    reading r = {.run = run};
    reason reasons[VERDICT_REASONS] = {{.text = NULL}};
    if (store_run(s, read_tasks, &r, e))
        return -1;
    for (size_t i = 0; i < r.tasks.count; i++) {
        const char *text = reason_of(&r.tasks.rows[i]);
        if (text)
            count_reason(reasons, text, &r.tasks.rows[i]);
    }
    for (size_t i = 0; i < VERDICT_REASONS && reasons[i].text; i++)
        print_reason(&reasons[i], out);
    task_list_fini(&r.tasks);
    return 0;
}
