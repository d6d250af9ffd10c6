/* redact - columns are the store's to know; what stage records name is known here
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/redact.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/artifact.h"
#include "store/stage.h"
#include "store/task.h"
#include "wire/record.h"

/* The KernelSpecs of a run: parts of answers, stored as texts of their own. */
typedef struct specs {
    hash *names;
    size_t count;
} specs;

static void specs_fini(specs *self)
{
    free(self->names);
}

static int add_spec(store_tx *tx, const stage_row *stage, specs *out, err *e)
{
    SCOPED(buf_fini) buf text;
    SCOPED(stage_record_fini) stage_record record = {0};
    buf_init(&text, ARTIFACT_MAX);
    if (artifact_get(tx, &stage->record, &text, e) ||
        stage_record_read(buf_text(&text), text.size, &record, e))
        return err_wrap(e, "record of stage %s", stage->stage);
    if (hash_is_zero(&record.spec))
        return 0;
    out->names = xreallocarray(out->names, out->count + 1, sizeof *out->names);
    out->names[out->count++] = record.spec;
    return 0;
}

static int find_specs(store_tx *tx, const char *run, specs *out, err *e)
{
    SCOPED(task_list_fini) task_list tasks = {.rows = NULL};
    if (task_list_read(tx, run, "synthesize", &tasks, e))
        return -1;
    for (size_t i = 0; i < tasks.count; i++) {
        SCOPED(stage_list_fini) stage_list stages = {.rows = NULL};
        if (stage_list_read(tx, tasks.rows[i].id, &stages, e))
            return -1;
        for (size_t k = 0; k < stages.count; k++) {
            if (add_spec(tx, &stages.rows[k], out, e))
                return err_wrap(e, "task %s", tasks.rows[i].id);
        }
    }
    return 0;
}

typedef struct redact_job {
    const char *text;
    bool apply;
    int64_t now_ms;
    redact_plan *out;
} redact_job;

static int redact_fn(store_tx *tx, void *arg, err *e)
{
    const redact_job *job = arg;
    SCOPED(run_row_fini) run_row run = {.id = NULL};
    SCOPED(specs_fini) specs found = {.names = NULL};
    if (run_find(tx, job->text, &run, e) || find_specs(tx, run.id, &found, e))
        return -1;
    *job->out =
        (redact_plan){.finished = run.state == RUN_COMPLETE, .already = run.redacted_ms > 0};
    memccpy(job->out->run, run.id, 0, ID_TEXT - 1);
    const redact_request request = {.run = run.id,
                                    .also = found.names,
                                    .also_count = found.count,
                                    .apply = job->apply,
                                    .now_ms = job->now_ms};
    return redact_run(tx, &request, &job->out->counts, e);
}

int redact_look(store *s, const char *text, redact_plan *out, err *e)
{
    redact_job job = {.text = text, .out = out};
    return store_run(s, redact_fn, &job, e);
}

int redact_do(store *s, const char *run, int64_t now_ms, redact_plan *out, err *e)
{
    redact_job job = {.text = run, .apply = true, .now_ms = now_ms, .out = out};
    return store_run(s, redact_fn, &job, e);
}
