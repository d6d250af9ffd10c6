/* test_dashboard - all of it beside a writer
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "common/scoped.h"
#include "dashboards/dashboard.h"
#include "tests/unit/dashboards/browser.h"
#include "tests/unit/reports/filled.h"

static void what_the_owner_writes_and_says_is_seen(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    const dashboard_options options = {.address = "0", .db = f->path, .version = "0.1.0"};
    err e = {0};
    SCOPED(dashboard_destroy) dashboard *d = dashboard_start(&options, &e);
    if (d == NULL)
        fail_msg("%s", e.text);
    dashboard_set(d, FEED_NODES, "[]");
    dashboard_gauge(d, METRICS_QUEUE_WAITING, 12);
    int fd = browser_open(dashboard_url(d), "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    SCOPED(scoped_free) char *nodes = browser_read(fd, "event: nodes\ndata: []");
    fixture_exec(f, "INSERT INTO event (at_ms, kind) VALUES (1, 'by-the-owner')");
    SCOPED(scoped_free) char *news = browser_read(fd, "by-the-owner");
    SCOPED(scoped_free) char *text = browser_get(dashboard_url(d), "/metrics", "");
    assert_non_null(strstr(text, "ce_queue_tasks 12\n"));
    assert_non_null(strstr(text, "ce_event_streams 1\n"));
    assert_non_null(nodes);
    assert_non_null(news);
    close(fd);
}

static void what_cannot_start_says_why(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    const dashboard_options rows[] = {
        {.address = "0", .db = "/nowhere/ce.db", .version = "0.1.0"},
        {.address = "what", .db = f->path, .version = "0.1.0"},
        {.address = "0.0.0.0:0", .db = f->path, .version = "0.1.0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        SCOPED(dashboard_destroy) dashboard *d = dashboard_start(&rows[i], &e);
        assert_null(d);
        assert_true(e.text[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_owner_writes_and_says_is_seen),
        cmocka_unit_test(what_cannot_start_says_why),
    };
    return cmocka_run_group_tests_name("dashboard", tests, NULL, NULL);
}
