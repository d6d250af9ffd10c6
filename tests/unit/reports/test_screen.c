/* test_screen - lines for a terminal: golden files, and what holds in every size
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

#include "common/glyph.h"
#include "common/scoped.h"
#include "common/str.h"
#include "reports/screen.h"
#include "tests/unit/reports/filled.h"

enum { NOW = 1000000000, WAITING = 5, FRAME_MAX = 1024 * 1024 };

/* What comes from models and nodes, at its worst. */
#define HOSTILE                         \
    "\033[2J\033]0;owned\a\xe2\x80\xae" \
    "evil\xd7\xa9"

static live_task running[] = {
    {"t1", "synthesize", "matmul_fp16", "openai:gpt-x", 0, "node-a", "interview", NULL, NOW - 65000,
     1},
    {"t2", "synthesize", "softmax_rows_fp32", "anthropic:claude-with-a-rather-long-name", 2,
     "node-b", NULL, NULL, NOW - 4000, 2},
    {"t3", "synthesize", "\xe6\xbc\xa2\xe5\xad\x97", HOSTILE, 1, HOSTILE, "polish", NULL,
     NOW - 7300000, 1},
};
static live_task waiting[WAITING] = {
    {"t4", "synthesize", "matmul_fp16", "openai:gpt-x", 1, NULL, NULL, NULL, 0, 0},
    {"t5", "synthesize", "scan_int32", "openai:gpt-x", 0, "node-a", NULL,
     "the judge broke\nits pipe" HOSTILE, NOW - 9000, 1},
    {"t6", "synthesize", "scan_int32", "openai:gpt-x", 1, "node-a", NULL, NULL, NOW - 9000, 1},
    {"t7", "synthesize", "sum_fp32", "openai:gpt-x", 0, NULL, NULL, NULL, 0, 0},
    {"t8", "synthesize", "sum_fp32", "openai:gpt-x", 1, NULL, NULL, NULL, 0, 0},
};
static live_node nodes[] = {
    {"node-a", "up",
     "[{\"kind\":\"cuda\",\"name\":\"NVIDIA H200\",\"reason\":\"\"},"
     "{\"kind\":\"emu\",\"name\":\"\",\"reason\":\"\"}]",
     NOW - 7200000, NOW - 7200000, 2, NOW - 600000, NULL, NULL},
    {"node-b", "up", "[{\"kind\":\"none\",\"name\":\"\",\"reason\":\"no driver\"}]", NOW - 30000,
     NOW, 1, NOW - 90000, "aa: 4.1 % is above 2 %", "returned: the judge broke its pipe"},
    {HOSTILE, "lost", "not json", NOW - 90000000, NOW - 2000000, 0, 0, NULL, "lost: " HOSTILE},
};

static moment busy(void)
{
    return (moment){
        .now_ms = NOW,
        .attended_ms = NOW - 10000000,
        .run = {.id = "01m8rtta0bmz7w8wvabr4wtz3g",
                .created_ms = NOW - 3000000,
                .state = RUN_RUNNING,
                .suite = "internal",
                .suite_version = "0.2",
                .device = "cuda",
                .budget_usd = 5,
                .opened = 1},
        .tally = {.waiting = 900,
                  .leased = 3,
                  .contracts = 10,
                  .contracts_done = 10,
                  .planned = 1000,
                  .done = 96,
                  .correct = 60,
                  .failed = 1},
        .spend = {.calls = 310,
                  .cost_usd = 1.25,
                  .cost_unknown = 2,
                  .unknown_usd = 0.05,
                  .unknown_calls = 1},
        .pace = {64, NOW - 640000},
        .running = {running, 3},
        .waiting = {waiting, WAITING},
        .nodes = {nodes, 3},
    };
}

static char *drawn(const moment *m, const screen_shape *shape)
{
    buf out;
    buf_init(&out, FRAME_MAX);
    screen_draw(&out, m, shape);
    assert_false(out.overflow);
    return buf_take(&out);
}

static void golden_files_show_three_widths_two_encodings_and_colours(void **state)
{
    (void)state;
    static const screen_shape shapes[] = {
        {40, 24, true, false, true},  {40, 24, false, false, true}, {80, 24, true, false, true},
        {80, 24, false, false, true}, {120, 30, true, false, true}, {120, 30, false, false, true},
        {80, 24, true, true, true},   {80, 8, false, false, true},
    };
    const moment m = busy();
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "screen-%zux%zu-%s%s.txt", shapes[i].width, shapes[i].height,
                 shapes[i].utf8 ? "utf8" : "ascii", shapes[i].colour ? "-colour" : "");
        SCOPED(scoped_free) char *text = drawn(&m, &shapes[i]);
        golden(name, text);
    }
}

/* Lines fit, hold nothing but printing characters, and in ASCII nothing else. */
static void check_lines(const char *text, const screen_shape *shape)
{
    size_t count = 0;
    str rest = str_of(text), line;
    while (str_line(&rest, &line)) {
        char copy[4096];
        count++;
        assert_true(line.size < sizeof copy);
        snprintf(copy, sizeof copy, "%.*s", (int)line.size, line.data);
        for (const char *at = copy; *at; at++)
            assert_true((unsigned char)*at >= ' ' && *at != 0x7f &&
                        (shape->utf8 || (unsigned char)*at < 0x80));
        assert_null(strstr(copy, "\xe2\x80\xae"));
        assert_null(strstr(copy, "\xd7\xa9"));
        assert_true(glyph_width(copy, shape->utf8) <= shape->width);
    }
    assert_true(count <= shape->height);
}

static void every_size_is_kept(void **state)
{
    (void)state;
    const moment m = busy();
    for (size_t width = 1; width <= 130; width++) {
        for (size_t height = 1; height <= 40; height += width < 50 ? 1 : 7) {
            for (int utf8 = 0; utf8 < 2; utf8++) {
                const screen_shape shape = {width, height, utf8 > 0, false, true};
                SCOPED(scoped_free) char *text = drawn(&m, &shape);
                check_lines(text, &shape);
            }
        }
    }
}

static void colours_change_nothing_else(void **state)
{
    (void)state;
    const moment m = busy();
    const screen_shape plain = {80, 24, true, false, true}, painted = {80, 24, true, true, true};
    SCOPED(scoped_free) char *want = drawn(&m, &plain);
    SCOPED(scoped_free) char *text = drawn(&m, &painted);
    SCOPED(buf_fini) buf bare;
    buf_init(&bare, FRAME_MAX);
    for (const char *at = text; *at;) {
        size_t skip = *at == '\033' ? strcspn(at, "m") + 1 : 0;
        if (skip == 0)
            buf_add(&bare, at++, 1);
        at += skip;
    }
    assert_true(strlen(text) > strlen(want));
    assert_string_equal(buf_text(&bare), want);
}

static void what_is_left_out_is_counted(void **state)
{
    (void)state;
    const moment m = busy();
    const screen_shape tall = {100, 60, true, false, false}, low = {100, 13, true, false, false};
    SCOPED(scoped_free) char *all = drawn(&m, &tall);
    assert_non_null(strstr(all, "\n\xe2\x80\xa6 and 895 more\n")); /* 5 of 900 were read */
    SCOPED(scoped_free) char *few = drawn(&m, &low);
    assert_non_null(strstr(few, "\n\xe2\x80\xa6 and 899 more\n"));
}

static void a_standstill_has_a_reason(void **state)
{
    (void)state;
    static const screen_shape shape = {120, 60, false, false, false};
    struct {
        const char *note, *reason;
        moment m;
    } rows[] = {
        {"waiting for the coordinator: none has this database open\n", "for the coordinator",
         busy()},
        {"waiting for a node: none is up\n", "for a node", busy()},
        {"checking contracts first: 3 of 10 done\n", "for the contract checks", busy()},
        {"waiting: 900\n", "for the runs before it", busy()},
        {"waiting: 900\n", "for a free place", busy()},
        {"waiting: 900\n", "for lease 2, after: the judge broke?its pipe", busy()},
        {"waiting: 900\n", "for lease 2, the one before was lost", busy()},
    };
    rows[0].m.attended_ms = 0;
    rows[1].m.nodes.count = 0;
    rows[2].m.run.state = RUN_CHECKING;
    rows[2].m.tally.contracts_done = 3;
    rows[3].m.run.opened = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(scoped_free) char *text = drawn(&rows[i].m, &shape);
        if (!strstr(text, rows[i].note) || !strstr(text, rows[i].reason))
            fail_msg("row %zu: %s", i, text);
    }
}

static void a_node_of_an_earlier_coordinator_is_away(void **state)
{
    (void)state;
    static const screen_shape shape = {120, 60, false, false, false};
    moment m = busy();
    m.attended_ms = NOW - 60000; /* node-a joined before, node-b after */
    SCOPED(scoped_free) char *text = drawn(&m, &shape);
    assert_non_null(strstr(text, "\nnodes: 1 up, 2 gone\n"));
    assert_non_null(strstr(text, "\nnode-a                away"));
    assert_non_null(strstr(text, "\nnode-b                up 30 s"));
    nodes[0].held =
        0; /* the two that are gone have nothing of this run, and were seen before it only */
    m.run.created_ms = NOW - 1000;
    SCOPED(scoped_free) char *later = drawn(&m, &shape);
    nodes[0].held = 2;
    assert_non_null(strstr(later, "\nnodes: 1 up, 0 gone\n"));
}

static void a_run_that_is_over_waits_for_nothing(void **state)
{
    (void)state;
    static const screen_shape shape = {120, 60, false, false, false};
    moment m = busy();
    m.run.state = RUN_INTERRUPTED;
    m.attended_ms = 0;
    SCOPED(scoped_free) char *text = drawn(&m, &shape);
    assert_null(strstr(text, "waiting"));
    assert_non_null(strstr(text, "not begun: 900"));
    assert_null(strstr(text, " left"));
}

static void a_sentence_says_it_without_a_terminal(void **state)
{
    (void)state;
    moment m = busy();
    SCOPED(buf_fini) buf line;
    buf_init(&line, FRAME_MAX);
    screen_sentence(&line, &m, false);
    screen_left(&line, &m);
    assert_string_equal(buf_text(&line), "01m8rtta0bmz7w8wvabr4wtz3g running: 96/1000 done, 60 "
                                         "correct, 1 given up, 3 running, 900 waiting, "
                                         "2 nodes up, $1.2500 + 2 unknown of $5.0000 (26.0 %), 310 "
                                         "calls + at most $0.0500 beside (calls cut in "
                                         "flight: 1), about 2.5 h left");
    m.attended_ms = 0;
    buf_clear(&line);
    screen_sentence(&line, &m, false);
    assert_non_null(strstr(buf_text(&line), "; waiting for the coordinator"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_files_show_three_widths_two_encodings_and_colours),
        cmocka_unit_test(every_size_is_kept),
        cmocka_unit_test(colours_change_nothing_else),
        cmocka_unit_test(what_is_left_out_is_counted),
        cmocka_unit_test(a_standstill_has_a_reason),
        cmocka_unit_test(a_node_of_an_earlier_coordinator_is_away),
        cmocka_unit_test(a_run_that_is_over_waits_for_nothing),
        cmocka_unit_test(a_sentence_says_it_without_a_terminal),
    };
    return cmocka_run_group_tests_name("screen", tests, NULL, NULL);
}
