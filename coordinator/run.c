/* run - one job writes a run, one job reads it
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/run.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "coordinator/local_node.h"
#include "coordinator/replay.h"
#include "store/artifact.h"
#include "store/call.h"
#include "store/charge.h"
#include "store/night.h"
#include "store/run.h"
#include "store/stage.h"
#include "store/task.h"
#include "suites/contract.h"

#define CORRECT_PROTOCOL "ce-correct-1"
#define TIMING_PROTOCOL  "ce-timing-1"

enum { TOKEN_BITS = 32 }; /* of what one coordinator gives out */

/* ---- creating ---- */
typedef struct creation {
    const run_request *request;
    char *id;
    int64_t *entrants; /* row ids */
    replay **replays;  /* per entrant; NULL: none */
} creation;

/* A problem's texts, as the specs of its tasks name them. */
typedef struct texts {
    char *contract;
    hash contract_hash, prompt, reference, gold_source, gold_plan;
    char *reference_file;
} texts;

static void texts_fini(texts *self)
{
    free(self->contract);
    free(self->reference_file);
}

/* The path a person would type: relative where that is possible. */
static char *readable_path(const problem *p)
{
    SCOPED(scoped_free)
    char *path =
        p->reference_file ? xstrdup(p->reference_file) : file_join(p->folder, "reference.py");
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return TAKE(path);
    size_t size = strlen(here);
    bool inside = strncmp(path, here, size) == 0 && path[size] == '/';
    return xstrdup(inside ? path + size + 1 : path);
}

static int put_texts(store_tx *tx, const problem *p, texts *out, err *e)
{
    if (artifact_put_text(tx, p->prompt, &out->prompt, e) ||
        artifact_put_text(tx, p->reference, &out->reference, e) ||
        artifact_put_text(tx, p->gold_source, &out->gold_source, e) ||
        artifact_put_text(tx, p->gold_plan, &out->gold_plan, e))
        return -1;
    out->contract = contract_text(p->terms);
    out->contract_hash = contract_hash(p->terms);
    out->reference_file = readable_path(p);
    return 0;
}

static int put_problem(store_tx *tx, const creation *c, size_t i, const texts *t, err *e)
{
    const problem *p = c->request->selection->problems[i];
    problem_row row = {.run = c->id,
                       .id = p->id,
                       .position = (int64_t)i,
                       .title = p->title,
                       .category = p->category,
                       .dtype = dtype_name(p->terms->tensors[p->terms->input_count].type),
                       .contract = t->contract,
                       .contract_hash = t->contract_hash,
                       .prompt = t->prompt,
                       .reference = t->reference,
                       .gold_source = t->gold_source,
                       .gold_plan = t->gold_plan};
    return problem_insert(tx, &row, e);
}

/* What all tasks of a problem have in common; the text is borrowed from settings and texts. */
static task_spec spec_of(const creation *c, size_t i, const texts *t)
{
    const settings *s = c->request->settings;
    const selection *chosen = c->request->selection;
    return (task_spec){.run = c->id,
                       .problem = chosen->problems[i]->id,
                       .suite = chosen->suite_of[i]->id,
                       .contract = t->contract,
                       .contract_hash = t->contract_hash,
                       .prompt = t->prompt,
                       .reference = t->reference,
                       .reference_file = t->reference_file,
                       .gold_source = t->gold_source,
                       .gold_plan = t->gold_plan,
                       .seed = s->seed,
                       .device = s->device,
                       .arch = s->arch,
                       .target = s->target};
}

static int put_task(store_tx *tx, const creation *c, const task_spec *spec, int64_t entrant, err *e)
{
    char id[ID_TEXT];
    id_new(id);
    SCOPED(scoped_free) char *text = task_spec_write(spec);
    task_row row = {.id = id,
                    .run = c->id,
                    .kind = entrant ? "synthesize" : "contract",
                    .problem = spec->problem,
                    .entrant = entrant,
                    .sample = spec->sample};
    return artifact_put_text(tx, text, &row.spec, e) || task_insert(tx, &row, e) ? -1 : 0;
}

static int put_contract_task(store_tx *tx, const creation *c, size_t i, const texts *t, err *e)
{
    task_spec spec = spec_of(c, i, t);
    const docket *cases = c->request->docket;
    SCOPED(scoped_free)
    char *kind = xstrdup(cases && !cases->foreign ? "validate" : "contract");
    spec.kind = kind;
    return put_task(tx, c, &spec, 0, e);
}

static int put_sample(store_tx *tx, const creation *c, task_spec *spec, size_t entrant, err *e)
{
    const settings *s = c->request->settings;
    const settings_entrant *competitor = &s->entrants[entrant];
    spec->entrant = competitor->name;
    memcpy(spec->models, competitor->models, sizeof spec->models);
    memcpy(spec->budgets, competitor->budgets, sizeof spec->budgets);
    spec->escalation = competitor->escalation;
    spec->demands = competitor->demands;
    spec->demand_count = competitor->demand_count;
    if (c->replays[entrant] && replay_fill(tx, c->replays[entrant], spec, e))
        return -1;
    int result = put_task(tx, c, spec, c->entrants[entrant], e);
    replay_clear(spec);
    return result;
}

/* The kernel on trial stands where gold's would, so that `gold` answers with it. */
static int put_trial(store_tx *tx, const creation *c, task_spec *spec, const docket_case *t, err *e)
{
    SCOPED(scoped_free) char *text = docket_write(t);
    spec->sample = t->sample;
    spec->trial = text;
    spec->sanitize = t->kernel != NULL && t->kernel->sanitize;
    if (t->kernel && (artifact_put_text(tx, t->kernel->source, &spec->gold_source, e) ||
                      artifact_put_text(tx, t->kernel->plan, &spec->gold_plan, e)))
        return -1;
    return put_sample(tx, c, spec, t->entrant, e);
}

static int put_trials(store_tx *tx, const creation *c, size_t i, const texts *t, err *e)
{
    const docket *all = c->request->docket;
    char kind[] = "synthesize";
    for (size_t k = 0; k < all->count; k++) {
        task_spec spec = spec_of(c, i, t);
        spec.kind = kind;
        if (all->items[k].problem == c->request->selection->problems[i] &&
            put_trial(tx, c, &spec, &all->items[k], e))
            return -1;
    }
    return 0;
}

static int put_samples(store_tx *tx, const creation *c, size_t i, const texts *t, err *e)
{
    const settings *s = c->request->settings;
    task_spec spec = spec_of(c, i, t);
    char kind[] = "synthesize";
    spec.kind = kind;
    for (size_t entrant = 0; entrant < s->entrant_count; entrant++) {
        for (spec.sample = 0; spec.sample < s->samples; spec.sample++) {
            if (put_sample(tx, c, &spec, entrant, e))
                return -1;
        }
    }
    return 0;
}

static int put_problems(store_tx *tx, const creation *c, err *e)
{
    for (size_t i = 0; i < c->request->selection->count; i++) {
        SCOPED(texts_fini) texts t = {.contract = NULL};
        if (put_texts(tx, c->request->selection->problems[i], &t, e) ||
            put_problem(tx, c, i, &t, e) || put_contract_task(tx, c, i, &t, e) ||
            (c->request->docket ? put_trials : put_samples)(tx, c, i, &t, e))
            return err_wrap(e, "problem %s", c->request->selection->problems[i]->id);
    }
    return 0;
}

static int put_entrants(store_tx *tx, const creation *c, err *e)
{
    const settings *s = c->request->settings;
    for (size_t i = 0; i < s->entrant_count; i++) {
        SCOPED(scoped_free) char *models = settings_models(&s->entrants[i]);
        entrant_row row = {.run = c->id, .name = s->entrants[i].name, .models = models};
        if (entrant_insert(tx, &row, &c->entrants[i], e))
            return -1;
    }
    return 0;
}

/* Before the run's own row is there: "latest" must not mean the new run itself. */
static int open_replays(store_tx *tx, const creation *c, err *e)
{
    const settings *s = c->request->settings;
    for (size_t i = 0; i < s->entrant_count; i++) {
        const char *source = run_replay_of(&s->entrants[i]);
        if (source && !(c->replays[i] = replay_open(tx, source, s->entrants[i].name, e)))
            return -1;
    }
    return 0;
}

static int put_run(store_tx *tx, const creation *c, err *e)
{
    const settings *s = c->request->settings;
    const selection *chosen = c->request->selection;
    SCOPED(scoped_free) char *text = settings_write(s);
    run_row row = {.id = c->id,
                   .created_ms = c->request->now_ms,
                   .state = RUN_CHECKING,
                   .kind = c->request->docket ? RUN_VALIDATE : RUN_EVAL,
                   .suite = chosen->name,
                   .suite_version = chosen->version,
                   .suite_hash = chosen->content,
                   .device = s->device,
                   .seed = s->seed,
                   .samples = s->samples,
                   .correct_protocol = CORRECT_PROTOCOL,
                   .timing_protocol = TIMING_PROTOCOL,
                   .settings = text,
                   .command = c->request->command,
                   .version = c->request->version,
                   .budget_usd = s->budget_usd};
    if (run_insert(tx, &row, e))
        return -1;
    return c->request->night ? night_link(tx, c->request->night, c->id, c->request->again, e) : 0;
}

static int create_job(store_tx *tx, void *arg, err *e)
{
    const creation *c = arg;
    return open_replays(tx, c, e) || put_run(tx, c, e) || put_entrants(tx, c, e) ||
                   put_problems(tx, c, e)
               ? -1
               : 0;
}

int run_create(store *s, const run_request *request, char id[ID_TEXT], err *e)
{
    size_t entrants = request->settings->entrant_count;
    creation c = {.request = request,
                  .id = id,
                  .entrants = xcalloc(entrants + 1, sizeof *c.entrants),
                  .replays = xcalloc(entrants + 1, sizeof *c.replays)};
    id_new(id);
    int result = store_run(s, create_job, &c, e);
    for (size_t i = 0; i < entrants; i++)
        replay_close(&c.replays[i]);
    free(c.replays);
    free(c.entrants);
    return result;
}

const char *run_replay_of(const settings_entrant *entrant)
{
    static const char prefix[] = "replay:";
    for (size_t i = 0; i < SPEC_STAGES; i++) {
        if (str_starts(entrant->models[i], prefix))
            return entrant->models[i] + sizeof prefix - 1;
    }
    return NULL;
}

/* ---- opening ---- */
typedef struct opening {
    run *self;
    const char *text;
    int64_t now_ms;
    int64_t *entrants; /* row ids, by number */
} opening;

static int read_settings(store_tx *tx, opening *o, err *e)
{
    SCOPED(run_row_fini) run_row row = {.id = NULL};
    if (run_find(tx, o->text, &row, e))
        return -1;
    memccpy(o->self->id, row.id, 0, ID_TEXT - 1);
    if (row.redacted_ms && row.state != RUN_COMPLETE)
        return err_set(e, ERR_USAGE, "run %s was redacted: without its texts it cannot go on",
                       row.id);
    o->self->budget_usd = row.budget_usd;
    o->self->kind = row.kind;
    o->self->last_token = row.opened << TOKEN_BITS;
    if (settings_read(row.settings, strlen(row.settings), &o->self->settings, e))
        return err_wrap(e, "run %s", row.id);
    return 0;
}

static int read_entrants(store_tx *tx, opening *o, err *e)
{
    SCOPED(entrant_list_fini) entrant_list list = {.rows = NULL};
    if (entrant_list_read(tx, o->self->id, &list, e))
        return -1;
    o->self->entrants = xcalloc(list.count + 1, sizeof *o->self->entrants);
    o->entrants = xcalloc(list.count + 1, sizeof *o->entrants);
    for (size_t i = 0; i < list.count; i++) {
        o->self->entrants[i] = xstrdup(list.rows[i].name);
        o->entrants[i] = list.rows[i].id;
    }
    o->self->entrant_count = list.count;
    return 0;
}

static size_t entrant_number(const opening *o, int64_t id)
{
    for (size_t i = 0; i < o->self->entrant_count; i++) {
        if (o->entrants[i] == id)
            return i;
    }
    return SCHED_NONE;
}

/* What earlier leases of a waiting task have finished. */
static int read_progress(store_tx *tx, run *self, size_t task, err *e)
{
    const char *id = sched_get(self->tasks, task)->id;
    SCOPED(stage_list_fini) stage_list stages = {.rows = NULL};
    SCOPED(call_list_fini) call_list calls = {.rows = NULL};
    if (stage_list_read(tx, id, &stages, e) || call_list_read(tx, id, NULL, &calls, e))
        return -1;
    for (size_t i = 0; i < stages.count; i++)
        sched_add_stage(self->tasks, task, stages.rows[i].stage, &stages.rows[i].record);
    for (size_t i = 0; i < calls.count; i++)
        sched_add_call(self->tasks, task, calls.rows[i].stage, calls.rows[i].number,
                       &calls.rows[i].record);
    return 0;
}

static int read_task(store_tx *tx, const task_brief *row, void *arg, err *e)
{
    const opening *o = arg;
    run *self = o->self;
    bool is_contract = strcmp(row->kind, "contract") == 0;
    sched_new task = {.id = row->id,
                      .kind = is_contract ? SCHED_CONTRACT : SCHED_SYNTHESIZE,
                      .problem = row->problem,
                      .entrant = is_contract ? SCHED_NONE : entrant_number(o, row->entrant),
                      .spec = row->spec};
    if (row->token > self->last_token)
        self->last_token = row->token;
    if (row->state == TASK_DONE) {
        sched_add_done(self->tasks, &task, row->result);
        return 0;
    }
    size_t number = sched_add(self->tasks, &task);
    /* The local node died with its coordinator; another one may have the task still. */
    if (row->state == TASK_LEASED && strcmp(row->node, LOCAL_NODE_NAME) != 0)
        sched_park(self->tasks, number);
    return row->leases ? read_progress(tx, self, number, e) : 0;
}

static int read_needs(store_tx *tx, const run *self, err *e)
{
    SCOPED(problem_list_fini) problem_list list = {.rows = NULL};
    if (problem_list_read(tx, self->id, &list, e))
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        const char *text = list.rows[i].contract;
        SCOPED(contract_destroy)
        contract *terms = contract_parse(text, strlen(text), list.rows[i].id, e);
        if (!terms)
            return -1;
        sched_need(self->tasks, list.rows[i].id, &terms->needs);
    }
    return 0;
}

static int read_tasks(store_tx *tx, opening *o, err *e)
{
    o->self->tasks = sched_create();
    if (read_needs(tx, o->self, e))
        return -1;
    return task_each(tx, o->self->id, read_task, o, e);
}

static int read_usage(store_tx *tx, run *self, err *e)
{
    usage_sum used;
    if (usage_sum_read(tx, self->id, &used, e))
        return -1;
    self->calls = used.calls;
    self->unpriced = used.cost_unknown;
    self->spent_usd = used.cost_usd;
    charge_sum sum;
    if (charge_sum_read(tx, self->id, &sum, e))
        return -1;
    self->charged_usd = sum.usd;
    return 0;
}

static int open_job(store_tx *tx, void *arg, err *e)
{
    opening *o = arg;
    return read_settings(tx, o, e) || run_count_opening(tx, o->self->id, e) ||
                   read_entrants(tx, o, e) || read_tasks(tx, o, e) ||
                   task_recover(tx, o->self->id, true, o->now_ms, e) || read_usage(tx, o->self, e)
               ? -1
               : 0;
}

run *run_open(store *s, const char *text, int64_t now_ms, err *e)
{
    SCOPED(run_destroy) run *self = xcalloc(1, sizeof *self);
    opening o = {.self = self, .text = text, .now_ms = now_ms};
    int result = store_run(s, open_job, &o, e);
    free(o.entrants);
    return result ? NULL : TAKE(self);
}

void run_destroy(run **self)
{
    if (!*self)
        return;
    for (size_t i = 0; i < (*self)->entrant_count; i++)
        free((*self)->entrants[i]);
    free((*self)->entrants);
    sched_destroy(&(*self)->tasks);
    settings_fini(&(*self)->settings);
    free(*self);
    *self = NULL;
}
