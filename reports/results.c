/* results - the board as JSON and CSV, for programs
 *
 * SPDX-License-Identifier: MIT */
#include "reports/results.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/decimal.h"
#include "common/json.h"
#include "common/json_out.h"
#include "common/scoped.h"
#include "reports/claimed.h"
#include "store/detail.h"

enum { CSV_DIGITS = 9, BATCH_MAX = 512 };

/* ---- JSON ---- */

static void set_hash(json *object, const char *key, const hash *value)
{
    char hex[HASH_HEX];
    hash_hex(value, hex);
    json_set_str(object, key, hash_is_zero(value) ? NULL : hex);
}

/* Text that is JSON already; a broken one is kept as a string. */
static json *parsed(const char *text)
{
    json *value = json_parse_tree(text, strlen(text), "database", NULL);
    return value != NULL ? value : json_new_str(text);
}

static void set_tree(json *object, const char *key, json *value)
{
    json_set(object, key, &value);
}

static const char *first_field(const board *b, const board_run *run, size_t offset)
{
    for (size_t i = 0; i < b->task_count; i++) {
        const char *value;
        memcpy(&value, (const char *)b->tasks[i].row->facts + offset, sizeof value);
        if (b->tasks[i].run == run && value != NULL)
            return value;
    }
    return NULL;
}

static json *device_json(const board *b, const board_run *run)
{
    json *device = json_new_object();
    json_set_str(device, "asked", run->row.device);
    json_set_str(device, "kind", first_field(b, run, offsetof(board_facts, device_kind)));
    json_set_str(device, "name", first_field(b, run, offsetof(board_facts, device)));
    json_set_str(device, "driver", first_field(b, run, offsetof(board_facts, driver)));
    json_set_str(device, "torch", first_field(b, run, offsetof(board_facts, torch)));
    json_set_str(device, "nvrtc", first_field(b, run, offsetof(board_facts, nvrtc)));
    return device;
}

static json *suite_json(const board_run *run)
{
    json *suite = json_new_object();
    json_set_str(suite, "id", run->row.suite);
    json_set_str(suite, "version", run->row.suite_version);
    set_hash(suite, "hash", &run->row.suite_hash);
    return suite;
}

static json *protocol_json(const board_run *run)
{
    json *protocol = json_new_object();
    const board_protocols used = run->protocols;
    json_set_str(protocol, "correctness", used.correctness);
    json_set_str(protocol, "timing", used.timing);
    return protocol;
}

static void set_time(json *object, const char *key, int64_t wall_ms)
{
    if (wall_ms > 0)
        json_set_int(object, key, wall_ms);
    else
        json_set_null(object, key);
}

/* Cost by entrant and stage. */
static json *spend_json(const board_run *run, bool stable)
{
    json *list = json_new_array();
    for (size_t i = 0; i < run->sums.spend.count; i++) {
        const spend_row *s = &run->sums.spend.rows[i];
        json *row = json_new_object();
        for (size_t k = 0; k < run->entrants.count; k++)
            if (run->entrants.rows[k].id == s->entrant)
                json_set_str(row, "entrant", run->entrants.rows[k].name);
        json_set_str(row, "stage", s->stage);
        json_set_str(row, "provider", s->provider);
        json_set_int(row, "calls", s->calls);
        json_set_int(row, "tokens_in", s->tokens_in);
        json_set_int(row, "tokens_cache_read", s->tokens_cache_read);
        json_set_int(row, "tokens_cache_write", s->tokens_cache_write);
        json_set_int(row, "tokens_out", s->tokens_out);
        if (!stable)
            json_set_real(row, "latency_ms", s->latency_ms);
        json_set_real(row, "cost_usd", s->cost_usd);
        json_set_int(row, "cost_unknown_calls", s->cost_unknown);
        json_set_int(row, "unknown_calls", s->unknown_calls);
        json_set_real(row, "unknown_usd", s->unknown_usd);
        json_append(list, &row);
    }
    return list;
}

static json *run_json(const board *b, const board_run *run, bool stable)
{
    json *out = json_new_object();
    if (!stable) {
        json_set_str(out, "id", run->row.id);
        set_time(out, "created_ms", run->row.created_ms);
        set_time(out, "finished_ms", run->row.finished_ms);
        json_set_str(out, "command", run->row.command);
        json_set_str(out, "version", run->row.version);
        json_set_int(out, "seed", run->row.seed);
        json_set_real(out, "budget_usd",
                      run->row.budget_usd > 0 ? run->row.budget_usd : (double)NAN);
    }
    json_set_str(out, "state", run_state_name(run->row.state));
    set_tree(out, "suite", suite_json(run));
    set_tree(out, "device", device_json(b, run));
    set_tree(out, "protocol", protocol_json(run));
    json_set_bool(out, "redacted", run->row.redacted_ms > 0);
    set_tree(out, "spend", spend_json(run, stable));
    json_set_int(out, "problems", (int64_t)run->problems.count);
    json_set_int(out, "samples", run->row.samples);
    json_set_int(out, "planned", run->counts.planned);
    json_set_int(out, "scored", run->counts.scored);
    json_set_bool(out, "ranked", board_run_rankable(run));
    json_set_bool(out, "provisional", run->row.samples < BOARD_PROVISIONAL_BELOW);
    return out;
}

static double share_of(size_t k, size_t n)
{
    return n > 0 ? (double)k / (double)n : (double)NAN;
}

static json *fast_json(const agg *a)
{
    json *list = json_new_array();
    for (size_t t = 0; t < AGG_THRESHOLDS; t++) {
        json *row = json_new_object();
        json_set_real(row, "p", agg_thresholds[t]);
        json_set_int(row, "count", (int64_t)a->fast[t]);
        json_set_real(row, "share", share_of(a->fast[t], a->declared));
        json_set_int(row, "certified", (int64_t)a->certified[t]);
        json_set_real(row, "certified_share", share_of(a->certified[t], a->declared));
        json_append(list, &row);
    }
    return list;
}

static json *pass_json(const agg *a)
{
    json *list = json_new_array();
    for (size_t k = 0; k < AGG_KS; k++) {
        json *row = json_new_object();
        json_set_int(row, "k", (int64_t)agg_ks[k]);
        json_set_real(row, "pass", a->pass[k]);
        json_set_real(row, "certified_fast_1", a->certified_pass[k]);
        json_append(list, &row);
    }
    return list;
}

static void set_place(json *out, const ranking *ranks, size_t entrant)
{
    const ranking_row *row = &ranks->rows[entrant];
    bool has_rank = row->unranked == NULL && !row->is_human;
    json_set_bool(out, "human", row->is_human);
    json_set_bool(out, "on_board", !row->is_apart);
    if (has_rank) {
        json_set_int(out, "rank", (int64_t)row->place.rank);
        json_set_int(out, "rank_low", (int64_t)row->place.low);
        json_set_int(out, "rank_high", (int64_t)row->place.high);
    } else {
        json_set_null(out, "rank");
    }
    json_set_str(out, "unranked", row->unranked);
    json_set_int(out, "covered_problems", (int64_t)row->covered);
    json_set_real(out, "common_geomean", row->common_geomean);
}

static json *snapshots_json(const board_entrant *entrant)
{
    json *list = json_new_array();
    const snapshot_list *all = &entrant->run->sums.snapshots;
    for (size_t i = 0; i < all->count; i++) {
        const snapshot_row *s = &all->rows[i];
        if (s->entrant != entrant->row->id)
            continue;
        json *row = json_new_object();
        json_set_str(row, "stage", s->stage);
        json_set_str(row, "provider", s->provider);
        json_set_str(row, "model", s->model);
        json_set_str(row, "served", s->served);
        json_set_int(row, "calls", s->calls);
        json_append(list, &row);
    }
    return list;
}

static json *failures_json(const agg *a)
{
    json *list = json_new_array();
    for (size_t i = 0; i < a->failure_count; i++) {
        json *row = json_new_object();
        json_set_str(row, "outcome", outcome_name(a->failures[i].result));
        json_set_str(row, "stage", a->failures[i].stage[0] != '\0' ? a->failures[i].stage : NULL);
        json_set_int(row, "count", (int64_t)a->failures[i].count);
        json_append(list, &row);
    }
    return list;
}

static void set_scores(json *out, const agg *a)
{
    json_set_int(out, "declared", (int64_t)a->declared);
    json_set_int(out, "scored", (int64_t)a->scored);
    json_set_int(out, "correct", (int64_t)a->correct);
    json_set_real(out, "correct_low", a->correct_low);
    json_set_real(out, "correct_high", a->correct_high);
    set_tree(out, "fast", fast_json(a));
    json_set_real(out, "certified_low", a->certified_low);
    json_set_real(out, "certified_high", a->certified_high);
    set_tree(out, "pass_at_k", pass_json(a));
    json_set_int(out, "in_scope", (int64_t)a->in_scope);
    json_set_real(out, "gated_geomean", a->gated);
    json_set_int(out, "verdict_same", (int64_t)a->same);
    json_set_int(out, "verdict_inconclusive", (int64_t)a->inconclusive);
    json_set_int(out, "verdict_impossible", (int64_t)a->impossible);
    json_set_int(out, "hidden_passed", (int64_t)a->hidden_passed);
    json_set_int(out, "hidden_failed", (int64_t)a->hidden_failed);
    json_set_int(out, "sanitizer_clean", (int64_t)a->sanitizer[BOARD_SANITIZER_CLEAN]);
    json_set_int(out, "sanitizer_findings", (int64_t)a->sanitizer[BOARD_SANITIZER_FINDING]);
    json_set_int(out, "sanitizer_not_run", (int64_t)a->sanitizer[BOARD_SANITIZER_NOT_RUN]);
    json_set_int(out, "measured", (int64_t)a->measured);
    json_set_real(out, "geomean", a->geomean);
    json_set_real(out, "median", a->median);
    json_set_real(out, "p25", a->p25);
    json_set_real(out, "p75", a->p75);
    json_set_int(out, "losses", (int64_t)a->losses);
    json_set_int(out, "gemm_measured", (int64_t)a->gemm_measured);
    json_set_real(out, "gemm_geomean", a->gemm_geomean);
    set_tree(out, "failures", failures_json(a));
}

static void set_costs(json *out, const agg *a, bool stable)
{
    json_set_real(out, "cost_usd", a->cost_usd);
    json_set_int(out, "cost_unknown_calls", a->cost_unknown);
    json_set_int(out, "unknown_calls", a->unknown_calls);
    json_set_real(out, "unknown_usd", a->unknown_usd);
    json_set_int(out, "tokens_in", a->tokens_in);
    json_set_int(out, "tokens_out", a->tokens_out);
    json_set_int(out, "tokens_cache_read", a->tokens_cache_read);
    json_set_int(out, "tokens_cache_write", a->tokens_cache_write);
    json_set_int(out, "tokens_unknown_calls", a->tokens_unknown);
    json_set_int(out, "calls", a->calls);
    json_set_int(out, "attempts", a->attempts);
    if (stable)
        return;
    json_set_real(out, "latency_ms_median", a->latency_ms);
    json_set_real(out, "latency_ms_p95", a->latency_p95_ms);
    json_set_real(out, "wall_ms", a->wall_ms);
    json_set_real(out, "device_ms", a->device_ms);
}

static json *entrants_json(const board *b, const agg_list *aggs, const ranking *ranks, bool stable)
{
    json *list = json_new_array();
    for (size_t i = 0; i < aggs->count; i++) {
        size_t index = ranks->order[i];
        const board_entrant *entrant = &b->entrants[index];
        json *row = json_new_object();
        json_set_str(row, "name", entrant->row->name);
        if (!stable)
            json_set_str(row, "run", entrant->run->row.id);
        set_tree(row, "models", parsed(entrant->row->models));
        set_tree(row, "answered", snapshots_json(entrant));
        set_place(row, ranks, index);
        set_scores(row, &aggs->rows[index]);
        set_costs(row, &aggs->rows[index], stable);
        json_append(list, &row);
    }
    return list;
}

/* ---- a task, as one line; keys sorted, as json_dump has them ---- */

static void out_hash(json_out *o, const char *key, const hash *value)
{
    char hex[HASH_HEX];
    if (value != NULL)
        hash_hex(value, hex);
    json_out_str(o, key, value != NULL ? hex : NULL);
}

/* What is written of a task; the details are JSON already: what the emulator counted, what CUPTI told, what each
 * attempt gained. */
typedef struct telling {
    const board *b;
    const board_task *t;
    const detail_row *details;
    bool stable;
} telling;

static void out_speed(json_out *o, const board_task *t)
{
    json_out_str(o, "baseline_mode", isnan(t->baseline_ms) ? NULL : t->row->facts->baseline_mode);
    json_out_real(o, "baseline_ms", t->baseline_ms);
    json_out_int(o, "calls", t->usage->calls);
    json_out_real(o, "candidate_ms", t->candidate_ms);
    json_out_str(o, "category", t->problem->category);
    json_out_real(o, "ci_high", t->ci_high);
    json_out_real(o, "ci_low", t->ci_low);
    json_out_int(o, "cost_unknown_calls", t->usage->cost_unknown);
    json_out_real(o, "cost_usd", t->usage->cost_usd);
}

static void out_outcome(json_out *o, const telling *of)
{
    const board_task *t = of->t;
    const bool stable = of->stable;
    const board_outcome *r = &t->row->outcome;
    const bool done = t->row->state == TASK_DONE;
    json_out_str(o, "detail", r->detail);
    if (!stable)
        json_out_real(o, "device_ms", r->device_ms);
    json_out_str(o, "entrant", of->b->entrants[t->entrant].row->name);
    json_out_real(o, "floor_ms", t->verdict != NULL ? r->floor_ms : (double)NAN);
    if (!stable)
        json_out_int(o, "leases", t->row->leases);
    if (!stable)
        json_out_raw(o, "lineage", of->details->lineage);
    json_out_real(o, "margin", t->margin);
    json_out_str(o, "marks", r->marks);
    json_out_raw(o, "modelled", of->details->modelled);
    if (!stable)
        json_out_str(o, "node", t->row->facts->node);
    json_out_str(o, "outcome", done ? outcome_name(r->result) : NULL);
    out_hash(o, "plan", r->plan);
    json_out_str(o, "problem", t->row->problem);
    if (!stable)
        json_out_raw(o, "profile", of->details->profile);
    json_out_str(o, "reason", t->reason);
}

static void out_rest(json_out *o, const board_task *t, bool stable)
{
    const board_outcome *r = &t->row->outcome;
    if (!stable)
        json_out_str(o, "run", t->run->row.id);
    json_out_int(o, "sample", t->row->sample);
    json_out_str(o, "sanitizer", r->sanitizer);
    out_hash(o, "source", r->source);
    json_out_real(o, "speedup", t->speedup);
    json_out_str(o, "stage", r->stage);
    json_out_str(o, "state", task_state_name(t->row->state));
    if (!stable)
        json_out_str(o, "task", t->row->id);
    json_out_str(o, "text", r->text);
    json_out_int(o, "tokens_in", t->usage->tokens_in);
    json_out_int(o, "tokens_out", t->usage->tokens_out);
    json_out_int(o, "unknown_calls", t->usage->unknown_calls);
    json_out_real(o, "unknown_usd", t->usage->unknown_usd);
    json_out_str(o, "verdict", t->verdict);
    json_out_str(o, "verdict_reason", t->verdict != NULL ? r->verdict_reason : NULL);
    if (!stable)
        json_out_real(o, "wall_ms", r->wall_ms);
}

static void out_task(const telling *of, buf *out)
{
    json_out o = json_out_open(out);
    json_out_int(&o, "attempts", of->t->usage->attempts);
    out_speed(&o, of->t);
    out_outcome(&o, of);
    out_rest(&o, of->t, of->stable);
    json_out_close(&o);
}

/* A member of the root object, indented; one of a text's own line ends is never inside a string. */
static void write_member(buf *out, const char *key, json **value)
{
    SCOPED(scoped_free) char *text = json_dump_pretty(*value);
    json_destroy(value);
    buf_printf(out, "  \"%s\": ", key);
    for (const char *p = text; *p != '\0'; p++)
        if (*p != '\n')
            buf_add(out, p, 1);
        else if (p[1] != '\0')
            buf_puts(out, "\n  ");
    buf_puts(out, ",\n");
}

static void write_runs(const board *b, bool stable, buf *out)
{
    if (b->run_count == 1) {
        json *run = run_json(b, &b->runs[0], stable);
        write_member(out, "run", &run);
        return;
    }
    json *runs = json_new_array();
    for (size_t i = 0; i < b->run_count; i++) {
        json *run = run_json(b, &b->runs[i], stable);
        json_append(runs, &run);
    }
    write_member(out, "runs", &runs);
}

/* Tasks of which the details are read together, so that the store is never busy for long. */
typedef struct batch {
    const board *b;
    size_t first, count;
    bool stable;
    buf *out;
} batch;

static int batch_task(void *arg, size_t index, const detail_row *details, err *e)
{
    (void)e;
    const batch *now = arg;
    const size_t place = now->first + index;
    const telling of = {now->b, &now->b->tasks[place], details, now->stable};
    buf_puts(now->out, place > 0 ? ",\n    " : "\n    ");
    out_task(&of, now->out);
    return 0;
}

static int batch_fn(store_tx *tx, void *arg, err *e)
{
    const batch *now = arg;
    const char *ids[BATCH_MAX];
    for (size_t i = 0; i < now->count; i++) {
        const board_row *row = now->b->tasks[now->first + i].row;
        ids[i] =
            row->state == TASK_DONE ? row->id : NULL; /* what came later is not of this board */
    }
    return detail_each(tx, ids, now->count, batch_task, arg, e);
}

static int write_batch(batch *now, err *e)
{
    static const detail_row none = {"null", "null", "null"};
    if (now->b->db != NULL)
        return store_run(now->b->db, batch_fn, now, e);
    for (size_t i = 0; i < now->count; i++)
        batch_task(now, i, &none, e);
    return 0;
}

/* One a line: there may be a million. */
static int write_tasks(const board *b, bool stable, buf *out, err *e)
{
    buf_puts(out, "  \"tasks\": [");
    for (size_t i = 0; i < b->task_count; i += BATCH_MAX) {
        const size_t left = b->task_count - i;
        batch now = {b, i, left < BATCH_MAX ? left : BATCH_MAX, stable, out};
        if (write_batch(&now, e) < 0)
            return -1;
    }
    buf_puts(out, b->task_count > 0 ? "\n  ]\n}\n" : "]\n}\n");
    return 0;
}

/* What ranks and the common set stand on. */
static json *ranking_json(const ranking *ranks)
{
    json *out = json_new_object();
    json_set_str(out, "by", "certified fast_1");
    json_set_int(out, "ranked", (int64_t)ranks->ranked);
    json_set_int(out, "problems", (int64_t)ranks->problems);
    json_set_int(out, "samples", (int64_t)ranks->samples);
    json_set_int(out, "scope_problems", (int64_t)ranks->scope);
    json_set_int(out, "common_problems", (int64_t)ranks->common);
    json_set_real(out, "detectable", ranks->detectable);
    return out;
}

int results_json(const figures *f, bool stable, buf *out, err *e)
{
    const board *b = f->b;
    buf_puts(out, "{\n");
    write_runs(b, stable, out);
    json *about = ranking_json(f->ranks);
    write_member(out, "ranking", &about);
    json *entrants = entrants_json(b, f->aggs, f->ranks, stable);
    write_member(out, "entrants", &entrants);
    if (b->claims.count > 0) {
        json *claimed = claimed_json(b->claims.rows, b->claims.count);
        write_member(out, "claimed", &claimed);
    }
    return write_tasks(b, stable, out, e);
}

/* ---- CSV ---- */

static void csv_text(buf *out, const char *text)
{
    if (text == NULL)
        return;
    if (strpbrk(text, ",\"\r\n") == NULL) {
        buf_puts(out, text);
        return;
    }
    buf_puts(out, "\"");
    for (const char *p = text; *p != '\0'; p++)
        buf_add(out, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    buf_puts(out, "\"");
}

static void csv_cell(buf *out, const char *text)
{
    buf_puts(out, ",");
    csv_text(out, text);
}

static void csv_int(buf *out, int64_t value)
{
    buf_puts(out, ",");
    buf_int(out, value);
}

static void csv_real(buf *out, double value)
{
    char text[DECIMAL_TEXT];
    buf_puts(out, ",");
    if (!isnan(value))
        buf_add(out, text, decimal_write(value, CSV_DIGITS, text));
}

static void csv_numbers(buf *out, const board_task *t)
{
    csv_real(out, t->speedup);
    csv_cell(out, t->reason);
    csv_cell(out, t->verdict);
    csv_real(out, t->ci_low);
    csv_real(out, t->ci_high);
    csv_real(out, t->margin);
    csv_real(out, t->candidate_ms);
    csv_real(out, t->baseline_ms);
    csv_cell(out, isnan(t->baseline_ms) ? NULL : t->row->facts->baseline_mode);
    csv_cell(out, t->row->outcome.marks);
    csv_int(out, t->usage->attempts);
    csv_int(out, t->usage->calls);
    csv_real(out, t->usage->cost_usd);
    csv_int(out, t->usage->cost_unknown);
    csv_int(out, t->usage->unknown_calls);
    csv_real(out, t->usage->unknown_usd);
    csv_int(out, t->usage->tokens_in);
    csv_int(out, t->usage->tokens_out);
}

static void csv_task(buf *out, const board *b, const board_task *t, bool stable)
{
    const board_row *row = t->row;
    const board_outcome *r = &row->outcome;
    csv_text(out, t->row->problem);
    csv_cell(out, t->problem->category);
    csv_cell(out, b->entrants[t->entrant].row->name);
    csv_int(out, t->row->sample);
    csv_cell(out, task_state_name(t->row->state));
    csv_cell(out, t->row->state == TASK_DONE ? outcome_name(r->result) : NULL);
    csv_cell(out, r->detail);
    csv_cell(out, r->stage);
    csv_numbers(out, t);
    csv_cell(out, row->facts->device_kind);
    csv_cell(out, row->facts->device);
    csv_cell(out, row->facts->correct_protocol);
    csv_cell(out, row->facts->timing_protocol);
    if (!stable) {
        csv_cell(out, t->run->row.id);
        csv_cell(out, t->row->id);
        csv_real(out, r->wall_ms);
        csv_real(out, r->device_ms);
    }
    buf_puts(out, "\r\n");
}

void results_csv(const figures *f, bool stable, buf *out)
{
    const board *b = f->b;
    buf_puts(out, "problem,category,entrant,sample,state,outcome,detail,stage,speedup,reason,"
                  "verdict,ci_low,ci_high,margin,"
                  "candidate_ms,baseline_ms,baseline_mode,marks,attempts,calls,cost_usd,"
                  "cost_unknown_calls,unknown_calls,unknown_usd,tokens_in,tokens_out,device_kind,"
                  "device,correct_protocol,"
                  "timing_protocol");
    buf_puts(out, stable ? "\r\n" : ",run,task,wall_ms,device_ms\r\n");
    for (size_t i = 0; i < b->task_count; i++)
        csv_task(out, b, &b->tasks[i], stable);
}

/* ---- entrants as CSV ---- */

static void csv_place(buf *out, const ranking_row *row)
{
    bool has_rank = row->unranked == NULL && !row->is_human;
    csv_cell(out, row->unranked != NULL ? "unranked" : has_rank ? "ranked" : "human");
    if (has_rank) {
        csv_int(out, (int64_t)row->place.rank);
        csv_int(out, (int64_t)row->place.low);
        csv_int(out, (int64_t)row->place.high);
    } else {
        buf_puts(out, ",,,");
    }
    csv_cell(out, row->unranked);
}

static void csv_scores(buf *out, const agg *a, const ranking_row *row)
{
    csv_int(out, (int64_t)a->declared);
    csv_int(out, (int64_t)a->scored);
    csv_int(out, (int64_t)a->correct);
    csv_real(out, a->correct_low);
    csv_real(out, a->correct_high);
    for (size_t p = 0; p < AGG_THRESHOLDS; p++) {
        csv_int(out, (int64_t)a->certified[p]);
        csv_int(out, (int64_t)a->fast[p]);
    }
    for (size_t k = 0; k < AGG_KS; k++)
        csv_real(out, a->pass[k]);
    csv_real(out, row->common_geomean);
    csv_int(out, (int64_t)row->covered);
    csv_int(out, (int64_t)a->measured);
    csv_real(out, a->geomean);
    csv_real(out, a->median);
    csv_real(out, a->p25);
    csv_real(out, a->gated);
    csv_int(out, (int64_t)a->losses);
}

static void csv_costs(buf *out, const agg *a)
{
    csv_real(out, a->cost_usd);
    csv_int(out, a->cost_unknown);
    csv_real(out, a->unknown_usd);
    csv_int(out, a->tokens_in);
    csv_int(out, a->tokens_cache_read);
    csv_int(out, a->tokens_cache_write);
    csv_int(out, a->tokens_out);
    csv_int(out, a->calls);
    csv_int(out, a->attempts);
}

static void csv_heads(buf *out, bool stable)
{
    buf_puts(out, "entrant,place,rank,rank_low,rank_high,unranked,declared,scored,correct,"
                  "correct_low,correct_high");
    for (size_t p = 0; p < AGG_THRESHOLDS; p++)
        buf_printf(out, ",certified_fast_%g,fast_%g", agg_thresholds[p], agg_thresholds[p]);
    for (size_t k = 0; k < AGG_KS; k++)
        buf_printf(out, ",pass_at_%zu", agg_ks[k]);
    buf_puts(out, ",common_geomean,covered_problems,measured,geomean,median,p25,gated_geomean,"
                  "losses,cost_usd,cost_unknown_calls,unknown_usd,tokens_in,tokens_cache_read,"
                  "tokens_cache_write,tokens_out,calls,attempts,suite,suite_hash,device,"
                  "correct_protocol,timing_protocol");
    buf_puts(out, stable ? "\r\n" : ",run,latency_ms_median,latency_ms_p95,wall_ms,device_ms\r\n");
}

static void csv_entrant(const board *b, const agg *a, size_t index, bool stable, buf *out)
{
    const board_entrant *entrant = &b->entrants[index];
    const board_protocols used = entrant->run->protocols;
    char hex[HASH_HEX];
    hash_hex(&entrant->run->row.suite_hash, hex);
    csv_costs(out, a);
    csv_cell(out, entrant->run->row.suite);
    csv_cell(out, hex);
    csv_cell(out, first_field(b, entrant->run, offsetof(board_facts, device)));
    csv_cell(out, used.correctness);
    csv_cell(out, used.timing);
    if (!stable) {
        csv_cell(out, entrant->run->row.id);
        csv_real(out, a->latency_ms);
        csv_real(out, a->latency_p95_ms);
        csv_real(out, a->wall_ms);
        csv_real(out, a->device_ms);
    }
    buf_puts(out, "\r\n");
}

void results_entrants_csv(const figures *f, bool stable, buf *out)
{
    const board *b = f->b;
    const agg_list *aggs = f->aggs;
    const ranking *ranks = f->ranks;
    csv_heads(out, stable);
    for (size_t i = 0; i < ranks->count; i++) {
        size_t index = ranks->order[i];
        csv_text(out, b->entrants[index].row->name);
        csv_place(out, &ranks->rows[index]);
        csv_scores(out, &aggs->rows[index], &ranks->rows[index]);
        csv_entrant(b, &aggs->rows[index], index, stable, out);
    }
}
