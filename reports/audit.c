/* audit - does what is stored of a run follow from its raw data?
 *
 * Rows are compared with the records that nodes sent, key by key, whatever keys there are: a column that
 * is added later is looked at without a change here.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/audit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "reports/retime.h"
#include "reports/rows.h"
#include "store/artifact.h"
#include "store/dump.h"
#include "store/run.h"

enum { TEXT_MAX = 1024 * 1024 * 1024, TABLES_MAX = 32 };

#define SAME   1e-9 /* of two computations of one number */
#define BEATEN 0.95 /* of the floor: docs/measurement.md */

typedef struct audit {
    store_tx *tx;
    run_row run;
    rows *tables[TABLES_MAX]; /* by their number in store/dump.h */
    audit_counts *counts;
    buf *findings;
} audit;

static void audit_fini(audit *self)
{
    for (size_t i = 0; i < TABLES_MAX; i++)
        rows_destroy(&self->tables[i]);
    run_row_fini(&self->run);
}

static void find(audit *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void find(audit *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(a->findings, format, args);
    va_end(args);
    buf_puts(a->findings, "\n");
    a->counts->findings++;
}

/* A table that this database does not have is empty. */
static const rows *table(const audit *a, const char *name)
{
    static const rows none;
    for (size_t i = 0; dump_name(i) != NULL; i++)
        if (strcmp(dump_name(i), name) == 0)
            return a->tables[i];
    return &none;
}

static int read_tables(audit *a, err *e)
{
    for (size_t i = 0; dump_name(i) != NULL && i < TABLES_MAX; i++) {
        SCOPED(buf_fini) buf text = {0};
        buf_init(&text, TEXT_MAX);
        if (dump_write(a->tx, i, a->run.id, &text, e) < 0)
            return -1;
        a->tables[i] = rows_create(buf_text(&text), e);
        if (a->tables[i] == NULL)
            return err_wrap(e, "table %s", dump_name(i));
    }
    return 0;
}

/* ---- blobs ---- */

/* The JSON text of that name: NULL, and counted, when it was kept back; NULL and a finding when it is no
 * JSON. */
static json *read_blob(audit *a, const char *hex, const char *what, const char *task)
{
    hash name;
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, ARTIFACT_MAX);
    err why = {0};
    if (hex == NULL || !hash_parse(hex, &name))
        return NULL;
    if (artifact_get(a->tx, &name, &text, &why) < 0) {
        a->counts->withheld++;
        return NULL;
    }
    json *value = json_parse_tree(buf_text(&text), text.size, what, &why);
    if (value == NULL)
        find(a, "task %s: %s %.12s cannot be read: %s", task, what, hex, why.text);
    return value;
}

/* ---- a row and the record that it came from ---- */

/* Keys of a record that are no columns of its row. */
static const char *const record_only[] = {
    "usage", "key",          "attempts",    "unknown_bills", "source",      "plan",
    "spec",  "measurements", "device",      "device_kind",   "device_uuid", "driver",
    "torch", "modelled",     "comparisons", "lineage",       "sanitizer",   NULL};

/* Columns of a row that its record does not tell: the store's own, and the stage that it came with. */
static const char *const row_only[] = {"id",          "task",   "number", "stage",
                                       "position",    "token",  "record", "finished_ms",
                                       "recorded_ms", "served", NULL};

static bool one_of(const char *const *list, const char *word)
{
    for (; *list != NULL; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

/* What is called otherwise in a record than in its row. */
static const char *const renamed[][2] = {{"index", "number"}, {"between", "between_p"}};

static const json *column_of(const json *row, const char *key)
{
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        if (strcmp(renamed[i][0], key) == 0)
            return json_get(row, renamed[i][1]);
    return json_get(row, key);
}

static const json *recorded_of(const json *record, const char *column)
{
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        if (strcmp(renamed[i][1], column) == 0)
            return json_get(record, renamed[i][0]);
    return json_get(record, column);
}

/* Unknown counts are -1 in a record and no value in a row; a truth is 0 or 1. */
static bool agree(const json *column, const json *value)
{
    switch (json_typeof(value)) {
    case JSON_TYPE_NULL:
        return json_typeof(column) == JSON_TYPE_NULL;
    case JSON_TYPE_BOOL:
        return json_int(column, -1) == (json_bool(value, false) ? 1 : 0);
    case JSON_TYPE_INT:
        return json_int(column, -1) == json_int(value, 0);
    case JSON_TYPE_REAL:
        return json_real(column, (double)NAN) == json_real(value, 0);
    case JSON_TYPE_STRING:
    case JSON_TYPE_ARRAY:
    case JSON_TYPE_OBJECT:
        break;
    }
    return json_equal(column, value);
}

/* What a comparison of a row with its record is about. */
typedef struct subject {
    const char *task, *what;
    const char *const *without; /* keys that are no columns */
} subject;

static void compare_row(audit *a, const subject *about, const json *row, const json *record)
{
    for (json_iter it = {0}; json_next(row, &it);)
        if (!one_of(row_only, it.key) && recorded_of(record, it.key) == NULL)
            find(a, "task %s: %s: the node recorded no %s, but it is there", about->task,
                 about->what, it.key);
    for (json_iter it = {0}; json_next(record, &it);) {
        if (one_of(about->without, it.key) || agree(column_of(row, it.key), it.value))
            continue;
        SCOPED(scoped_free) char *recorded = json_dump(it.value);
        SCOPED(scoped_free) char *stored = json_dump(column_of(row, it.key));
        find(a, "task %s: %s: %s is %.60s, but the node recorded %.60s", about->task, about->what,
             it.key, stored, recorded);
    }
}

static const char *const nothing[] = {NULL};

/* Lists of a stage record against the rows of the stage. */
static void compare_list(audit *a, const json *stage, const char *key, const char *from,
                         const json *record)
{
    const rows *have = table(a, from);
    const json *list = json_get(record, key);
    size_t first, n;
    if (list == NULL)
        return;
    const char *task = rows_text(stage, "task"), *name = rows_text(stage, "stage");
    n = rows_find(have, task, name, &first);
    if (n != json_size(list)) {
        find(a, "task %s: stage %s has %zu rows in %s, but the node recorded %zu", task, name, n,
             from, json_size(list));
        return;
    }
    const subject about = {task, from, nothing};
    for (size_t i = 0; i < n; i++)
        compare_row(a, &about, rows_at(have, first + i), json_at(list, i));
}

/* Where the stage ran is where the task says that it ran: a scripted device is no card. */
static void check_device(audit *a, const char *task, const json *record)
{
    size_t first, n = rows_find(table(a, "task"), task, NULL, &first);
    const json *kind = json_get(record, "device_kind");
    const json *told = n == 1 ? json_get(rows_at(table(a, "task"), first), "device_kind") : NULL;
    if (json_typeof(kind) == JSON_TYPE_STRING && json_typeof(told) == JSON_TYPE_STRING &&
        !json_equal(kind, told))
        find(a, "task %s: its device is of kind %s, but a stage of it ran on %s", task,
             json_str(told, ""), json_str(kind, ""));
}

static void check_stage(audit *a, const json *row)
{
    const char *task = rows_text(row, "task"), *stage = rows_text(row, "stage");
    size_t first;
    int64_t calls = (int64_t)rows_find(table(a, "model_call"), task, stage, &first);
    if (calls < rows_int(row, "calls"))
        find(a, "task %s: stage %s made %" PRId64 " model calls, but %" PRId64 " are there", task,
             stage, rows_int(row, "calls"), calls);
    SCOPED(json_destroy)
    json *record = read_blob(a, rows_text(row, "record"), "stage record", task);
    if (record == NULL)
        return;
    const subject about = {task, stage, record_only};
    compare_row(a, &about, row, record);
    compare_list(a, row, "attempts", "attempt", record);
    compare_list(a, row, "measurements", "measurement", record);
    compare_list(a, row, "comparisons", "comparison", record);
    check_device(a, task, record);
    a->counts->stages++;
}

/* The name of the model that answered stands in what the provider told. */
static void check_served(audit *a, const json *row, const json *record)
{
    const char *served = rows_text(row, "served"), *usage = rows_text(record, "usage");
    if (served == NULL)
        return;
    SCOPED(json_destroy)
    json *told = usage != NULL ? json_parse_tree(usage, strlen(usage), "usage", NULL) : NULL;
    if (strcmp(json_str(json_get(told, "model"), ""), served) != 0)
        find(a, "task %s: call %s %" PRId64 ": the provider did not name the model %.60s",
             rows_text(row, "task"), rows_text(row, "stage"), rows_int(row, "number"), served);
}

static void check_call(audit *a, const json *row)
{
    const char *task = rows_text(row, "task");
    SCOPED(json_destroy)
    json *record = read_blob(a, rows_text(row, "record"), "call record", task);
    if (record == NULL)
        return;
    SCOPED(scoped_free)
    char *what = xasprintf("call %s %" PRId64, rows_text(row, "stage"), rows_int(row, "number"));
    const subject about = {task, what, record_only};
    compare_row(a, &about, row, record);
    check_served(a, row, record);
    a->counts->calls++;
}

/* ---- numbers ---- */

static bool same(double a, double b)
{
    return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

static void check_median(audit *a, const json *row)
{
    const char *task = rows_text(row, "task"), *mode = rows_text(row, "mode");
    SCOPED(json_destroy) json *raw = read_blob(a, rows_text(row, "samples"), "samples", task);
    size_t n = json_size(raw);
    if (raw == NULL)
        return;
    SCOPED(scoped_free) double *values = xcalloc(n + 1, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = json_real(json_at(raw, i), (double)NAN);
    double median = stats_median(values, n), stored = rows_real(row, "median_ms");
    if (rows_int(row, "sample_count") != (int64_t)n)
        find(a, "task %s: %s has %zu samples, not %" PRId64, task, mode, n,
             rows_int(row, "sample_count"));
    if (!same(median, stored))
        find(a, "task %s: the median of %s is %.9g ms, but its samples give %.9g", task, mode,
             stored, median);
    a->counts->medians++;
}

/* A claim of the interval holds only if the pairs give it, and nothing stands against it. */
static void check_verdict(audit *a, const json *row, const retime *again)
{
    const char *task = rows_text(row, "task"), *told = rows_text(row, "verdict");
    double floor = rows_real(row, "floor_ms");
    bool beats = rows_real(row, "candidate_ms") < BEATEN * floor;
    if (strcmp(told, "inconclusive") == 0)
        return; /* also for what is not in the interval: clocks, time, other processes */
    if (strcmp(told, "impossible") == 0 ? !beats : beats)
        find(a, "task %s: %s at %.9g ms, with a floor of %.9g ms", task, told,
             rows_real(row, "candidate_ms"), floor);
    else if (!beats && strcmp(told, paired_name(again->verdict)) != 0)
        find(a, "task %s: the verdict is %s, but the pairs give %s", task, told,
             paired_name(again->verdict));
}

static void check_comparison(audit *a, const json *row)
{
    const char *task = rows_text(row, "task");
    SCOPED(json_destroy) json *raw = read_blob(a, rows_text(row, "raw"), "pairs", task);
    retime again;
    if (raw == NULL)
        return;
    if (!retime_read(raw, &again)) {
        find(a, "task %s: the pairs of a comparison cannot be read", task);
        return;
    }
    const struct {
        const char *column;
        double value;
    } numbers[] = {{"speedup", again.speedup},
                   {"ci_low", again.low},
                   {"ci_high", again.high},
                   {"candidate_ms", again.candidate_ms},
                   {"baseline_ms", again.baseline_ms},
                   {"pairs", (double)again.pairs},
                   {"margin", json_real(json_get(raw, "margin"), (double)NAN)}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double told = rows_real(row, numbers[i].column);
        if (!same(told, numbers[i].value) && !(isnan(told) && isnan(numbers[i].value)))
            find(a, "task %s: %s of a comparison is %.9g, but its pairs give %.9g", task,
                 numbers[i].column, told, numbers[i].value);
    }
    check_verdict(a, row, &again);
    a->counts->comparisons++;
}

/* Some measurement of that side has this median; baselines: the winning one. */
static bool was_measured(const audit *a, const char *task, const char *side, double ms)
{
    size_t first, n = rows_find(table(a, "measurement"), task, NULL, &first);
    for (size_t i = 0; i < n; i++) {
        const json *m = rows_at(table(a, "measurement"), first + i);
        bool counts = strcmp(side, "candidate") == 0 || rows_int(m, "winner") == 1;
        if (counts && strcmp(rows_text(m, "side"), side) == 0 &&
            same(rows_real(m, "median_ms"), ms))
            return true;
    }
    return false;
}

/* The comparison of a certified protocol that the task publishes. */
static const json *published(const audit *a, const char *task)
{
    const rows *have = table(a, "comparison");
    size_t first, n = rows_find(have, task, NULL, &first);
    for (size_t i = n; i-- > 0;) {
        const char *purpose = rows_text(rows_at(have, first + i), "purpose");
        if (strcmp(purpose, "published") == 0)
            return rows_at(have, first + i);
    }
    return NULL;
}

static void check_published(audit *a, const json *task, const json *comparison)
{
    static const char *const columns[] = {"verdict", "candidate_ms", "baseline_ms", "floor_ms",
                                          "speedup", "ci_low",       "ci_high",     NULL};
    bool shown = !isnan(rows_real(task, "speedup")); /* impossible: the last three are not */
    for (size_t i = 0; columns[i] != NULL && (shown || i < 4); i++)
        if (!json_equal(json_get(task, columns[i]), json_get(comparison, columns[i])))
            find(a, "task %s: %s is not that of its published comparison", rows_text(task, "id"),
                 columns[i]);
}

static void check_speedup(audit *a, const json *task)
{
    const char *id = rows_text(task, "id");
    double speedup = rows_real(task, "speedup"), candidate = rows_real(task, "candidate_ms"),
           baseline = rows_real(task, "baseline_ms");
    const json *comparison = published(a, id);
    bool compared = comparison != NULL && rows_text(task, "verdict") != NULL;
    a->counts->speedups += isnan(speedup) ? 0 : 1;
    if (compared)
        check_published(a, task, comparison);
    if (compared || isnan(speedup))
        return;
    if (!same(speedup, baseline / candidate))
        find(a, "task %s: speedup %.9g, but baseline / candidate is %.9g", id, speedup,
             baseline / candidate);
    if (!was_measured(a, id, "candidate", candidate))
        find(a, "task %s: no measurement of the candidate has a median of %.9g ms", id, candidate);
    if (!was_measured(a, id, "baseline", baseline))
        find(a, "task %s: no winning baseline has a median of %.9g ms", id, baseline);
}

/* ---- what the task was ---- */

static const json *row_of(const rows *list, const char *column, const json *key)
{
    for (size_t i = 0; i < list->count; i++)
        if (json_equal(json_get(list->all[i], column), key))
            return list->all[i];
    return NULL;
}

/* A model is told with how it is asked: "openai:x effort=high". */
static void check_models(audit *a, const char *task, const json *entrant, const json *spec)
{
    const char *text = rows_text(entrant, "models");
    SCOPED(json_destroy) json *told = json_parse_tree(text, strlen(text), "models", NULL);
    for (json_iter it = {0}; json_next(json_get(spec, "models"), &it);) {
        const char *given = json_str(it.value, ""), *shown = json_str(json_get(told, it.key), "");
        size_t size = strlen(given);
        if (strncmp(shown, given, size) != 0 || (shown[size] != '\0' && shown[size] != ' '))
            find(a, "task %s: stage %s was given to %.60s, not to %.60s", task, it.key, given,
                 shown);
    }
}

/* The spec that the node was given names the entrant, the problem and its texts. */
static void check_spec(audit *a, const json *task)
{
    static const char *const texts[] = {"contract",  "contract_hash", "prompt", "reference",
                                        "gold_plan", "gold_source",   NULL};
    const size_t first_gold = 4; /* where a validation gives mutants instead */
    const char *id = rows_text(task, "id");
    SCOPED(json_destroy) json *spec = read_blob(a, rows_text(task, "spec"), "spec", id);
    const json *problem = row_of(table(a, "problem"), "id", json_get(task, "problem"));
    const json *entrant = row_of(table(a, "entrant"), "id", json_get(task, "entrant"));
    if (spec == NULL)
        return;
    for (size_t i = 0; texts[i] != NULL && (a->run.kind == RUN_EVAL || i < first_gold); i++)
        if (!agree(json_get(problem, texts[i]), json_get(spec, texts[i])))
            find(a, "task %s: %s of its problem is not what the node was given", id, texts[i]);
    if (!json_equal(json_get(spec, "problem"), json_get(task, "problem")) ||
        !json_equal(json_get(spec, "sample"), json_get(task, "sample")))
        find(a, "task %s: the node was given another problem or sample", id);
    if (json_int(json_get(spec, "seed"), 0) != a->run.seed ||
        strcmp(json_str(json_get(spec, "run"), ""), a->run.id) != 0)
        find(a, "task %s: the node was given another run or seed", id);
    if (entrant == NULL)
        return;
    check_models(a, id, entrant, spec);
    if (!json_equal(json_get(spec, "entrant"), json_get(entrant, "name")))
        find(a, "task %s: the node was given entrant %.60s, not %.60s", id,
             json_str(json_get(spec, "entrant"), "?"), rows_text(entrant, "name"));
}

/* ---- outcomes ---- */

static bool has_event(const audit *a, const char *task, const char *kind)
{
    size_t first, n = rows_find(table(a, "event"), task, NULL, &first);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows_text(rows_at(table(a, "event"), first + i), "kind"), kind) == 0)
            return true;
    return false;
}

/* A candidate that counts as correct has passed the gate. */
static bool passed_gate(const audit *a, const char *task)
{
    size_t first, n = rows_find(table(a, "stage_result"), task, "correctness", &first);
    const json *gate = n == 1 ? rows_at(table(a, "stage_result"), first) : NULL;
    return gate != NULL && strcmp(rows_text(gate, "outcome"), "ok") == 0;
}

/* A failure is what some stage found. */
static bool found_by_stage(const audit *a, const char *task, const char *stage, const char *outcome)
{
    size_t first, n = rows_find(table(a, "stage_result"), task, stage, &first);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows_text(rows_at(table(a, "stage_result"), first + i), "outcome"), outcome) ==
            0)
            return true;
    return false;
}

static bool attempted(const audit *a, const json *task)
{
    const char *id = rows_text(task, "id");
    size_t first, n = rows_find(table(a, "attempt"), id, NULL, &first);
    for (size_t i = 0; i < n; i++) {
        const json *attempt = rows_at(table(a, "attempt"), first + i);
        if (json_equal(json_get(task, "source"), json_get(attempt, "source")) &&
            json_equal(json_get(task, "plan"), json_get(attempt, "plan")))
            return true;
    }
    return false;
}

static void check_outcome(audit *a, const json *task)
{
    const char *id = rows_text(task, "id"), *outcome = rows_text(task, "outcome"),
               *stage = rows_text(task, "stage");
    if (strcmp(outcome, "ok") == 0 && !passed_gate(a, id))
        find(a, "task %s: ok, but no correctness stage says so", id);
    if (strcmp(outcome, "ok") != 0 && stage != NULL && !found_by_stage(a, id, stage, outcome))
        find(a, "task %s: %s in stage %s, but the stage says otherwise", id, outcome, stage);
    if (rows_text(task, "source") != NULL && !attempted(a, task))
        find(a, "task %s: its kernel and plan were never attempted", id);
}

/* ---- what stages told at length ---- */

/* How many stage records of a task say exactly this under a key. A record that was kept back might have. */
static size_t told_by_stages(audit *a, const char *task, const char *key, const json *text)
{
    size_t first, said = 0, n = rows_find(table(a, "stage_result"), task, NULL, &first);
    for (size_t i = 0; i < n; i++) {
        const json *row = rows_at(table(a, "stage_result"), first + i);
        SCOPED(json_destroy)
        json *record = read_blob(a, rows_text(row, "record"), "stage record", task);
        said += record == NULL || json_equal(json_get(record, key), text) ? 1 : 0;
    }
    return said;
}

static size_t told_by_comparisons(const audit *a, const char *task, const json *profile)
{
    size_t first, said = 0, n = rows_find(table(a, "comparison"), task, NULL, &first);
    for (size_t i = 0; i < n; i++)
        said += json_equal(json_get(rows_at(table(a, "comparison"), first + i), "profile"), profile)
                    ? 1
                    : 0;
    return said;
}

/* Long texts of a task are copies: of one of its stages, a profile of one of its comparisons. */
static void check_texts(audit *a, const json *task)
{
    static const char *const keys[] = {"lineage", "sanitizer", "modelled", "profile"};
    const char *id = rows_text(task, "id");
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        const json *text = json_get(task, keys[k]);
        if (json_typeof(text) != JSON_TYPE_STRING)
            continue;
        const size_t said = strcmp(keys[k], "profile") == 0 ? told_by_comparisons(a, id, text)
                                                            : told_by_stages(a, id, keys[k], text);
        if (said == 0)
            find(a, "task %s: no stage of it told this %s", id, keys[k]);
    }
}

static void check_task(audit *a, const json *task)
{
    const char *id = rows_text(task, "id");
    bool done = strcmp(rows_text(task, "state"), "done") == 0;
    if (done != has_event(a, id, "done"))
        find(a, "task %s: it is %sdone, but its events say otherwise", id, done ? "" : "not ");
    if (!done || strcmp(rows_text(task, "kind"), "synthesize") != 0)
        return;
    a->counts->tasks++;
    check_spec(a, task);
    check_outcome(a, task);
    check_speedup(a, task);
    check_texts(a, task);
}

/* ---- what was planned ---- */

/* A validation has a task for each mutant that a problem happens to have: no product. */
static void check_plan(audit *a)
{
    if (a->run.kind == RUN_VALIDATE)
        return;
    size_t planned =
        table(a, "problem")->count * table(a, "entrant")->count * (size_t)a->run.samples;
    size_t tasks = 0;
    for (size_t i = 0; i < table(a, "task")->count; i++)
        tasks += strcmp(rows_text(table(a, "task")->all[i], "kind"), "synthesize") == 0 ? 1 : 0;
    if (tasks != planned)
        find(a, "%zu tasks are there, but problems × entrants × samples is %zu", tasks, planned);
    SCOPED(json_destroy)
    json *settings = json_parse_tree(a->run.settings, strlen(a->run.settings), "settings", NULL);
    const json *entrants = json_get(settings, "entrants");
    if (entrants != NULL && json_size(entrants) != table(a, "entrant")->count)
        find(a, "%zu entrants are there, but the run was started with %zu",
             table(a, "entrant")->count, json_size(entrants));
}

static void check_problem(audit *a, const json *problem)
{
    char hex[HASH_HEX];
    const hash name = hash_of_text(rows_text(problem, "contract"));
    hash_hex(&name, hex);
    if (strcmp(hex, rows_text(problem, "contract_hash")) != 0)
        find(a, "problem %s: its contract does not have the hash %.12s…", rows_text(problem, "id"),
             rows_text(problem, "contract_hash"));
}

/* ---- all ---- */

static void each(audit *a, const char *name, void (*check)(audit *, const json *))
{
    for (size_t i = 0; i < table(a, name)->count; i++)
        check(a, table(a, name)->all[i]);
}

/* What audit_run is asked. */
typedef struct audit_ask {
    const char *run;
    audit_counts *counts;
    buf *findings;
} audit_ask;

static int audit_fn(store_tx *tx, void *arg, err *e)
{
    const audit_ask *ask = arg;
    SCOPED(audit_fini) audit a = {.tx = tx, .counts = ask->counts, .findings = ask->findings};
    if (run_find(tx, ask->run, &a.run, e) < 0 || read_tables(&a, e) < 0)
        return -1;
    check_plan(&a);
    each(&a, "problem", check_problem);
    each(&a, "model_call", check_call);
    each(&a, "stage_result", check_stage);
    each(&a, "measurement", check_median);
    each(&a, "comparison", check_comparison);
    each(&a, "task", check_task);
    return 0;
}

int audit_run(store *db, const char *run, audit_counts *counts, buf *findings, err *e)
{
    audit_ask ask = {run, counts, findings};
    *counts = (audit_counts){0};
    return store_run(db, audit_fn, &ask, e);
}
