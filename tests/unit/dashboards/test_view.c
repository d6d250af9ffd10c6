/* test_view - what the page may ask
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "dashboards/view.h"
#include "tests/unit/reports/filled.h"

static const view *view_of(const char *path)
{
    for (const view *v = views; v->path != NULL; v++)
        if (strcmp(v->path, path) == 0)
            return v;
    fail_msg("there is no %s", path);
    return NULL;
}

static void every_answer_is_whole(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        view_ask ask;
        const char *key; /* of the JSON object */
    } rows[] = {
        {"/api/runs", {NULL, NULL, NULL, NULL}, "runs"},
        {"/api/run", {NULL, NULL, NULL, NULL}, "open"},
        {"/api/run", {"run-cuda", NULL, NULL, NULL}, "spend"},
        {"/api/board", {"run-cuda", NULL, NULL, NULL}, "entrants"},
        {"/api/board", {NULL, NULL, NULL, NULL}, "tasks"},
        {"/api/trend", {NULL, NULL, NULL, NULL}, "trend"},
        {"/api/runs", {.before = "run-cuda"}, "runs"},
        {"/api/task", {NULL, "run-cuda-add-gold-0", NULL, NULL}, "attempts"},
    };
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, VIEW_BYTES_MAX);
        const view *v = view_of(rows[i].path);
        if (v->write(f->db, &rows[i].ask, &out, &e) < 0)
            fail_msg("%s: %s", rows[i].path, e.text);
        SCOPED(json_destroy) json *root = json_parse_tree(out.data, out.size, v->path, &e);
        assert_non_null(root);
        assert_non_null(json_get(root, rows[i].key));
        assert_string_equal(v->type, "application/json");
    }
}

static size_t runs_before(fixture *f, const char *before, char *last, size_t size)
{
    err e = {0};
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, VIEW_BYTES_MAX);
    const view_ask ask = {.before = before};
    assert_int_equal(view_of("/api/runs")->write(f->db, &ask, &out, &e), 0);
    SCOPED(json_destroy) json *root = json_parse_tree(out.data, out.size, "runs", &e);
    const json *list = json_get(root, "runs");
    if (json_size(list) > 0)
        snprintf(last, size, "%s",
                 json_str(json_get(json_at(list, json_size(list) - 1), "id"), ""));
    return json_size(list);
}

/* However many runs there are, one answer has so many; the next begins where it ended. */
static void runs_come_a_page_at_a_time(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    char last[64] = "";
    filled_cuda(f);
    fixture_exec(f,
                 "CREATE TEMP TABLE r AS SELECT * FROM run; "
                 "CREATE TEMP TABLE n AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
                 "FROM c WHERE x < 40) SELECT x FROM c; "
                 "CREATE TEMP TABLE more AS SELECT r.*, x FROM r, n; "
                 "UPDATE more SET id = printf('run-%02d', x), created_ms = created_ms - x / 2; "
                 "ALTER TABLE more DROP COLUMN x; INSERT INTO run SELECT * FROM more");
    assert_int_equal(runs_before(f, NULL, last, sizeof last), VIEW_RUNS);
    assert_int_equal(runs_before(f, last, last, sizeof last), 41 - VIEW_RUNS);
    assert_string_equal(last, "run-40");
    assert_int_equal(runs_before(f, last, last, sizeof last), 0);
}

static void what_is_no_name_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        view_ask ask;
        err_code code;
    } rows[] = {
        {"/api/run", {"../../etc/passwd", NULL, NULL, NULL}, ERR_USAGE},
        {"/api/run", {"", NULL, NULL, NULL}, ERR_USAGE},
        {"/api/run", {"run'--", NULL, NULL, NULL}, ERR_USAGE},
        {"/api/run", {"nowhere", NULL, NULL, NULL}, ERR_NOT_FOUND},
        {"/api/board", {"nowhere", NULL, NULL, NULL}, ERR_NOT_FOUND},
        {"/api/trend", {"nowhere", NULL, NULL, NULL}, ERR_NOT_FOUND},
        {"/api/runs", {.before = "a b"}, ERR_USAGE},
        {"/api/task", {NULL, NULL, NULL, NULL}, ERR_USAGE},
        {"/api/task", {NULL, "%", NULL, NULL}, ERR_USAGE},
        {"/api/task", {NULL, "nowhere", NULL, NULL}, ERR_NOT_FOUND},
        {"/api/blob", {NULL, NULL, NULL, NULL}, ERR_USAGE},
        {"/api/blob", {NULL, NULL, "abc", NULL}, ERR_USAGE},
        {"/api/blob",
         {NULL, NULL, "0000000000000000000000000000000000000000000000000000000000000001", NULL},
         ERR_NOT_FOUND},
    };
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        err e = {0};
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, VIEW_BYTES_MAX);
        assert_int_equal(view_of(rows[i].path)->write(f->db, &rows[i].ask, &out, &e), -1);
        if (e.code != rows[i].code)
            fail_msg("%s, row %zu: %s", rows[i].path, i, e.text);
    }
}

static void a_stored_text_is_never_of_a_type_that_is_rendered(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    char hex[HASH_HEX];
    hash name = fixture_text(f, "<script>alert(1)</script>");
    hash_hex(&name, hex);
    const view *v = view_of("/api/blob");
    const view_ask ask = {.hash = hex};
    err e = {0};
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, VIEW_BYTES_MAX);
    assert_int_equal(v->write(f->db, &ask, &out, &e), 0);
    assert_string_equal(buf_text(&out), "<script>alert(1)</script>");
    assert_string_equal(v->type, "text/plain; charset=utf-8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_is_whole),
        cmocka_unit_test(runs_come_a_page_at_a_time),
        cmocka_unit_test(what_is_no_name_is_refused),
        cmocka_unit_test(a_stored_text_is_never_of_a_type_that_is_rendered),
    };
    return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
