/* test_log - JSON lines
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/str.h"

static int ends[2] = {-1, -1};

static int open_pipe(void **state)
{
    (void)state;
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
}

static int close_pipe(void **state)
{
    (void)state;
    scoped_close(&ends[0]);
    scoped_close(&ends[1]);
    return 0;
}

/* next_line is what came through the pipe, "" for nothing. */
static const char *next_line(void)
{
    static char text[65536];
    ssize_t got = read(ends[0], text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

static json *parse_line(const char *text)
{
    assert_true(str_ends(text, "}\n"));
    err e = {0};
    json *line = json_parse_tree(text, strlen(text), "line", &e);
    if (line == NULL)
        print_message("%s\n%s\n", e.text, text);
    assert_non_null(line);
    return line;
}

static void a_line_is_one_json_object(void **state)
{
    (void)state;
    log_open("ce-test", LOG_DEBUG, NULL, ends[1]);
    log_line(LOG_INFO, "lease", "shard %d \"quoted\"\n\tback\\slash \x01 \xff", 12);
    SCOPED(json_destroy) json *line = parse_line(next_line());
    assert_string_equal(json_str(json_get(line, "level"), ""), "info");
    assert_string_equal(json_str(json_get(line, "process"), ""), "ce-test");
    assert_string_equal(json_str(json_get(line, "area"), ""), "lease");
    assert_string_equal(json_str(json_get(line, "msg"), ""),
                        "shard 12 \"quoted\"\n\tback\\slash \x01 \xef\xbf\xbd");
    const char *ts = json_str(json_get(line, "ts"), "");
    assert_int_equal(strlen(ts), strlen("2026-11-30T16:28:42.123Z"));
    assert_true(str_ends(ts, "Z"));
}

static void an_error_adds_code_and_text(void **state)
{
    (void)state;
    log_open("ce-test", LOG_DEBUG, "all", ends[1]);
    err e;
    err_set(&e, ERR_NOT_FOUND, "no \"such\" thing");
    log_err(LOG_ERROR, "store", &e, "open failed");
    SCOPED(json_destroy) json *line = parse_line(next_line());
    assert_string_equal(json_str(json_get(line, "msg"), ""), "open failed");
    assert_string_equal(json_str(json_get(line, "code"), ""), "not_found");
    assert_string_equal(json_str(json_get(line, "error"), ""), "no \"such\" thing");
}

static void levels_and_areas_choose_the_lines(void **state)
{
    (void)state;
    static const struct {
        log_level lowest;
        const char *areas;
        log_level level;
        const char *area;
        bool shown;
    } rows[] = {
        {LOG_DEBUG, NULL, LOG_DEBUG, "wire", true},
        {LOG_DEBUG, "", LOG_DEBUG, "wire", true},
        {LOG_INFO, NULL, LOG_DEBUG, "wire", false},
        {LOG_INFO, "all,-wire", LOG_INFO, "wire", false},
        {LOG_INFO, "all,-wire", LOG_INFO, "lease", true},
        {LOG_INFO, "all, -wire", LOG_INFO, "wire", false},
        {LOG_INFO, "all,-wire", LOG_ERROR, "wire", true}, /* an error is always worth a line */
        {LOG_INFO, "wire", LOG_INFO, "wire", true},
        {LOG_INFO, "wire", LOG_INFO, "lease", false},
        {LOG_INFO, "wire", LOG_INFO, "wires", false},
        {LOG_INFO, "-wire,all", LOG_INFO, "wire", true},
        {LOG_WARN, NULL, LOG_INFO, "wire", false},
        {LOG_OFF, NULL, LOG_ERROR, "wire", false},
        {LOG_DEBUG, NULL, LOG_OFF, "wire", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        log_open("t", rows[i].lowest, rows[i].areas, ends[1]);
        log_line(rows[i].level, rows[i].area, "x");
        assert_int_equal(next_line()[0] == '{', rows[i].shown);
    }
}

static void a_very_long_message_is_cut_and_still_json(void **state)
{
    (void)state;
    static char text[5000];
    memset(text, '\x01', sizeof text - 1);
    log_open("t", LOG_DEBUG, NULL, ends[1]);
    log_line(LOG_INFO, "a", "%s", text);
    SCOPED(json_destroy) json *line = parse_line(next_line());
    size_t size = strlen(json_str(json_get(line, "msg"), ""));
    assert_true(size > 1000 && size < sizeof text - 1);
}

static void a_failed_write_is_dropped(void **state)
{
    (void)state;
    log_open("t", LOG_DEBUG, NULL, -1);
    log_line(LOG_ERROR, "a", "lost");
    assert_string_equal(next_line(), "");
}

static void level_names_parse(void **state)
{
    (void)state;
    log_level out = LOG_OFF;
    assert_true(log_level_parse("debug", &out) && out == LOG_DEBUG);
    assert_true(log_level_parse("off", &out) && out == LOG_OFF);
    assert_false(log_level_parse("loud", &out));
    assert_int_equal(out, LOG_OFF);
}

int main(void)
{
#define WITH_PIPE(f) cmocka_unit_test_setup_teardown(f, open_pipe, close_pipe)
    const struct CMUnitTest tests[] = {
        WITH_PIPE(a_line_is_one_json_object),
        WITH_PIPE(an_error_adds_code_and_text),
        WITH_PIPE(levels_and_areas_choose_the_lines),
        WITH_PIPE(a_very_long_message_is_cut_and_still_json),
        WITH_PIPE(a_failed_write_is_dropped),
        cmocka_unit_test(level_names_parse),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
