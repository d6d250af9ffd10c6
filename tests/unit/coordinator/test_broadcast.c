/* test_broadcast - what a page hears while a run goes on
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/broadcast.h"
#include "tests/unit/dashboards/browser.h"
#include "world.h"

#define EVENTS "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"

static broadcast *live; /* for the script, which runs in a thread of its own */

static void hold_a_task(client *box, world *w)
{
    (void)w;
    message given;
    int page = browser_open(broadcast_url(live), EVENTS);
    SCOPED(scoped_free) char *waiting = browser_read(page, "waiting for a node");
    MUST(strstr(waiting, "\"planned\":1") != NULL);
    client_join(box, "box", 3);
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, &given);
    MUST(client_result(box, &given, "ok", "") == 0); /* the contract */
    message_fini(&given);
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, &given);
    SCOPED(scoped_free)
    char *busy = browser_read(page, "\"problem\":\"vector_add_fp32\",\"stage\"");
    MUST(strstr(busy, "\"name\":\"box\"") != NULL);
    SCOPED(scoped_free) char *text = browser_get(broadcast_url(live), "/metrics", "");
    MUST(strstr(text, "ce_leases_active 1\n") != NULL);
    MUST(strstr(text, "ce_nodes_connected 1\n") != NULL);
    MUST(strstr(text, "ce_budget_remaining_usd") == NULL);
    MUST(client_result(box, &given, "ok", "") == 0);
    message_fini(&given);
    close(page);
}

static void a_page_follows_a_run(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    err e = {0};
    const dashboard_options options = {.address = "0", .db = w->db, .version = "0.1.0"};
    live = broadcast_start(w->coord, &options, &e);
    if (live == NULL)
        fail_msg("%s", e.text);
    assert_int_equal(world_play(w, hold_a_task), COORD_FINISHED);
    broadcast_stop(&live);
    assert_null(live);
}

static void join_as(client *box, const char *kind)
{
    message m;
    message_init(&m, MSG_HELLO);
    m.body.hello.protocol = MESSAGE_PROTOCOL;
    m.body.hello.slots = 1;
    message_set_str(&m.body.hello.node, kind);
    message_set_str(&m.body.hello.instance, kind);
    message_set_str(&m.body.hello.software, "{}");
    m.body.hello.devices = xcalloc(1, sizeof *m.body.hello.devices);
    m.body.hello.devices_count = 1;
    message_set_str(&m.body.hello.devices[0].kind, kind);
    client_send(box, &m);
    client_expect(box, MSG_WELCOME, &m);
    message_fini(&m);
}

/* A node without the device is there and has room, and gets nothing. */
static void come_with_the_device(client *box, world *w)
{
    int page = browser_open(broadcast_url(live), EVENTS);
    join_as(box, "fake");
    client_pull(box, 1);
    static const char told[] =
        "2 tasks wait: needs a device of kind cuda; no connected node has one";
    SCOPED(scoped_free) char *events = browser_read(page, told);
    MUST(strstr(events, told) != NULL);
    SCOPED(client_destroy) client *fit = client_create(w->coord->endpoint);
    join_as(fit, "cuda");
    for (int i = 0; i < 2; i++) {
        message given;
        client_pull(fit, 1);
        client_expect(fit, MSG_LEASE, &given);
        MUST(client_result(fit, &given, "ok", "") == 0);
        message_fini(&given);
    }
    close(page);
}

static void a_page_says_why_tasks_wait(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){.only = "vector_add_fp32", .secure = true});
    err e = {0};
    const dashboard_options options = {.address = "0", .db = w->db, .version = "0.1.0"};
    free(w->run->settings.device);
    w->run->settings.device = xstrdup("cuda");
    live = broadcast_start(w->coord, &options, &e);
    if (live == NULL)
        fail_msg("%s", e.text);
    assert_int_equal(world_play(w, come_with_the_device), COORD_FINISHED);
    broadcast_stop(&live);
    assert_int_equal(world_count(w, "lease WHERE node = 'cuda'"), 2);
    assert_int_equal(world_count(w, "lease"), 2);
}

static void what_cannot_be_shown_stops_nothing_that_is_there(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    err e = {0};
    const dashboard_options options = {.address = "0.0.0.0:0", .db = w->db, .version = "0.1.0"};
    assert_null(broadcast_start(w->coord, &options, &e));
    assert_non_null(strstr(e.text, "CE_HTTP_TOKEN"));
    assert_int_equal(world_play(w, world_serve), COORD_FINISHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_follows_a_run),
        cmocka_unit_test(a_page_says_why_tasks_wait),
        cmocka_unit_test(what_cannot_be_shown_stops_nothing_that_is_there),
    };
    return cmocka_run_group_tests_name("broadcast", tests, NULL, NULL);
}
