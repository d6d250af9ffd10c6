/* test_paid - what a node hears when it wants to send a paid call
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "coordinator/paid.h"
#include "world.h"

/* gpt-4o: 2.5 and 10 USD a million: worst of one attempt 0.001 * 2.5 + 0.0001 * 10, twice. */
enum { BYTES = 1000, OUTPUT = 100 };
#define WORST 0.007

static uint64_t ask(client *box, const message *given, const char *model, int64_t index)
{
    message m;
    message_init(&m, MSG_RESERVE);
    struct msg_reserve *r = &m.body.reserve;
    message_set_str(&r->task, given->body.lease.task);
    r->token = given->body.lease.token;
    message_set_str(&r->stage, "codegen");
    r->index = index;
    message_set_str(&r->provider, "openai");
    message_set_str(&r->model, model);
    r->prompt_bytes = BYTES;
    r->output_max = OUTPUT;
    return client_send(box, &m);
}

/* How long to wait, 0: it may be sent. */
static int64_t granted(client *box, const message *given, const char *model, int64_t index)
{
    message m;
    uint64_t seq = ask(box, given, model, index);
    client_expect(box, MSG_GRANT, &m);
    MUST(m.body.grant.ref == (int64_t)seq);
    MUST(m.body.grant.patient);
    int64_t wait = m.body.grant.wait_ms;
    message_fini(&m);
    return wait;
}

static int64_t refused(client *box, const message *given, const char *model, int64_t index)
{
    return client_ack(box, ask(box, given, model, index));
}

static int64_t settle(client *box, const message *given, int64_t bills, bool terminal)
{
    message m;
    message_init(&m, MSG_SETTLE);
    struct msg_settle *s = &m.body.settle;
    message_set_str(&s->task, given->body.lease.task);
    s->token = given->body.lease.token;
    message_set_str(&s->stage, "codegen");
    message_set_str(&s->provider, "openai");
    message_set_str(&s->model, "gpt-4o");
    s->attempts = 1;
    s->unknown_bills = bills;
    s->terminal = terminal;
    message_set_str(&s->text, "quota: used up");
    return client_ack(box, client_send(box, &m));
}

static void take(client *box, const char *kind, message *given)
{
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, given);
    MUST(strcmp(given->body.lease.kind, kind) == 0);
}

static void pass_contract(client *box)
{
    message given;
    client_join(box, "box", 4);
    take(box, "contract", &given);
    MUST(client_result(box, &given, "ok", "") == 0);
    message_fini(&given);
}

static void limit(world *w, double usd)
{
    w->run->budget_usd = usd;
    paid_destroy(&w->coord->paid);
    w->coord->paid = paid_create(w->run);
}

static void spend_it(client *box, world *w)
{
    message one, two;
    pass_contract(box);
    take(box, "synthesize", &one);
    take(box, "synthesize", &two);
    MUST(granted(box, &one, "gpt-4o", 0) == 0);
    MUST(world_count(w, "charge WHERE state = 'open'") == 1); /* before anything is sent */
    MUST(refused(box, &one, "gpt-4o", 1) == ERR_CONFLICT);    /* one call a task */
    MUST(granted(box, &two, "gpt-4o", 0) > 0);                /* what is missing may come back */
    MUST(settle(box, &one, 0, false) == 0);
    MUST(granted(box, &two, "gpt-4o", 0) == 0);
    MUST(settle(box, &two, 1, false) == 0); /* half is gone */
    MUST(refused(box, &two, "gpt-4o", 1) == ERR_LIMIT);
    MUST(refused(box, &one, "unheard-of", 1) == ERR_LIMIT); /* no price, no promise */
    MUST(client_give_back(box, &one, ERR_LIMIT, "budget") == 0);
    MUST(client_give_back(box, &two, ERR_LIMIT, "budget") == 0);
    message_fini(&one);
    message_fini(&two);
}

static void a_budget_is_never_passed_and_ends_the_run(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){.only = "vector_add_fp32", .samples = 2});
    limit(w, WORST + 0.0005);
    assert_int_equal(world_play(w, spend_it), COORD_FINISHED);
    bool budget = false;
    const char *why = paid_stopped(w->coord->paid, &budget);
    assert_true(budget);
    assert_non_null(strstr(why, "the budget of $0.0075 is reached"));
    assert_int_equal(world_count(w, "charge WHERE state = 'failed'"), 2);
    assert_int_equal(world_count(w, "task WHERE kind = 'synthesize' AND state = 'waiting'"), 2);
    assert_int_equal(world_count(w, "event WHERE kind = 'failed'"), 0);
}

static void use_up_the_quota(client *box, world *w)
{
    message given;
    (void)w;
    pass_contract(box);
    take(box, "synthesize", &given);
    MUST(granted(box, &given, "gpt-4o", 0) == 0);
    MUST(settle(box, &given, 0, true) == 0);
    MUST(client_give_back(box, &given, ERR_LIMIT, "quota") == 0);
    message_fini(&given);
    for (int i = 0; i < 2; i++) { /* the other entrant's tasks go on */
        take(box, "synthesize", &given);
        if (i == 1) /* whoever asks there */
            MUST(refused(box, &given, "gpt-4o", 0) == ERR_LIMIT);
        MUST(client_result(box, &given, "ok", "") == 0);
        message_fini(&given);
    }
}

static void a_used_up_quota_stops_that_entrant_only(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(
        &(world_options){.only = "vector_add_fp32", .samples = 2, .entrants = "gold,mock:other"});
    assert_int_equal(world_play(w, use_up_the_quota), COORD_FINISHED);
    bool budget = true;
    assert_string_equal(paid_stopped(w->coord->paid, &budget), "quota: used up");
    assert_false(budget);
    assert_int_equal(world_count(w, "task WHERE kind = 'synthesize' AND state = 'waiting'"), 2);
}

/* A node that says bye with a call in flight. */
static void vanish(client *box, world *w)
{
    message given, bye;
    pass_contract(box);
    take(box, "synthesize", &given);
    MUST(granted(box, &given, "gpt-4o", 0) == 0);
    message_init(&bye, MSG_BYE);
    message_set_str(&bye.body.bye.text, "gone");
    client_send(box, &bye);
    client_join(box, "box", 1);
    MUST(settle(box, &given, 0, false) == ERR_CONFLICT);
    message_fini(&given);
    take(box, "synthesize", &given);
    MUST(world_count(w, "charge WHERE state = 'unknown' AND unknown_usd > 0.0069") == 1);
    MUST(refused(box, &given, "gpt-4o", 0) == ERR_LIMIT); /* it counts whole */
    MUST(client_result(box, &given, "ok", "") == 0);
    message_fini(&given);
}

static void a_call_that_vanished_counts_at_its_worst(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    limit(w, 2 * WORST - 0.001);
    assert_int_equal(world_play(w, vanish), COORD_FINISHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_budget_is_never_passed_and_ends_the_run),
        cmocka_unit_test(a_used_up_quota_stops_that_entrant_only),
        cmocka_unit_test(a_call_that_vanished_counts_at_its_worst),
    };
    return cmocka_run_group_tests_name("coordinator/paid", tests, NULL, NULL);
}
