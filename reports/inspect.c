/* inspect - everything that is stored of a run or of a task
 *
 * One JSON tree is built of what is asked for. Printed for people it is the same tree, one line a
 * value, so that nothing is shown in one form and missing in the other.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/inspect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "reports/board.h"
#include "reports/text.h"
#include "store/artifact.h"
#include "store/call.h"
#include "store/charge.h"
#include "store/event.h"
#include "store/late.h"
#include "store/run.h"
#include "store/stage.h"
#include "store/task.h"

const char *const inspect_parts[] = {"source", "plan", "log", "report", "answers", NULL};

typedef struct asking {
    const char *name;
    bool as_json;
    inspect_part part;
    buf *out;
} asking;

static void set_hash(json *object, const char *key, const hash *value)
{
    char hex[HASH_HEX];
    hash_hex(value, hex);
    json_set_str(object, key, hash_is_zero(value) ? NULL : hex);
}

static void set_count(json *object, const char *key, int64_t value)
{
    if (value < 0)
        json_set_null(object, key);
    else
        json_set_int(object, key, value);
}

static json *parsed(const char *text)
{
    json *value = json_parse_tree(text, strlen(text), "database", NULL);
    return value != NULL ? value : json_new_str(text);
}

/* The name of an entrant, or null for a contract check. */
static void set_entrant(json *object, const entrant_list *entrants, int64_t id)
{
    const char *name = NULL;
    for (size_t i = 0; i < entrants->count; i++)
        if (entrants->rows[i].id == id)
            name = entrants->rows[i].name;
    json_set_str(object, "entrant", name);
}

/* ---- a task ---- */

static json *result_json(const task_row *task)
{
    const result_row *r = &task->outcome;
    json *out = json_new_object();
    json_set_str(out, "outcome", outcome_name(r->result));
    json_set_str(out, "detail", r->detail);
    json_set_str(out, "stage", r->stage);
    json_set_str(out, "text", r->text);
    json_set_real(out, "speedup", r->speedup);
    json_set_str(out, "reason", r->reason);
    json_set_str(out, "verdict", r->verdict);
    json_set_str(out, "verdict_reason", r->verdict_reason);
    json_set_real(out, "ci_low", r->ci_low);
    json_set_real(out, "ci_high", r->ci_high);
    json_set_real(out, "floor_ms", r->floor_ms);
    if (r->device_kind != NULL && strcmp(r->device_kind, "fake") == 0)
        json_set_str(out, "note", "scripted times, not a measurement");
    json_set_real(out, "candidate_ms", r->candidate_ms);
    json_set_real(out, "baseline_ms", r->baseline_ms);
    json_set_str(out, "baseline_mode", r->baseline_mode);
    json_set_str(out, "marks", r->marks);
    json_set_str(out, "device", r->device);
    json_set_str(out, "device_kind", r->device_kind);
    json_set_str(out, "device_uuid", r->device_uuid);
    json_set_str(out, "driver", r->driver);
    json_set_str(out, "torch", r->torch);
    json_set_str(out, "nvrtc", r->nvrtc);
    json_set_str(out, "correct_protocol", r->correct_protocol);
    json_set_str(out, "timing_protocol", r->timing_protocol);
    json *modelled = r->modelled != NULL ? parsed(r->modelled) : json_new_null();
    json_set(out, "modelled", &modelled);
    json *profile = r->profile != NULL ? parsed(r->profile) : json_new_null();
    json *lineage = r->lineage != NULL ? parsed(r->lineage) : json_new_null();
    json_set(out, "profile", &profile);
    json_set(out, "lineage", &lineage);
    json_set_str(out, "sanitizer", r->sanitizer);
    set_hash(out, "source", &r->source);
    set_hash(out, "plan", &r->plan);
    json_set_real(out, "wall_ms", r->wall_ms);
    json_set_real(out, "device_ms", r->device_ms);
    set_count(out, "calls", r->calls);
    return out;
}

static int set_stages(store_tx *tx, const char *task, json *root, err *e)
{
    SCOPED(stage_list_fini) stage_list stages = {0};
    if (stage_list_read(tx, task, &stages, e) < 0)
        return -1;
    json *list = json_new_array();
    for (size_t i = 0; i < stages.count; i++) {
        const stage_row *s = &stages.rows[i];
        json *one = json_new_object();
        json_set_str(one, "stage", s->stage);
        json_set_str(one, "status", s->status);
        json_set_str(one, "outcome", outcome_name(s->result));
        json_set_str(one, "detail", s->detail);
        json_set_str(one, "text", s->text);
        json_set_str(one, "notes", s->notes);
        json_set_real(one, "wall_ms", s->wall_ms);
        json_set_real(one, "device_ms", s->device_ms);
        json_set_int(one, "calls", s->calls);
        json_set_int(one, "lease", s->token);
        set_hash(one, "record", &s->record);
        json_append(list, &one);
    }
    json_set(root, "stages", &list);
    return 0;
}

static int set_attempts(store_tx *tx, const char *task, json *root, err *e)
{
    SCOPED(attempt_list_fini) attempt_list attempts = {0};
    if (attempt_list_read(tx, task, &attempts, e) < 0)
        return -1;
    json *list = json_new_array();
    for (size_t i = 0; i < attempts.count; i++) {
        const attempt_row *a = &attempts.rows[i];
        json *one = json_new_object();
        json_set_int(one, "number", a->number);
        json_set_str(one, "stage", a->stage);
        json_set_str(one, "outcome", outcome_name(a->result));
        json_set_str(one, "detail", a->detail);
        json_set_str(one, "text", a->text);
        json_set_real(one, "compile_ms", a->compile_ms);
        set_count(one, "registers", a->registers);
        set_count(one, "local_bytes", a->local_bytes);
        set_hash(one, "source", &a->source);
        set_hash(one, "plan", &a->plan);
        set_hash(one, "log", &a->log);
        set_hash(one, "report", &a->report);
        json_append(list, &one);
    }
    json_set(root, "attempts", &list);
    return 0;
}

static json *call_json(const call_row *c)
{
    json *one = json_new_object();
    json_set_str(one, "stage", c->stage);
    json_set_int(one, "number", c->number);
    json_set_str(one, "provider", c->provider);
    json_set_str(one, "model", c->model);
    json_set_str(one, "stop", c->stop);
    json_set_str(one, "reason", c->reason);
    set_count(one, "tokens_in", c->tokens_in);
    set_count(one, "tokens_out", c->tokens_out);
    set_count(one, "tokens_cache_read", c->tokens_cache_read);
    set_count(one, "tokens_cache_write", c->tokens_cache_write);
    json_set_real(one, "cost_usd", c->cost_usd);
    json_set_real(one, "latency_ms", c->latency_ms);
    json_set_int(one, "lease", c->token);
    set_hash(one, "prompt", &c->prompt);
    set_hash(one, "answer", &c->answer);
    return one;
}

static int set_calls(store_tx *tx, const char *task, json *root, err *e)
{
    SCOPED(call_list_fini) call_list calls = {0};
    if (call_list_read(tx, task, NULL, &calls, e) < 0)
        return -1;
    json *list = json_new_array();
    for (size_t i = 0; i < calls.count; i++) {
        json *one = call_json(&calls.rows[i]);
        json_append(list, &one);
    }
    json_set(root, "calls", &list);
    return 0;
}

static int set_charges(store_tx *tx, const char *task, json *root, err *e)
{
    SCOPED(charge_list_fini) charge_list charges = {0};
    if (charge_list_read(tx, task, &charges, e) < 0)
        return -1;
    json *list = json_new_array();
    for (size_t i = 0; i < charges.count; i++) {
        const charge_row *c = &charges.rows[i];
        json *one = json_new_object();
        json_set_str(one, "stage", c->stage);
        json_set_int(one, "number", c->number);
        json_set_int(one, "lease", c->token);
        json_set_str(one, "state", charge_state_name(c->state));
        json_set_real(one, "worst_usd", c->worst_usd);
        json_set_real(one, "known_usd", c->known_usd);
        json_set_real(one, "unknown_usd", c->unknown_usd);
        json_set_int(one, "unknown_bills", c->unknown_bills);
        json_append(list, &one);
    }
    json_set(root, "charges", &list);
    return 0;
}

static int set_measurements(store_tx *tx, const char *task, json *root, err *e)
{
    SCOPED(measurement_list_fini) measurement_list measurements = {0};
    if (measurement_list_read(tx, task, &measurements, e) < 0)
        return -1;
    json *list = json_new_array();
    for (size_t i = 0; i < measurements.count; i++) {
        const measurement_row *m = &measurements.rows[i];
        json *one = json_new_object();
        json_set_str(one, "stage", m->stage);
        json_set_str(one, "side", m->side);
        json_set_str(one, "mode", m->mode);
        json_set_str(one, "shape", m->shape);
        json_set_real(one, "median_ms", m->median_ms);
        json_set_str(one, "reason", m->reason);
        json_set_int(one, "samples", m->sample_count);
        json_set_int(one, "slots", m->slots);
        json_set_str(one, "l2", m->l2);
        json_set_real(one, "event_floor_ms", m->event_floor_ms);
        json_set_bool(one, "winner", m->winner);
        set_hash(one, "raw", &m->samples);
        json_append(list, &one);
    }
    json_set(root, "measurements", &list);
    return 0;
}

static int set_events(store_tx *tx, const char *task, json *root, err *e)
{
    SCOPED(event_list_fini) event_list events = {0};
    if (event_list_read(tx, NULL, task, &events, e) < 0)
        return -1;
    json *list = json_new_array();
    for (size_t i = 0; i < events.count; i++) {
        json *one = json_new_object();
        json_set_int(one, "at_ms", events.rows[i].at_ms);
        json_set_str(one, "kind", events.rows[i].kind);
        json_set_str(one, "node", events.rows[i].node);
        json_set_str(one, "detail", events.rows[i].detail);
        json_append(list, &one);
    }
    json_set(root, "events", &list);
    return 0;
}

/* What came under leases that had ended: for audit, never scored. */
static int set_late(store_tx *tx, const char *task, json *root, err *e)
{
    SCOPED(late_list_fini) late_list late = {0};
    if (late_list_read(tx, task, &late, e) < 0)
        return -1;
    json *list = json_new_array();
    for (size_t i = 0; i < late.count; i++) {
        const late_row *l = &late.rows[i];
        json *one = json_new_object();
        json_set_int(one, "at_ms", l->at_ms);
        json_set_str(one, "kind", late_kind_name(l->kind));
        json_set_str(one, "node", l->node);
        json_set_int(one, "token", l->token);
        json_set_int(one, "newest", l->newest);
        json_set_str(one, "outcome", l->outcome);
        json_set_str(one, "reason", l->reason);
        json_append(list, &one);
    }
    json_set(root, "late", &list);
    return 0;
}

static int task_tree(store_tx *tx, const task_row *task, json *root, err *e)
{
    SCOPED(entrant_list_fini) entrant_list entrants = {0};
    if (entrant_list_read(tx, task->run, &entrants, e) < 0)
        return -1;
    json_set_str(root, "task", task->id);
    json_set_str(root, "run", task->run);
    json_set_str(root, "kind", task->kind);
    json_set_str(root, "problem", task->problem);
    set_entrant(root, &entrants, task->entrant);
    json_set_int(root, "sample", task->sample);
    json_set_str(root, "state", task_state_name(task->state));
    json_set_int(root, "leases", task->leases);
    json_set_str(root, "node", task->node);
    json_set_str(root, "error", task->error);
    json *result = task->state == TASK_DONE ? result_json(task) : json_new_null();
    json_set(root, "result", &result);
    if (set_stages(tx, task->id, root, e) < 0 || set_attempts(tx, task->id, root, e) < 0 ||
        set_calls(tx, task->id, root, e) < 0 || set_charges(tx, task->id, root, e) < 0 ||
        set_measurements(tx, task->id, root, e) < 0 || set_late(tx, task->id, root, e) < 0)
        return -1;
    return set_events(tx, task->id, root, e);
}

/* ---- a run ---- */

static void set_entrants(json *root, const entrant_list *entrants)
{
    json *list = json_new_array();
    for (size_t i = 0; i < entrants->count; i++) {
        json *one = json_new_object(), *models = parsed(entrants->rows[i].models);
        json_set_str(one, "name", entrants->rows[i].name);
        json_set(one, "models", &models);
        json_append(list, &one);
    }
    json_set(root, "entrants", &list);
}

static json *task_line(const task_row *t, const entrant_list *entrants)
{
    json *one = json_new_object();
    json_set_str(one, "task", t->id);
    json_set_str(one, "kind", t->kind);
    json_set_str(one, "problem", t->problem);
    set_entrant(one, entrants, t->entrant);
    json_set_int(one, "sample", t->sample);
    json_set_str(one, "state", task_state_name(t->state));
    json_set_str(one, "outcome", t->state == TASK_DONE ? outcome_name(t->outcome.result) : NULL);
    json_set_str(one, "detail", t->outcome.detail);
    json_set_str(one, "error", t->error);
    return one;
}

static void set_tasks(json *root, const task_list *tasks, const entrant_list *entrants)
{
    json *list = json_new_array();
    for (size_t i = 0; i < tasks->count; i++) {
        json *one = task_line(&tasks->rows[i], entrants);
        json_append(list, &one);
    }
    json_set(root, "tasks", &list);
}

/* What the tasks were checked and timed by; while none is done, what the run was started for. */
static board_protocols protocols_of(const run_row *run, const task_list *tasks)
{
    for (size_t i = 0; i < tasks->count; i++) {
        const result_row *r = &tasks->rows[i].outcome;
        if (tasks->rows[i].state == TASK_DONE && r->correct_protocol != NULL)
            return (board_protocols){r->correct_protocol, r->timing_protocol};
    }
    return (board_protocols){run->correct_protocol, run->timing_protocol};
}

static int run_tree(store_tx *tx, const run_row *run, json *root, err *e)
{
    SCOPED(entrant_list_fini) entrant_list entrants = {0};
    SCOPED(task_list_fini) task_list tasks = {0};
    if (entrant_list_read(tx, run->id, &entrants, e) < 0 ||
        task_list_read(tx, run->id, NULL, &tasks, e) < 0)
        return -1;
    const board_protocols used = protocols_of(run, &tasks);
    json *settings = parsed(run->settings);
    json_set_str(root, "run", run->id);
    json_set_str(root, "state", run_state_name(run->state));
    json_set_int(root, "created_ms", run->created_ms);
    if (run->finished_ms > 0)
        json_set_int(root, "finished_ms", run->finished_ms);
    else
        json_set_null(root, "finished_ms");
    json_set_str(root, "suite", run->suite);
    json_set_str(root, "suite_version", run->suite_version);
    set_hash(root, "suite_hash", &run->suite_hash);
    json_set_str(root, "device", run->device);
    json_set_int(root, "seed", run->seed);
    json_set_int(root, "samples", run->samples);
    json_set_str(root, "correct_protocol", used.correctness);
    json_set_str(root, "timing_protocol", used.timing);
    json_set_bool(root, "redacted", run->redacted_ms > 0);
    json_set_str(root, "command", run->command);
    json_set_str(root, "version", run->version);
    json_set(root, "settings", &settings);
    set_entrants(root, &entrants);
    set_tasks(root, &tasks, &entrants);
    return 0;
}

/* ---- printing for people ---- */

static void indent(buf *out, int depth)
{
    for (int i = 0; i < depth; i++)
        buf_puts(out, "  ");
}

static bool is_nested(const json *value)
{
    return json_typeof(value) == JSON_TYPE_ARRAY || json_typeof(value) == JSON_TYPE_OBJECT;
}

/* Points in time, which people read as dates; other _ms values are durations. */
static bool is_date(const char *key)
{
    static const char *const keys[] = {"created_ms", "finished_ms", "at_ms"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static void print_string(buf *out, const char *text)
{
    hash name;
    if (hash_parse(text, &name))
        buf_printf(out, "%.12s", text); /* enough to recognise it; --json has it whole */
    else
        buf_puts(out, text);
}

static void print_plain(buf *out, const char *key, const json *value)
{
    if (json_typeof(value) == JSON_TYPE_STRING) {
        print_string(out, json_str(value, ""));
    } else if (json_typeof(value) == JSON_TYPE_REAL) {
        buf_printf(out, "%.6g", json_real(value, 0));
    } else if (is_date(key)) {
        text_date(out, json_int(value, 0));
    } else {
        SCOPED(scoped_free) char *text = json_dump(value);
        buf_puts(out, text);
    }
}

/* A row of a list on one line: its values that are not null, "name value". */
static void print_row(buf *out, const json *row, int depth)
{
    indent(out, depth);
    bool first = true;
    for (json_iter it = {0}; json_next(row, &it);) {
        if (json_typeof(it.value) == JSON_TYPE_NULL)
            continue;
        buf_printf(out, "%s%s ", first ? "" : ", ", it.key);
        print_plain(out, it.key, it.value);
        first = false;
    }
    buf_puts(out, "\n");
}

static void print_member(buf *out, const char *key, const json *value, int depth)
{
    if (json_typeof(value) == JSON_TYPE_NULL || (is_nested(value) && json_size(value) == 0))
        return;
    indent(out, depth);
    if (!is_nested(value)) {
        buf_printf(out, "%-18s", key);
        print_plain(out, key, value);
        buf_puts(out, "\n");
        return;
    }
    buf_printf(out, "%s\n", key);
    for (size_t i = 0; i < json_size(value); i++) {
        if (json_typeof(value) == JSON_TYPE_ARRAY)
            print_row(out, json_at(value, i), depth + 1);
        else
            print_member(out, json_key_at(value, i), json_get(value, json_key_at(value, i)),
                         depth + 1);
    }
}

static void print_tree(buf *out, const json *root)
{
    for (json_iter it = {0}; json_next(root, &it);)
        print_member(out, it.key, it.value, 0);
}

static int tree_of(store_tx *tx, const char *name, json *root, err *e)
{
    err why = {0};
    SCOPED(run_row_fini) run_row run = {0};
    SCOPED(task_row_fini) task_row task = {0};
    if (run_find(tx, name, &run, &why) == 0)
        return run_tree(tx, &run, root, e);
    if (why.code != ERR_NOT_FOUND)
        return err_set(e, why.code, "%s", why.text);
    if (task_find(tx, name, &task, &why) == 0)
        return task_tree(tx, &task, root, e);
    if (why.code != ERR_NOT_FOUND)
        return err_set(e, why.code, "%s", why.text);
    return err_set(e, ERR_NOT_FOUND, "there is no run and no task %s", name != NULL ? name : "yet");
}

static int write_fn(store_tx *tx, void *arg, err *e)
{
    const asking *a = arg;
    SCOPED(json_destroy) json *root = json_new_object();
    if (tree_of(tx, a->name, root, e) < 0)
        return -1;
    if (a->as_json) {
        SCOPED(scoped_free) char *text = json_dump_pretty(root);
        buf_puts(a->out, text);
    } else {
        print_tree(a->out, root);
    }
    return 0;
}

int inspect_write(store *db, const char *name, bool as_json, buf *out, err *e)
{
    asking a = {.name = name, .as_json = as_json, .out = out};
    return store_run(db, write_fn, &a, e);
}

/* ---- stored texts ---- */

static hash part_of(const attempt_row *a, inspect_part part)
{
    switch (part) {
    case INSPECT_SOURCE:
        return a->source;
    case INSPECT_PLAN:
        return a->plan;
    case INSPECT_LOG:
        return a->log;
    case INSPECT_REPORT:
        return a->report;
    case INSPECT_ANSWERS:
        break;
    }
    return (hash){0};
}

static int newest_part(store_tx *tx, const task_row *task, inspect_part part, hash *out, err *e)
{
    if (part == INSPECT_SOURCE || part == INSPECT_PLAN)
        *out = part == INSPECT_SOURCE ? task->outcome.source : task->outcome.plan;
    SCOPED(attempt_list_fini) attempt_list attempts = {0};
    if (attempt_list_read(tx, task->id, &attempts, e) < 0)
        return -1;
    for (size_t i = attempts.count; i > 0 && hash_is_zero(out); i--)
        *out = part_of(&attempts.rows[i - 1], part);
    if (hash_is_zero(out))
        return err_set(e, ERR_NOT_FOUND, "task %s has no %s", task->id, inspect_parts[part]);
    return 0;
}

static int show_answers(store_tx *tx, const task_row *task, buf *out, err *e)
{
    SCOPED(call_list_fini) call_list calls = {0};
    if (call_list_read(tx, task->id, NULL, &calls, e) < 0)
        return -1;
    if (calls.count == 0)
        return err_set(e, ERR_NOT_FOUND, "task %s has no recorded answers", task->id);
    for (size_t i = 0; i < calls.count; i++) {
        const call_row *c = &calls.rows[i];
        buf_printf(out, "==== %s %" PRId64 ": %s:%s, %s\n", c->stage, c->number, c->provider,
                   c->model, c->stop);
        bool whole = false;
        if (!hash_is_zero(&c->answer) && artifact_has(tx, &c->answer, &whole, e) < 0)
            return -1;
        if (!hash_is_zero(&c->answer) && !whole)
            buf_puts(out, "(redacted)");
        else if (whole && artifact_get(tx, &c->answer, out, e) < 0)
            return -1;
        buf_puts(out, "\n");
    }
    return 0;
}

static int show_fn(store_tx *tx, void *arg, err *e)
{
    const asking *a = arg;
    SCOPED(task_row_fini) task_row task = {0};
    if (task_find(tx, a->name, &task, e) < 0)
        return -1;
    if (a->part == INSPECT_ANSWERS)
        return show_answers(tx, &task, a->out, e);
    hash name = {0};
    if (newest_part(tx, &task, a->part, &name, e) < 0)
        return -1;
    return artifact_get(tx, &name, a->out, e);
}

int inspect_show(store *db, const char *task, inspect_part part, buf *out, err *e)
{
    asking a = {.name = task, .part = part, .out = out};
    return store_run(db, show_fn, &a, e);
}
