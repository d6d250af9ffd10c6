/* test_replay - the answers of an earlier run, and replays that do not fit
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/scoped.h"
#include "world.h"
#include "common/clock.h"
#include "store/artifact.h"
#include "store/call.h"
#include "store/task.h"
#include "wire/spec.h"

typedef struct reading {
    hash name;
    buf text;
} reading;

static int read_artifact(store_tx *tx, void *arg, err *e)
{
    reading *r = arg;
    return artifact_get(tx, &r->name, &r->text, e);
}

typedef struct recording {
    const char *task;
    hash answer;
} recording;

static int record_answer(store_tx *tx, void *arg, err *e)
{
    recording *r = arg;
    call_row row = {.stage = "codegen",
                    .number = 0,
                    .provider = "mock",
                    .model = "m",
                    .stop = "ok",
                    .tokens_in = -1,
                    .tokens_out = -1,
                    .tokens_cache_read = -1,
                    .tokens_cache_write = -1,
                    .cost_usd = 0,
                    .latency_ms = 1};
    if (artifact_put_text(tx, "an answer", &r->answer, e) ||
        artifact_put_text(tx, "{}", &row.record, e) || task_grant(tx, r->task, "n", 1, 1, e))
        return -1;
    row.answer = r->answer;
    return call_put(tx, r->task, 1, &row, 1, e);
}

static const char *synthesize_task(const world *w)
{
    for (size_t i = 0; i < sched_size(w->run->tasks); i++) {
        if (sched_get(w->run->tasks, i)->kind == SCHED_SYNTHESIZE)
            return sched_get(w->run->tasks, i)->id;
    }
    return NULL;
}

static int create_replay(world *w, const world_options *options, err *e)
{
    char id[ID_TEXT];
    SCOPED(settings_fini) settings wanted;
    world_settings(options, &wanted);
    SCOPED(selection_destroy) selection *chosen = selection_create(&wanted, NULL);
    const run_request request = {.settings = &wanted,
                                 .selection = chosen,
                                 .command = "test",
                                 .version = "0",
                                 .now_ms = clock_wall_ms()};
    return run_create(w->store, &request, id, e);
}

static void a_replay_names_the_recorded_answers(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    recording r = {.task = synthesize_task(w)};
    assert_int_equal(store_run(w->store, record_answer, &r, NULL), 0);
    assert_int_equal(
        create_replay(w, &(world_options){.only = "vector_add_fp32", .entrants = "replay:latest"},
                      NULL),
        0);
    SCOPED(run_destroy) run *second = run_open(w->store, "latest", clock_wall_ms(), NULL);
    assert_string_not_equal(second->id, w->run->id);
    size_t seen = 0;
    for (size_t i = 0; i < sched_size(second->tasks); i++) {
        reading text = {.name = sched_get(second->tasks, i)->spec};
        buf_init(&text.text, 1024 * 1024);
        assert_int_equal(store_run(w->store, read_artifact, &text, NULL), 0);
        SCOPED(task_spec_fini) task_spec spec;
        assert_int_equal(task_spec_read(text.text.data, text.text.size, &spec, NULL), 0);
        buf_fini(&text.text);
        for (size_t k = 0; k < spec.replay_count; k++, seen++) {
            assert_string_equal(spec.replay[k].stage, "codegen");
            assert_true(hash_equal(&spec.replay[k].answer, &r.answer));
        }
    }
    assert_int_equal(seen, 1);
}

static void a_replay_that_does_not_fit_leaves_nothing_behind(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(
        &(world_options){.only = "vector_add_fp32,argmax_fp32", .entrants = "gold,mock:x.json"});
    static const struct {
        world_options options;
        const char *text;
    } rows[] = {
        {{.only = "vector_add_fp32", .entrants = "replay:nosuch"}, "nosuch"},
        {{.only = "vector_add_fp32", .entrants = "replay:latest"}, "2 entrants"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        assert_int_equal(create_replay(w, &rows[i].options, &e), -1);
        assert_non_null(strstr(e.text, rows[i].text));
    }
    assert_int_equal(world_count(w, "run"), 1);
    assert_int_equal(create_replay(w, &(world_options){.only = "argmax_fp32"}, NULL), 0);
    err e = {0};
    assert_int_equal(
        create_replay(w, &(world_options){.only = "silu_fp16", .entrants = "replay:latest"}, &e),
        -1);
    assert_non_null(strstr(e.text, "no problem silu_fp16"));
    assert_int_equal(
        create_replay(
            w, &(world_options){.only = "argmax_fp32", .entrants = "replay:latest", .samples = 2},
            &e),
        -1);
    assert_non_null(strstr(e.text, "no sample 1 of argmax_fp32"));
    assert_int_equal(world_count(w, "run"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_names_the_recorded_answers),
        cmocka_unit_test(a_replay_that_does_not_fit_leaves_nothing_behind),
    };
    return cmocka_run_group_tests_name("coordinator/replay", tests, NULL, NULL);
}
