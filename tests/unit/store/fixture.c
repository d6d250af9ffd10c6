/* fixture - a database in a folder of its own, with a small run inside
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/store/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/artifact.h"
#include "store/db.h"
#include "store/task.h"

static store *open_or_fail(const char *path)
{
    err e = {0};
    store *db = store_open(path, STORE_OWN, &e);
    if (db == NULL)
        fail_msg("%s", e.text);
    return db;
}

fixture *fixture_create(void)
{
    fixture *self = xcalloc(1, sizeof *self);
    snprintf(self->folder, sizeof self->folder, "/tmp/ce-store-XXXXXX");
    assert_non_null(mkdtemp(self->folder));
    snprintf(self->path, sizeof self->path, "%s/ce.db", self->folder);
    self->db = open_or_fail(self->path);
    return self;
}

void fixture_destroy(fixture **self)
{
    if (*self == NULL)
        return;
    store_destroy(&(*self)->db);
    file_remove_tree((*self)->folder, NULL);
    free(*self);
    *self = NULL;
}

void fixture_reopen(fixture *self)
{
    store_destroy(&self->db);
    self->db = open_or_fail(self->path);
}

void fixture_do(fixture *self, store_fn *fn, void *arg)
{
    err e = {0};
    if (store_run(self->db, fn, arg, &e) != 0)
        fail_msg("%s", e.text);
}

const char *fixture_fails(fixture *self, store_fn *fn, void *arg, err_code code)
{
    static char text[ERR_TEXT_MAX];
    err e = {0};
    assert_int_equal(store_run(self->db, fn, arg, &e), -1);
    if (e.code != code)
        fail_msg("%s: %s", err_code_name(e.code), e.text);
    memcpy(text, e.text, sizeof text);
    return text;
}

typedef struct counting {
    const char *from;
    int64_t count;
} counting;

static int count_fn(store_tx *tx, void *arg, err *e)
{
    counting *c = arg;
    SCOPED(scoped_free) char *sql = xasprintf("SELECT count(*) FROM %s", c->from);
    SCOPED(db_reset) sqlite3_stmt *s = db_prepare(tx, sql, e);
    if (s == NULL || db_step(tx, s, e) < 0)
        return -1;
    c->count = sqlite3_column_int64(s, 0);
    return 0;
}

int64_t fixture_count(fixture *self, const char *from)
{
    counting c = {from, -1};
    fixture_do(self, count_fn, &c);
    return c.count;
}

typedef struct sql_text {
    const char *sql;
} sql_text;

static int exec_fn(store_tx *tx, void *arg, err *e)
{
    return db_exec(tx, ((sql_text *)arg)->sql, e);
}

void fixture_exec(fixture *self, const char *sql)
{
    sql_text text = {sql};
    fixture_do(self, exec_fn, &text);
}

typedef struct text_job {
    const char *text;
    hash name;
} text_job;

static int text_fn(store_tx *tx, void *arg, err *e)
{
    text_job *job = arg;
    return artifact_put_text(tx, job->text, &job->name, e);
}

hash fixture_text(fixture *self, const char *text)
{
    text_job job = {.text = text};
    fixture_do(self, text_fn, &job);
    return job.name;
}

static int seed_problem(store_tx *tx, const char *id, int64_t position, err *e)
{
    hash prompt;
    if (artifact_put_text(tx, "prompt", &prompt, e) < 0)
        return -1;
    problem_row problem = {.run = "run1",
                           .id = id,
                           .position = position,
                           .title = id,
                           .category = "elementwise",
                           .dtype = "f32",
                           .contract = "{}",
                           .contract_hash = hash_of_text("{}"),
                           .prompt = prompt,
                           .reference = prompt};
    return problem_insert(tx, &problem, e);
}

static int seed_task(store_tx *tx, const char *id, const char *problem, int64_t entrant, err *e)
{
    task_row task = {.id = id,
                     .run = "run1",
                     .kind = "synthesize",
                     .problem = problem,
                     .entrant = entrant,
                     .spec = hash_of_text("prompt")};
    return task_insert(tx, &task, e);
}

static int seed_fn(store_tx *tx, void *arg, err *e)
{
    (void)arg;
    run_row run = {.id = "run1",
                   .created_ms = 1000,
                   .state = RUN_RUNNING,
                   .suite = "internal",
                   .suite_version = "0.1",
                   .suite_hash = hash_of_text("internal 0.1"),
                   .device = "cuda",
                   .seed = 7,
                   .samples = 1,
                   .correct_protocol = "ce-correct-0",
                   .timing_protocol = "ce-timing-1",
                   .settings = "{}",
                   .command = "ce-coord eval --suite internal --model-id gold",
                   .version = "0.1.0"};
    entrant_row entrant = {.run = "run1", .name = "gold", .models = "{\"codegen\":\"gold\"}"};
    int64_t id;
    if (run_insert(tx, &run, e) < 0 || entrant_insert(tx, &entrant, &id, e) < 0)
        return -1;
    if (seed_problem(tx, "add", 0, e) < 0 || seed_problem(tx, "sum", 1, e) < 0)
        return -1;
    return seed_task(tx, "task1", "add", id, e) < 0 ? -1 : seed_task(tx, "task2", "sum", id, e);
}

void fixture_seed(fixture *self)
{
    fixture_do(self, seed_fn, NULL);
}

result_row fixture_failed_result(outcome result, const char *stage)
{
    double none = (double)NAN;
    return (result_row){.result = result,
                        .stage = stage,
                        .text = "it failed",
                        .speedup = none,
                        .reason = "the candidate is not correct",
                        .candidate_ms = none,
                        .baseline_ms = none,
                        .ci_low = none,
                        .ci_high = none,
                        .floor_ms = none,
                        .device = "NVIDIA H200",
                        .device_kind = "cuda",
                        .correct_protocol = "ce-correct-0",
                        .timing_protocol = "ce-timing-1",
                        .wall_ms = 1500,
                        .device_ms = 100,
                        .calls = 2};
}

result_row fixture_ok_result(double candidate_ms, double baseline_ms)
{
    return (result_row){.result = OUTCOME_OK,
                        .speedup = baseline_ms / candidate_ms,
                        .candidate_ms = candidate_ms,
                        .baseline_ms = baseline_ms,
                        .baseline_mode = "eager",
                        .verdict = baseline_ms > candidate_ms ? "faster" : "slower",
                        .ci_low = baseline_ms / candidate_ms * 0.99,
                        .ci_high = baseline_ms / candidate_ms * 1.01,
                        .floor_ms = candidate_ms / 4,
                        .marks = "uncalibrated",
                        .device = "NVIDIA H200",
                        .device_kind = "cuda",
                        .device_uuid = "GPU-1",
                        .driver = "13000",
                        .torch = "2.11.0",
                        .nvrtc = "13.0",
                        .correct_protocol = "ce-correct-0",
                        .timing_protocol = "ce-timing-1",
                        .wall_ms = 2500,
                        .device_ms = 700,
                        .calls = 1};
}
