/* test_export - every level of a run, one task, a badge
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

#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "reports/export.h"
#include "store/dump.h"
#include "tests/unit/reports/filled.h"

enum { MAX = 8 * 1024 * 1024 };

typedef struct place {
    char folder[40];
} place;

static void place_init(place *p)
{
    snprintf(p->folder, sizeof p->folder, "/tmp/ce-export-test-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
}

static void place_fini(place *p)
{
    file_remove_tree(p->folder, NULL);
}

static char *read(const place *p, const char *name)
{
    SCOPED(scoped_free) char *path = file_join(p->folder, name);
    SCOPED(buf_fini) buf text = {0};
    err e = {0};
    buf_init(&text, MAX);
    if (file_read(path, &text, &e) < 0)
        fail_msg("%s", e.text);
    return buf_take(&text);
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
        n++;
    return n;
}

/* A comparison with two pairs, the second void, of task add of gold. */
static void add_pairs(fixture *f)
{
    const hash raw = fixture_text(
        f,
        "{\"margin\":0.01,\"pairs\":[{\"process\":3,\"baseline\":{\"ms\":[0.5,0.25]},\"candidate\":"
        "{\"ms\":[0.125]}},{\"process\":4,\"void\":\"clocks, fell\",\"baseline\":{\"ms\":[1]},"
        "\"candidate\":{\"ms\":[2]}}]}");
    char hex[HASH_HEX], sql[1024];
    hash_hex(&raw, hex);
    snprintf(
        sql, sizeof sql,
        "INSERT INTO comparison (task, stage, purpose, verdict, baseline_mode, timing_mode, slots, "
        "pairs, processes, voids, margin, calibrated, raw) VALUES ('run-cuda-add-gold-0', "
        "'performance', 'published', 'faster', 'eager', 'E', 1, 2, 2, 1, 0.01, 1, '%s')",
        hex);
    fixture_exec(f, sql);
}

static void every_level_has_a_file(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(place_fini) place p;
    place_init(&p);
    filled_cuda(f);
    filled_fake(f);
    const export_ask ask = {.name = "run-cuda", .folder = p.folder};
    for (int csv = 0; csv < 2; csv++)
        assert_int_equal(export_tables(f->db, &ask, csv == 1, NULL), 0);
    for (size_t i = 0; dump_name(i) != NULL; i++) {
        SCOPED(scoped_free) char *lines = xasprintf("%s.jsonl", dump_name(i));
        SCOPED(scoped_free) char *csv = xasprintf("%s.csv", dump_name(i));
        SCOPED(scoped_free) char *a = read(&p, lines);
        SCOPED(scoped_free) char *b = read(&p, csv);
        assert_int_equal(lines_of(a) + 1, lines_of(b)); /* no text here has a line end */
    }
    SCOPED(scoped_free) char *tasks = read(&p, "task.jsonl");
    assert_int_equal(lines_of(tasks), fixture_count(f, "task WHERE run = 'run-cuda'"));
    assert_null(strstr(tasks, "run-fake"));
    str rest = str_of(tasks), line;
    while (str_line(&rest, &line)) {
        SCOPED(json_destroy) json *row = json_parse_tree(line.data, line.size, "row", NULL);
        assert_non_null(json_get(row, "id"));
    }
}

static void raw_samples_have_a_line_each(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(place_fini) place p;
    place_init(&p);
    filled_cuda(f);
    add_pairs(f);
    const export_ask ask = {.name = "run-cuda", .folder = p.folder};
    assert_int_equal(export_tables(f->db, &ask, true, NULL), 0);
    assert_int_equal(export_tables(f->db, &ask, false, NULL), 0);
    SCOPED(scoped_free) char *csv = read(&p, "sample.csv");
    SCOPED(scoped_free) char *lines = read(&p, "sample.jsonl");
    assert_true(str_starts(csv, "task,stage,side,mode,pair,process,index,ms,void\r\n"));
    assert_non_null(strstr(csv, "run-cuda-add-gold-0,performance,baseline,eager,0,3,1,0.25,\r\n"));
    assert_non_null(strstr(
        csv, "run-cuda-add-gold-0,performance,candidate,published,1,4,0,2.0,\"clocks, fell\"\r\n"));
    assert_int_equal(lines_of(lines) + 1, lines_of(csv));
    assert_non_null(
        strstr(lines, "{\"index\":0,\"mode\":\"published\",\"ms\":0.125,\"pair\":0,\"process\":3,"
                      "\"side\":\"candidate\",\"stage\":\"performance\",\"task\":"
                      "\"run-cuda-add-gold-0\"}"));
}

static void keys_are_masked_and_texts_with_keys_withheld(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(place_fini) place p;
    place_init(&p);
    filled_cuda(f);
    fixture_exec(f, "UPDATE task SET text = 'my-own-secret-7'");
    const hash text = fixture_text(f, "// my-own-secret-7");
    char hex[HASH_HEX], sql[256];
    hash_hex(&text, hex);
    snprintf(sql, sizeof sql, "UPDATE task SET source = '%s' WHERE id = 'run-cuda-add-gold-0'",
             hex);
    fixture_exec(f, sql);
    const char *const known[] = {"my-own-secret-7", NULL};
    const export_ask run = {"run-cuda", p.folder, known};
    const export_ask task = {"run-cuda-add-gold-0", p.folder, known};
    assert_int_equal(export_tables(f->db, &run, false, NULL), 0);
    assert_int_equal(export_task(f->db, &task, NULL), 0);
    SCOPED(scoped_free) char *rows = read(&p, "task.jsonl");
    SCOPED(scoped_free) char *facts = read(&p, "task.json");
    SCOPED(scoped_free) char *kernel = read(&p, "kernel.cu");
    assert_null(strstr(rows, "my-own-secret-7"));
    assert_null(strstr(facts, "my-own-secret-7"));
    assert_non_null(strstr(rows, KEYSCAN_MASK));
    assert_string_equal(kernel, "[withheld: it may hold a key]\n");
}

static void a_task_stands_in_a_folder_of_its_own(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(place_fini) place p;
    place_init(&p);
    filled_cuda(f);
    add_pairs(f);
    const export_ask ask = {.name = "run-cuda-add-gold-0", .folder = p.folder};
    err e = {0};
    if (export_task(f->db, &ask, &e) < 0)
        fail_msg("%s", e.text);
    SCOPED(scoped_free) char *script = read(&p, "reproduce.sh");
    SCOPED(scoped_free) char *raw = read(&p, "comparison-02-published.json");
    SCOPED(scoped_free) char *facts = read(&p, "task.json");
    assert_non_null(strstr(script, "--only 'add'") != NULL ? script : strstr(script, "--only add"));
    assert_non_null(strstr(script, "replay:run-cuda"));
    assert_non_null(strstr(raw, "clocks, fell"));
    assert_non_null(strstr(facts, "\"problem\": \"add\""));
    const export_ask other = {.name = "no-such-task", .folder = p.folder};
    assert_int_equal(export_task(f->db, &other, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

static void a_badge_claims_no_more_than_the_board(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    filled_fake(f);
    static const struct {
        const char *run, *start;
    } cases[] = {{"run-fake", "gold: "}, {"run-cuda", "mock:de|mo: "}}; /* not the human line */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const board_ask ask = {.runs = &cases[i].run, .run_count = 1};
        SCOPED(board_destroy) board *b = board_read(f->db, &ask, NULL);
        SCOPED(buf_fini) buf text = {0};
        buf_init(&text, MAX);
        export_badge(b, &text);
        SCOPED(json_destroy) json *badge = json_parse_tree(buf_text(&text), text.size, "b", NULL);
        const char *message = json_str(json_get(badge, "message"), "");
        assert_int_equal(json_int(json_get(badge, "schemaVersion"), 0), 1);
        assert_string_equal(json_str(json_get(badge, "label"), ""), "ce internal 0.1");
        assert_true(str_starts(message, cases[i].start));
        assert_non_null(strstr(message, " % correct"));
        const bool is_grey = strcmp(json_str(json_get(badge, "color"), ""), "lightgrey") == 0;
        assert_true(is_grey == str_ends(message, ", not ranked"));
        assert_true(is_grey || i > 0); /* nothing on the fake device is ranked */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_has_a_file),
        cmocka_unit_test(raw_samples_have_a_line_each),
        cmocka_unit_test(keys_are_masked_and_texts_with_keys_withheld),
        cmocka_unit_test(a_task_stands_in_a_folder_of_its_own),
        cmocka_unit_test(a_badge_claims_no_more_than_the_board),
    };
    return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
