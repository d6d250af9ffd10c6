/* test_server - requests over a real socket, kind and unkind
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "dashboards/server.h"
#include "tests/unit/dashboards/browser.h"
#include "tests/unit/reports/filled.h"

typedef struct rig {
    fixture *f;
    metrics *metrics;
    server *server;
    feed *feed;
} rig;

static void on_tick(void *arg, bool news)
{
    (void)news;
    server_tick(arg, true, 0); /* always: a reader that has nothing sleeps again */
}

static rig rig_new(const char *address, const char *token)
{
    rig r = {.f = fixture_create(), .metrics = metrics_create("0.1.0")};
    filled_cuda(r.f);
    err e = {0};
    const server_options options = {
        .address = address, .token = token, .db = r.f->db, .metrics = r.metrics};
    r.server = server_start(&options, &e);
    if (r.server == NULL)
        fail_msg("%s", e.text);
    r.feed = feed_create(r.f->db, on_tick, r.server, &e);
    assert_non_null(r.feed);
    server_stream(r.server, r.feed);
    return r;
}

static void rig_fini(rig *r)
{
    server_stop(r->server);
    feed_destroy(&r->feed);
    server_destroy(&r->server);
    metrics_destroy(&r->metrics);
    fixture_destroy(&r->f);
}

static void begins(const char *answer, const char *status)
{
    if (strncmp(answer, status, strlen(status)) != 0)
        fail_msg("want %s, have: %.300s", status, answer);
}

static void every_path_is_answered_as_it_should_be(void **state)
{
    (void)state;
    static const struct {
        const char *path, *lines, *status, *word;
    } rows[] = {
        {"/", "", "HTTP/1.1 200", "<title>ce</title>"},
        {"/page.js", "", "HTTP/1.1 200", "text/javascript"},
        {"/page.css", "", "HTTP/1.1 200", "text/css"},
        {"/icon.svg", "", "HTTP/1.1 200", "image/svg+xml"},
        {"/healthz", "", "HTTP/1.1 200", "ok"},
        {"/readyz", "", "HTTP/1.1 200", "ok"},
        {"/metrics", "", "HTTP/1.1 200", "version=0.0.4"},
        {"/metrics", "Accept: application/openmetrics-text\r\n", "HTTP/1.1 200", "# EOF"},
        {"/api/runs", "", "HTTP/1.1 200", "run-cuda"},
        {"/api/board?run=run-cuda", "", "HTTP/1.1 200", "entrants"},
        {"/api/run?run=nowhere", "", "HTTP/1.1 404", "error"},
        {"/api/task", "", "HTTP/1.1 400", "which task"},
        {"/api/blob?hash=%2e%2e%2f", "", "HTTP/1.1 400", "hexadecimal"},
        {"/../../etc/passwd", "", "HTTP/1.1 404", "there is nothing here"},
        {"/%2e%2e/%2e%2e/etc/passwd", "", "HTTP/1.1 404", "there is nothing here"},
        {"/web/page.js", "", "HTTP/1.1 404", "there is nothing here"},
        {"/", "Origin: http://evil.example\r\n", "HTTP/1.1 403", "another site"},
        {"/login?token=x", "", "HTTP/1.1 403", "not the token"},
    };
    SCOPED(rig_fini) rig r = rig_new("127.0.0.1:0", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(scoped_free)
        char *answer = browser_get(server_url(r.server), rows[i].path, rows[i].lines);
        begins(answer, rows[i].status);
        if (strstr(answer, rows[i].word) == NULL)
            fail_msg("%s: no \"%s\" in %.600s", rows[i].path, rows[i].word, answer);
        assert_non_null(strstr(answer, "Content-Security-Policy: default-src 'none'"));
        assert_non_null(strstr(answer, "X-Content-Type-Options: nosniff"));
    }
}

static void what_no_browser_sends_is_refused(void **state)
{
    (void)state;
    SCOPED(rig_fini) rig r = rig_new("127.0.0.1:0", NULL);
    SCOPED(scoped_free) char *long_line = xmalloc(SERVER_REQUEST + 100);
    memset(long_line, 'a', SERVER_REQUEST + 99);
    long_line[SERVER_REQUEST + 99] = '\0';
    SCOPED(scoped_free)
    char *oversized = xasprintf("GET / HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n", long_line);
    const struct {
        const char *bytes, *status;
    } rows[] = {
        {"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
         "HTTP/1.1 405"},
        {"PUT /api/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
         "3\r\n\r\nabc",
         "HTTP/1.1 405"},
        {"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", "HTTP/1.1 403"},
        {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 403"},
        {oversized, "HTTP/1.1 431"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int fd = browser_open(server_url(r.server), rows[i].bytes);
        SCOPED(scoped_free) char *answer = browser_read(fd, NULL);
        close(fd);
        begins(answer, rows[i].status);
    }
    SCOPED(scoped_free) char *after = browser_get(server_url(r.server), "/healthz", "");
    begins(after, "HTTP/1.1 200");
}

static void a_token_is_needed_where_it_is_set(void **state)
{
    (void)state;
    SCOPED(rig_fini) rig r = rig_new("127.0.0.1:0", "0123456789abcdef");
    static const struct {
        const char *path, *lines, *status;
    } rows[] = {
        {"/", "", "HTTP/1.1 401"},
        {"/metrics", "", "HTTP/1.1 401"},
        {"/events", "", "HTTP/1.1 401"},
        {"/healthz", "", "HTTP/1.1 200"},
        {"/metrics", "Authorization: Bearer 0123456789abcdef\r\n", "HTTP/1.1 200"},
        {"/", "Cookie: ce_token=0123456789abcdef\r\n", "HTTP/1.1 200"},
        {"/", "Cookie: ce_token=0123456789abcdeg\r\n", "HTTP/1.1 401"},
        {"/login?token=0123456789abcdeg", "", "HTTP/1.1 403"},
        {"/login?token=0123456789abcdef", "", "HTTP/1.1 303"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(scoped_free)
        char *answer = browser_get(server_url(r.server), rows[i].path, rows[i].lines);
        begins(answer, rows[i].status);
        if (strstr(rows[i].status, "303"))
            assert_non_null(strstr(answer, "HttpOnly; SameSite=Strict"));
    }
}

static void a_stream_wakes_for_news_and_ends_with_the_server(void **state)
{
    (void)state;
    SCOPED(rig_fini) rig r = rig_new("127.0.0.1:0", NULL);
    int fd = browser_open(server_url(r.server), "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    SCOPED(scoped_free) char *first = browser_read(fd, "retry: 2000\n\n");
    assert_non_null(strstr(first, "Content-Type: text/event-stream"));
    fixture_exec(r.f, "INSERT INTO event (at_ms, run, kind) VALUES (1, 'run-cuda', 'one')");
    SCOPED(scoped_free) char *news = browser_read(fd, "\"kind\":\"one\"");
    assert_non_null(strstr(news, "event: change"));
    assert_int_equal(server_streams(r.server), 1);
    feed_set(r.feed, FEED_NOW, "{\"done\":7}");
    SCOPED(scoped_free) char *now = browser_read(fd, "{\"done\":7}");
    assert_non_null(strstr(now, "event: now"));
    server_stop(r.server);
    SCOPED(scoped_free) char *rest = browser_read(fd, NULL);
    assert_non_null(rest);
    close(fd);
}

static void who_comes_back_misses_nothing(void **state)
{
    (void)state;
    SCOPED(rig_fini) rig r = rig_new("127.0.0.1:0", NULL);
    fixture_exec(r.f, "DELETE FROM event");
    fixture_exec(r.f, "INSERT INTO event (id, at_ms, kind) VALUES (1001, 1, 'one'), (1002, 2, "
                      "'two'), (1003, 3, 'three')");
    int fd = browser_open(server_url(r.server), "GET /events HTTP/1.1\r\nHost: localhost\r\n"
                                                "Last-Event-ID: 0\r\n\r\n");
    SCOPED(scoped_free) char *known = browser_read(fd, "1003");
    assert_non_null(known);
    close(fd);
    fd = browser_open(server_url(r.server), "GET /events HTTP/1.1\r\nHost: localhost\r\n"
                                            "Last-Event-ID: 1001\r\n\r\n");
    SCOPED(scoped_free) char *text = browser_read(fd, "\"kind\":\"three\"");
    assert_non_null(strstr(text, "\"kind\":\"two\""));
    assert_null(strstr(text, "\"kind\":\"one\""));
    close(fd);
}

static void a_taken_port_and_a_bare_address_are_refused(void **state)
{
    (void)state;
    SCOPED(rig_fini) rig r = rig_new("127.0.0.1:0", NULL);
    const char *colon = strrchr(server_url(r.server), ':');
    char taken[32];
    snprintf(taken, sizeof taken, "127.0.0.1:%d", (int)strtol(colon + 1, NULL, 10));
    const struct {
        const char *address;
        err_code code;
    } rows[] = {{taken, ERR_UNAVAILABLE}, {"0.0.0.0:0", ERR_USAGE}, {"nowhere", ERR_USAGE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const server_options options = {
            .address = rows[i].address, .db = r.f->db, .metrics = r.metrics};
        err e = {0};
        SCOPED(server_destroy) server *other = server_start(&options, &e);
        assert_null(other);
        assert_int_equal(e.code, rows[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_is_answered_as_it_should_be),
        cmocka_unit_test(what_no_browser_sends_is_refused),
        cmocka_unit_test(a_token_is_needed_where_it_is_set),
        cmocka_unit_test(a_stream_wakes_for_news_and_ends_with_the_server),
        cmocka_unit_test(who_comes_back_misses_nothing),
        cmocka_unit_test(a_taken_port_and_a_bare_address_are_refused),
    };
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
