/* score - every task of a run with what it used, one after the other
 *
 * Problem by problem, so that an index gives the tasks in order and nothing is sorted. A second statement
 * asks for everything that one task used: its calls, its charges, its attempts.
 *
 * SPDX-License-Identifier: MIT */
#include "store/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/result_columns.h"
#include "store/run.h"

enum { SQL_MAX = 8192 };

static const char *const state_names[] = {"waiting", "leased", "done", "failed", NULL};

static const column task_columns[] = {
    {"id", COLUMN_TEXT, offsetof(task_row, id), NULL},
    {"problem", COLUMN_TEXT, offsetof(task_row, problem), NULL},
    {"entrant", COLUMN_ID, offsetof(task_row, entrant), NULL},
    {"sample", COLUMN_INT, offsetof(task_row, sample), NULL},
    {"state", COLUMN_CHOICE, offsetof(task_row, state), state_names},
    {"leases", COLUMN_INT, offsetof(task_row, leases), NULL},
    {"node", COLUMN_TEXT, offsetof(task_row, node), NULL},
    {"error", COLUMN_TEXT, offsetof(task_row, error), NULL},
#define TASK_RESULT(name, type, field) {name, type, offsetof(task_row, outcome.field), NULL},
    RESULT_SHORT(TASK_RESULT)
#undef TASK_RESULT
        {0},
};

/* What a task used. Each row is a call, a charge, an attempt or a comparison. */
typedef enum use_kind { USE_CALL, USE_CHARGE, USE_ATTEMPT, USE_COMPARISON } use_kind;
static const char use_sql[] =
    "SELECT 0, stage, provider, cost_usd, latency_ms, tokens_in, tokens_out, tokens_cache_read, "
    "tokens_cache_write, model, served FROM model_call WHERE task = ?1 UNION ALL "
    "SELECT 1, stage, provider, unknown_usd, state IN ('unknown', 'open'), 0, 0, 0, 0, NULL, NULL "
    "FROM charge WHERE task = ?1 UNION ALL "
    "SELECT 2, stage, source, 0, outcome = 'ok', number, 0, 0, 0, plan, NULL FROM "
    "(SELECT * FROM attempt WHERE task = ?1 ORDER BY number) UNION ALL "
    "SELECT 3, purpose, source, iif(verdict = 'impossible', NULL, speedup), margin, 0, 0, 0, 0, "
    "plan, NULL FROM (SELECT * FROM comparison WHERE task = ?1 ORDER BY id)";

/* Which attempts are one try: those of one source and one plan ("": none); the first has the number by which
 * a lineage names it. */
typedef struct try_key {
    char source[HASH_HEX], plan[HASH_HEX];
    int64_t number;
} try_key;

typedef struct pass {
    store_tx *tx;
    const char *run;
    score_fn *fn;
    void *arg;
    sqlite3_stmt *use;
    score_sums sums;
    size_t spend_room, snapshot_room;
    double margin; /* of the task at hand */
    score_tries tries;
    try_key keys[SCORE_TRIES_MAX]; /* of the tries */
} pass;

/* ---- spend ---- */

static bool is_spend(const spend_row *row, int64_t entrant, const char *stage, const char *provider)
{
    return row->entrant == entrant && strcmp(row->stage, stage) == 0 &&
           strcmp(row->provider, provider) == 0;
}

static spend_row *spend_for(pass *p, int64_t entrant, const char *stage, const char *provider)
{
    for (size_t i = 0; i < p->sums.spend.count; i++)
        if (is_spend(&p->sums.spend.rows[i], entrant, stage, provider))
            return &p->sums.spend.rows[i];
    if (p->sums.spend.count == p->spend_room) {
        p->spend_room = 2 * p->spend_room + 16;
        p->sums.spend.rows = xreallocarray(p->sums.spend.rows, p->spend_room, sizeof(spend_row));
    }
    spend_row *fresh = &p->sums.spend.rows[p->sums.spend.count++];
    *fresh =
        (spend_row){.entrant = entrant, .stage = xstrdup(stage), .provider = xstrdup(provider)};
    return fresh;
}

static int by_key(const void *a, const void *b)
{
    const spend_row *x = a;
    const spend_row *y = b;
    if (x->entrant != y->entrant)
        return x->entrant < y->entrant ? -1 : 1;
    int by_stage = strcmp(x->stage, y->stage);
    return by_stage != 0 ? by_stage : strcmp(x->provider, y->provider);
}

/* ---- models that answered ---- */

static const column snapshot_texts[] = {
    {"stage", COLUMN_TEXT, offsetof(snapshot_row, stage), NULL},
    {"provider", COLUMN_TEXT, offsetof(snapshot_row, provider), NULL},
    {"model", COLUMN_TEXT, offsetof(snapshot_row, model), NULL},
    {"served", COLUMN_TEXT, offsetof(snapshot_row, served), NULL},
    {0},
};

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool is_snapshot(const snapshot_row *row, const snapshot_row *wanted)
{
    return row->entrant == wanted->entrant && same_text(row->stage, wanted->stage) &&
           same_text(row->provider, wanted->provider) && same_text(row->model, wanted->model) &&
           same_text(row->served, wanted->served);
}

static void count_snapshot(pass *p, const snapshot_row *seen)
{
    snapshot_list *list = &p->sums.snapshots;
    for (size_t i = 0; i < list->count; i++)
        if (is_snapshot(&list->rows[i], seen)) {
            list->rows[i].calls++;
            return;
        }
    if (list->count == p->snapshot_room) {
        p->snapshot_room = 2 * p->snapshot_room + 16;
        list->rows = xreallocarray(list->rows, p->snapshot_room, sizeof(snapshot_row));
    }
    list->rows[list->count++] =
        (snapshot_row){.entrant = seen->entrant,
                       .stage = xstrdup(seen->stage),
                       .provider = xstrdup(seen->provider),
                       .model = xstrdup(seen->model),
                       .served = seen->served != NULL ? xstrdup(seen->served) : NULL,
                       .calls = 1};
}

static int by_snapshot(const void *a, const void *b)
{
    const snapshot_row *x = a;
    const snapshot_row *y = b;
    if (x->entrant != y->entrant)
        return x->entrant < y->entrant ? -1 : 1;
    int order = strcmp(x->stage, y->stage);
    if (order == 0)
        order = strcmp(x->provider, y->provider);
    if (order == 0)
        order = strcmp(x->model, y->model);
    return order != 0
               ? order
               : strcmp(x->served != NULL ? x->served : "", y->served != NULL ? y->served : "");
}

/* ---- what one task used ---- */

static const char *text_at(sqlite3_stmt *s, int index)
{
    const unsigned char *text = sqlite3_column_text(s, index);
    return text != NULL ? (const char *)text : "";
}

static bool is_null(sqlite3_stmt *s, int index)
{
    return sqlite3_column_type(s, index) == SQLITE_NULL;
}

static void add_call(sqlite3_stmt *s, spend_row *spend, usage_row *usage)
{
    const int64_t in = sqlite3_column_int64(s, 5), out = sqlite3_column_int64(s, 6);
    const int64_t from_cache = sqlite3_column_int64(s, 7), to_cache = sqlite3_column_int64(s, 8);
    const double usd = sqlite3_column_double(s, 3), latency = sqlite3_column_double(s, 4);
    const int64_t unknown = is_null(s, 3) ? 1 : 0;
    usage->calls++;
    usage->cost_unknown += unknown;
    usage->tokens_unknown += is_null(s, 5) || is_null(s, 6) ? 1 : 0;
    usage->tokens_in += in;
    usage->tokens_out += out;
    usage->tokens_cache_read += from_cache;
    usage->tokens_cache_write += to_cache;
    usage->cost_usd += usd;
    usage->latency_ms += latency;
    spend->calls++;
    spend->cost_unknown += unknown;
    spend->tokens_in += in;
    spend->tokens_out += out;
    spend->tokens_cache_read += from_cache;
    spend->tokens_cache_write += to_cache;
    spend->cost_usd += usd;
    spend->latency_ms += latency;
}

static void add_charge(sqlite3_stmt *s, spend_row *spend, usage_row *usage)
{
    const double usd = sqlite3_column_double(s, 3);
    const int64_t cut = sqlite3_column_int64(s, 4);
    usage->unknown_calls += cut;
    usage->unknown_usd += usd;
    spend->unknown_calls += cut;
    spend->unknown_usd += usd;
}

static void add_known_call(pass *p, const task_row *task, spend_row *spend, usage_row *usage)
{
    sqlite3_stmt *s = p->use;
    const snapshot_row seen = {.entrant = task->entrant,
                               .stage = text_at(s, 1),
                               .provider = text_at(s, 2),
                               .model = text_at(s, 9),
                               .served = is_null(s, 10) ? NULL : text_at(s, 10)};
    add_call(s, spend, usage);
    count_snapshot(p, &seen);
}

/* ---- what the model tried ---- */

/* The try of a source and a plan; a row without a source is a try of its own. NULL: no room. */
static score_try *try_of(pass *p, const char *source, const char *plan, int64_t number)
{
    score_tries *tries = &p->tries;
    for (size_t i = tries->count; i > 0 && source[0] != '\0'; i--)
        if (strcmp(p->keys[i - 1].source, source) == 0 && strcmp(p->keys[i - 1].plan, plan) == 0)
            return &tries->rows[i - 1];
    if (tries->count == SCORE_TRIES_MAX || strlen(source) >= HASH_HEX || strlen(plan) >= HASH_HEX)
        return NULL;
    try_key *key = &p->keys[tries->count];
    memcpy(key->source, source, strlen(source) + 1);
    memcpy(key->plan, plan, strlen(plan) + 1);
    key->number = number;
    tries->rows[tries->count] = (score_try){.speedup = (double)NAN};
    return &tries->rows[tries->count++];
}

static void add_attempt(pass *p)
{
    const char *stage = text_at(p->use, 1);
    if (strcmp(stage, "polish") == 0)
        return;
    score_try *one =
        try_of(p, text_at(p->use, 2), text_at(p->use, 9), sqlite3_column_int64(p->use, 5));
    const bool checks = strcmp(stage, "correctness") == 0 || strcmp(stage, "performance") == 0;
    if (one != NULL && checks && sqlite3_column_int(p->use, 4) != 0)
        one->correct = true;
}

static void raise_speed(score_try *one, double speedup)
{
    if (!isnan(speedup) && !(one->speedup >= speedup))
        one->speedup = speedup;
}

static bool is_hash(sqlite3_stmt *s, int index, const hash *wanted)
{
    char hex[HASH_HEX];
    if (hash_is_zero(wanted) || is_null(s, index))
        return hash_is_zero(wanted) && is_null(s, index);
    hash_hex(wanted, hex);
    return strcmp(text_at(s, index), hex) == 0;
}

/* The newest published one of the kernel that was kept has the margin. Attempts came before: a source that
 * is not among them is the polished one. */
static void add_comparison(pass *p, const task_row *task)
{
    sqlite3_stmt *s = p->use;
    const double speedup = is_null(s, 3) ? (double)NAN : sqlite3_column_double(s, 3);
    if (strcmp(text_at(s, 1), "published") == 0 && is_hash(s, 2, &task->outcome.source) &&
        is_hash(s, 9, &task->outcome.plan))
        p->margin = sqlite3_column_double(s, 4);
    for (size_t i = 0; i < p->tries.count; i++)
        if (strcmp(p->keys[i].source, text_at(s, 2)) == 0 &&
            strcmp(p->keys[i].plan, text_at(s, 9)) == 0)
            raise_speed(&p->tries.rows[i], speedup);
}

/* ---- what each try gained, as the node told it ---- */

static void add_step(pass *p, const json *step)
{
    const int64_t number = json_int(json_get(step, "attempt"), -1);
    const double speedup = json_real(json_get(step, "speedup"), (double)NAN);
    if (strcmp(json_str(json_get(step, "verdict"), ""), "impossible") == 0)
        return;
    for (size_t i = 0; i < p->tries.count; i++)
        if (p->keys[i].number == number)
            raise_speed(&p->tries.rows[i], speedup);
}

/* One try alone has all there is to gain, so only of several it is asked which. A text that is no lineage tells
 * nothing. */
static void add_lineage(pass *p, const char *text)
{
    if (text == NULL || p->tries.count < 2)
        return;
    SCOPED(json_destroy) json *steps = json_parse_tree(text, strlen(text), "lineage", NULL);
    for (size_t i = 0; i < json_size(steps); i++)
        add_step(p, json_at(steps, i));
}

static void add_use(pass *p, const task_row *task, usage_row *usage)
{
    sqlite3_stmt *s = p->use;
    switch ((use_kind)sqlite3_column_int(s, 0)) {
    case USE_CALL:
        add_known_call(p, task, spend_for(p, task->entrant, text_at(s, 1), text_at(s, 2)), usage);
        return;
    case USE_CHARGE:
        add_charge(s, spend_for(p, task->entrant, text_at(s, 1), text_at(s, 2)), usage);
        return;
    case USE_ATTEMPT:
        usage->attempts++;
        add_attempt(p);
        return;
    case USE_COMPARISON:
        add_comparison(p, task);
        return;
    }
}

static int read_use(pass *p, const task_row *task, usage_row *usage, err *e)
{
    int got;
    *usage = (usage_row){0};
    p->tries.count = 0;
    p->margin = (double)NAN;
    db_text(p->use, 1, task->id);
    while ((got = db_step(p->tx, p->use, e)) > 0)
        add_use(p, task, usage);
    sqlite3_reset(p->use);
    add_lineage(p, task->outcome.lineage);
    return got;
}

/* ---- tasks ---- */

static int each_row(pass *p, sqlite3_stmt *s, err *e)
{
    int got;
    while ((got = db_step(p->tx, s, e)) > 0) {
        task_row task = {.run = p->run, .kind = "synthesize"};
        usage_row usage;
        if (column_peek(s, 0, task_columns, &task, e) < 0 || read_use(p, &task, &usage, e) < 0)
            return -1;
        const score_row row = {&task, &usage, p->margin, &p->tries};
        if (p->fn(p->arg, &row, e) < 0)
            return -1;
    }
    return got;
}

/* The order is that of index task_identity. */
static sqlite3_stmt *task_statement(store_tx *tx, err *e)
{
    SCOPED(buf_fini) buf sql = {0};
    buf_init(&sql, SQL_MAX);
    buf_puts(&sql, "SELECT ");
    column_names(&sql, task_columns, "");
    buf_puts(&sql, " FROM task WHERE run = ?1 AND kind = 'synthesize' AND problem = ?2 "
                   "ORDER BY coalesce(entrant, 0), sample");
    return db_prepare(tx, buf_text(&sql), e);
}

static int each_problem(pass *p, const problem_list *problems, err *e)
{
    for (size_t i = 0; i < problems->count; i++) {
        SCOPED(db_reset) sqlite3_stmt *s = task_statement(p->tx, e);
        if (s == NULL)
            return -1;
        db_text(s, 1, p->run);
        db_text(s, 2, problems->rows[i].id);
        if (each_row(p, s, e) < 0)
            return -1;
    }
    return 0;
}

void score_sums_fini(score_sums *self)
{
    spend_list_fini(&self->spend);
    column_rows_free(snapshot_texts, sizeof(snapshot_row), self->snapshots.rows,
                     self->snapshots.count);
    *self = (score_sums){0};
}

int score_each(store_tx *tx, const char *run, score_fn *fn, void *arg, score_sums *sums, err *e)
{
    pass p = {.tx = tx, .run = run, .fn = fn, .arg = arg};
    SCOPED(problem_list_fini) problem_list problems = {0};
    SCOPED(db_reset) sqlite3_stmt *use = db_prepare(tx, use_sql, e);
    p.use = use;
    if (use == NULL || problem_list_read(tx, run, &problems, e) < 0 ||
        each_problem(&p, &problems, e) < 0) {
        score_sums_fini(&p.sums);
        return -1;
    }
    if (p.sums.spend.count > 1)
        qsort(p.sums.spend.rows, p.sums.spend.count, sizeof(spend_row), by_key);
    if (p.sums.snapshots.count > 1)
        qsort(p.sums.snapshots.rows, p.sums.snapshots.count, sizeof(snapshot_row), by_snapshot);
    *sums = p.sums;
    return 0;
}
