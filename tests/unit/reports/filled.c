/* filled - databases with known runs, filled through the store's own writers
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/reports/filled.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/artifact.h"
#include "store/call.h"
#include "store/task.h"

static const char *const problems[] = {"add", "sum", "scan", "norm"};
static const char *const categories[] = {"elementwise", "reduction", "scan", "normalization"};

/* One task to be: what its result is. */
typedef struct plan {
    const char *run, *entrant;
    int problem;
    int64_t sample;
    outcome result;
    const char *stage, *detail, *reason;
    double candidate_ms, baseline_ms; /* 0: none */
    const char *kind;                 /* device kind */
    int calls, attempts;
    double cost; /* a call; < 0: unknown */
} plan;

typedef struct run_plan {
    const char *id, *device;
    int64_t created_ms, samples;
    int problem_count;
    const char *entrants[3];
    int64_t entrant_ids[3];
} run_plan;

static int put_run(store_tx *tx, void *arg, err *e)
{
    run_plan *r = arg;
    run_row row = {.id = r->id,
                   .created_ms = r->created_ms,
                   .state = RUN_RUNNING,
                   .suite = "internal",
                   .suite_version = "0.1",
                   .suite_hash = hash_of_text("internal 0.1"),
                   .device = r->device,
                   .seed = 7,
                   .samples = r->samples,
                   .correct_protocol = "ce-correct-1",
                   .timing_protocol = "ce-timing-1",
                   .settings = "{}",
                   .command = "ce-coord eval --suite internal --model-id gold",
                   .version = "0.1.0"};
    hash prompt;
    if (run_insert(tx, &row, e) < 0 || artifact_put_text(tx, "prompt", &prompt, e) < 0)
        return -1;
    for (int i = 0; i < r->problem_count; i++) {
        problem_row p = {.run = r->id,
                         .id = problems[i],
                         .position = i,
                         .title = problems[i],
                         .category = categories[i],
                         .dtype = "f32",
                         .contract = "{}",
                         .contract_hash = hash_of_text(problems[i]),
                         .prompt = prompt,
                         .reference = prompt};
        if (problem_insert(tx, &p, e) < 0)
            return -1;
    }
    for (int i = 0; i < 3 && r->entrants[i] != NULL; i++) {
        bool gold = strcmp(r->entrants[i], "gold") == 0;
        entrant_row entrant = {.run = r->id,
                               .name = r->entrants[i],
                               .models = gold ? "{\"codegen\":\"gold\"}"
                                              : "{\"codegen\":\"some:model\"}"};
        if (entrant_insert(tx, &entrant, &r->entrant_ids[i], e) < 0)
            return -1;
    }
    return 0;
}

static int64_t entrant_id(store_tx *tx, const plan *p)
{
    entrant_list list;
    int64_t id = 0;
    if (entrant_list_read(tx, p->run, &list, NULL) < 0)
        return 0;
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.rows[i].name, p->entrant) == 0)
            id = list.rows[i].id;
    entrant_list_fini(&list);
    return id;
}

static int put_calls(store_tx *tx, const char *task, const plan *p, err *e)
{
    for (int i = 0; i < p->calls; i++) {
        hash text;
        if (artifact_put_text(tx, "an answer", &text, e) < 0)
            return -1;
        call_row call = {.stage = i == 0 ? "interview" : "codegen",
                         .number = i == 0 ? 0 : i - 1,
                         .provider = "mock",
                         .model = "demo",
                         .served = "demo-2026-11",
                         .prompt = text,
                         .answer = text,
                         .stop = "ok",
                         .tokens_in = 1000,
                         .tokens_out = p->cost < 0 ? -1 : 500,
                         .tokens_cache_read = 200,
                         .tokens_cache_write = -1,
                         .cost_usd = p->cost < 0 ? (double)NAN : p->cost,
                         .latency_ms = 1500,
                         .record = text};
        if (call_put(tx, task, 1, &call, 2000 + i, e) < 0)
            return -1;
    }
    return 0;
}

static int put_stage(store_tx *tx, const char *task, const plan *p, err *e)
{
    hash text;
    if (artifact_put_text(tx, "extern \"C\" __global__ void k() {}\n", &text, e) < 0)
        return -1;
    attempt_row attempts[4];
    for (int i = 0; i < p->attempts; i++)
        attempts[i] =
            (attempt_row){.number = i,
                          .stage = "codegen",
                          .source = text,
                          .plan = text,
                          .log = text,
                          .result = i + 1 < p->attempts ? OUTCOME_COMPILE_FAILED : p->result,
                          .compile_ms = 41.5,
                          .registers = 32,
                          .local_bytes = 0};
    measurement_row measurements[2] = {{.side = "candidate",
                                        .mode = "plan",
                                        .shape = "n=4096",
                                        .median_ms = p->candidate_ms,
                                        .sample_count = 20,
                                        .slots = 4,
                                        .l2 = "cold",
                                        .event_floor_ms = 0.002},
                                       {.side = "baseline",
                                        .mode = "eager",
                                        .shape = "n=4096",
                                        .median_ms = p->baseline_ms,
                                        .sample_count = 20,
                                        .slots = 4,
                                        .l2 = "cold",
                                        .event_floor_ms = 0.002,
                                        .winner = true}};
    stage_row stage = {.stage = "codegen",
                       .status = p->result == OUTCOME_OK ? "passed" : "failed",
                       .result = p->result,
                       .detail = p->detail,
                       .record = text,
                       .wall_ms = 3000,
                       .device_ms = 0,
                       .calls = p->calls,
                       .attempts = attempts,
                       .attempt_count = (size_t)p->attempts,
                       .measurements = measurements,
                       .measurement_count = p->candidate_ms > 0 ? 2 : 0};
    return stage_put(tx, task, 1, &stage, 2500, e);
}

static result_row result_of(const plan *p)
{
    bool timed = p->candidate_ms > 0;
    result_row row = timed ? fixture_ok_result(p->candidate_ms, p->baseline_ms)
                           : fixture_failed_result(p->result, p->stage);
    row.result = p->result;
    row.detail = p->detail;
    row.reason = timed ? NULL : p->reason;
    row.calls = p->calls;
    row.device_kind = p->kind;
    row.correct_protocol = "ce-correct-1";
    if (strcmp(p->kind, "fake") == 0) {
        row.device = "fake";
        row.driver = row.torch = NULL;
    }
    row.source = hash_of_text("extern \"C\" __global__ void k() {}\n");
    row.plan = row.source;
    return row;
}

static void task_id(const plan *p, char out[96])
{
    snprintf(out, 96, "%s-%s-%.4s-%d", p->run, problems[p->problem], p->entrant, (int)p->sample);
}

static int insert_task(store_tx *tx, const char *id, const plan *p, err *e)
{
    task_row task = {.id = id,
                     .run = p->run,
                     .kind = "synthesize",
                     .problem = problems[p->problem],
                     .entrant = entrant_id(tx, p),
                     .sample = p->sample,
                     .spec = hash_of_text("prompt")};
    return task_insert(tx, &task, e);
}

static int put_task(store_tx *tx, void *arg, err *e)
{
    const plan *p = arg;
    char id[96];
    task_id(p, id);
    if (insert_task(tx, id, p, e) < 0 || task_grant(tx, id, "node-a", 1, 1500, e) < 0 ||
        put_calls(tx, id, p, e) < 0 || put_stage(tx, id, p, e) < 0)
        return -1;
    result_row row = result_of(p);
    return result_put(tx, id, 1, &row, 3000, e);
}

typedef struct ending {
    const char *run;
    run_state state;
    int64_t now_ms;
} ending;

static int put_ending(store_tx *tx, void *arg, err *e)
{
    ending *end = arg;
    return run_set_state(tx, end->run, end->state, end->now_ms, e);
}

static void fill(fixture *f, run_plan *run, plan *plans, size_t count, run_state state)
{
    fixture_do(f, put_run, run);
    for (size_t i = 0; i < count; i++) {
        plans[i].run = run->id;
        if (plans[i].kind == NULL)
            plans[i].kind = "cuda";
        fixture_do(f, put_task, &plans[i]);
    }
    fixture_do(f, put_ending, &(ending){run->id, state, run->created_ms + 90000});
    fixture_exec(f,
                 "INSERT INTO comparison (task, stage, source, plan, purpose, verdict, "
                 "baseline_mode, timing_mode, slots, pairs, processes, voids, margin, calibrated) "
                 "SELECT id, 'performance', source, plan, 'published', verdict, 'eager', 'E', 4, "
                 "10, 5, 0, 0.01, 0 FROM task t WHERE verdict IS NOT NULL AND NOT EXISTS "
                 "(SELECT 1 FROM comparison c WHERE c.task = t.id)");
}

void filled_cuda(fixture *f)
{
    run_plan run = {.id = "run-cuda",
                    .device = "cuda",
                    .created_ms = 1764520000000,
                    .samples = 1,
                    .problem_count = 4,
                    .entrants = {"gold", "mock:de|mo"}};
    plan plans[] = {
        {.entrant = "gold",
         .problem = 0,
         .candidate_ms = 0.01,
         .baseline_ms = 0.025,
         .attempts = 1},
        {.entrant = "gold",
         .problem = 1,
         .candidate_ms = 0.02,
         .baseline_ms = 0.016,
         .attempts = 1},
        {.entrant = "gold",
         .problem = 2,
         .reason = "no baseline ran: out of memory",
         .attempts = 1},
        {.entrant = "gold", .problem = 3, .candidate_ms = 1, .baseline_ms = 1.1, .attempts = 1},
        {.entrant = "mock:de|mo",
         .problem = 0,
         .result = OUTCOME_WRONG,
         .stage = "correctness",
         .detail = "unwritten",
         .reason = "not correct",
         .calls = 3,
         .attempts = 2,
         .cost = 0.01},
        {.entrant = "mock:de|mo",
         .problem = 1,
         .result = OUTCOME_COMPILE_FAILED,
         .stage = "codegen",
         .reason = "does not compile",
         .calls = 4,
         .attempts = 3,
         .cost = 0.02},
        {.entrant = "mock:de|mo",
         .problem = 2,
         .candidate_ms = 0.5,
         .baseline_ms = 0.8,
         .calls = 2,
         .attempts = 1,
         .cost = 0.015},
        {.entrant = "mock:de|mo",
         .problem = 3,
         .result = OUTCOME_NO_ANSWER,
         .stage = "codegen",
         .detail = "refused",
         .reason = "no answer, \"refused\"",
         .calls = 1,
         .cost = -1},
    };
    fill(f, &run, plans, sizeof plans / sizeof plans[0], RUN_COMPLETE);
}

void filled_newer(fixture *f)
{
    run_plan run = {.id = "run-newer",
                    .device = "cuda",
                    .created_ms = 1764520500000,
                    .samples = 1,
                    .problem_count = 4,
                    .entrants = {"mock:two"}};
    plan plans[] = {
        {.entrant = "mock:two",
         .problem = 0,
         .candidate_ms = 0.01,
         .baseline_ms = 0.0255,
         .calls = 1,
         .attempts = 1,
         .cost = 0.5},
        {.entrant = "mock:two",
         .problem = 1,
         .candidate_ms = 0.01,
         .baseline_ms = 0.012,
         .calls = 1,
         .attempts = 1,
         .cost = 0.5},
        {.entrant = "mock:two",
         .problem = 2,
         .result = OUTCOME_WRONG,
         .stage = "correctness",
         .detail = "precision",
         .reason = "not correct",
         .calls = 2,
         .attempts = 2,
         .cost = 0.5},
        {.entrant = "mock:two",
         .problem = 3,
         .candidate_ms = 1,
         .baseline_ms = 0.9,
         .calls = 1,
         .attempts = 1,
         .cost = 0.5},
    };
    fill(f, &run, plans, sizeof plans / sizeof plans[0], RUN_COMPLETE);
}

void filled_fake(fixture *f)
{
    run_plan run = {.id = "run-fake",
                    .device = "fake",
                    .created_ms = 1764520900000,
                    .samples = 1,
                    .problem_count = 2,
                    .entrants = {"gold"}};
    plan plans[] = {
        {.entrant = "gold",
         .problem = 0,
         .candidate_ms = 0.01,
         .baseline_ms = 0.02,
         .attempts = 1,
         .kind = "fake"},
        {.entrant = "gold",
         .problem = 1,
         .result = OUTCOME_CRASHED,
         .stage = "correctness",
         .reason = "not correct",
         .attempts = 1,
         .kind = "fake"},
    };
    fill(f, &run, plans, sizeof plans / sizeof plans[0], RUN_COMPLETE);
}

static int put_open_task(store_tx *tx, void *arg, err *e)
{
    const plan *p = arg;
    char id[96];
    task_id(p, id);
    return insert_task(tx, id, p, e);
}

static int lease_one_fail_other(store_tx *tx, void *arg, err *e)
{
    (void)arg;
    if (task_grant(tx, "run-part-add-gold-1", "node-b", 1, 1600, e) < 0)
        return -1;
    return task_fail(tx, "run-part-add-gold-2", "gave up after 3 leases: no GPU", 1700, e);
}

void filled_partial(fixture *f)
{
    run_plan run = {.id = "run-part",
                    .device = "cuda",
                    .created_ms = 1764520950000,
                    .samples = 3,
                    .problem_count = 1,
                    .entrants = {"gold"}};
    plan plans[] = {{.entrant = "gold", .candidate_ms = 0.01, .baseline_ms = 0.015, .attempts = 1}};
    fill(f, &run, plans, 1, RUN_INTERRUPTED);
    for (int64_t sample = 1; sample < 3; sample++)
        fixture_do(f, put_open_task,
                   &(plan){.run = "run-part", .entrant = "gold", .sample = sample});
    fixture_do(f, lease_one_fail_other, NULL);
}

void golden(const char *name, const char *text)
{
    SCOPED(scoped_free) char *path = file_join(CE_SOURCE_DIR "/tests/data/reports", name);
    if (getenv("CE_UPDATE_GOLDEN") != NULL) {
        assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
        return;
    }
    SCOPED(buf_fini) buf want = {0};
    buf_init(&want, 1024 * 1024);
    err e = {0};
    if (file_read(path, &want, &e) < 0)
        fail_msg("%s", e.text);
    assert_string_equal(text, buf_text(&want));
}
