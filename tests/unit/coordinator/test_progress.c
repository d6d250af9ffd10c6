/* test_progress - what people see, with time as a parameter
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "coordinator/progress.h"

/* A run of one contract task and `work` others, of which `done` are done and one is in flight. */
static run *make(size_t work, size_t done, bool released)
{
    run *self = calloc(1, sizeof *self);
    self->tasks = sched_create();
    sched_new check = {.id = "c", .kind = SCHED_CONTRACT, .problem = "p"};
    if (released)
        sched_add_done(self->tasks, &check, OUTCOME_OK);
    else
        sched_add(self->tasks, &check);
    for (size_t i = 0; i < work; i++) {
        char id[ID_TEXT];
        snprintf(id, sizeof id, "t%zu", i);
        sched_new task = {.id = id, .kind = SCHED_SYNTHESIZE, .problem = "p"};
        if (i < done)
            sched_add_done(self->tasks, &task, i ? OUTCOME_OK : OUTCOME_WRONG);
        else
            sched_add(self->tasks, &task);
    }
    if (released && done < work)
        sched_enter_stage(self->tasks, sched_pick(self->tasks, NULL, NULL), "correctness");
    return self;
}

static void the_line_says_where_the_run_stands(void **state)
{
    (void)state;
    static const struct {
        size_t work, done;
        bool released;
        size_t nodes;
        int64_t elapsed, calls, unpriced;
        const char *line;
    } rows[] = {
        {8, 0, false, 0, 0, 0, 0, "waiting for a node, 0/8 tasks done"},
        {8, 0, false, 1, 0, 0, 0, "checking contracts 0/1"},
        {8, 0, true, 1, 5000, 0, 0,
         "[....................] 0/8 done, 0 correct, 1 in flight (correctness 1)"},
        {8, 4, true, 1, 40000, 3, 0,
         "[##########..........] 4/8 done, 3 correct, 1 in flight (correctness 1), about 40 s "
         "left, 3 "
         "calls, $1.25"},
        {8, 2, true, 1, 4000000, 3, 1,
         "[#####...............] 2/8 done, 1 correct, 1 in flight (correctness 1), about 3.3 h "
         "left, 3 "
         "calls, $1.25 and 1 of unknown price"},
        {8, 8, true, 1, 9000, 0, 0, "[####################] 8/8 done, 7 correct"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(run_destroy) run *r = make(rows[i].work, rows[i].done, rows[i].released);
        r->calls = rows[i].calls;
        r->unpriced = rows[i].unpriced;
        r->spent_usd = 1.25;
        SCOPED(buf_fini) buf line;
        buf_init(&line, 512);
        progress_line(&line, &(progress_at){r, rows[i].nodes, rows[i].elapsed, 0}, SIZE_MAX);
        assert_string_equal(buf_text(&line), rows[i].line);
    }
}

static void a_narrow_terminal_gets_less(void **state)
{
    (void)state;
    static const struct {
        size_t width;
        const char *line;
    } rows[] = {
        {200, "[##########..........] 4/8 done, 3 correct, 1 in flight (correctness 1), about 40 s "
              "left"},
        {88, "[##########..........] 4/8 done, 3 correct, 1 in flight (correctness 1), about 40 s "
             "left"},
        {87, "[##########..........] 4/8 done, 3 correct, 1 in flight, about 40 s left"},
        {71, "4/8 done, 3 correct, 1 in flight, about 40 s left"},
        {29, "4/8 done, 3 correct, 1 in ..."},
        {1, "4"},
        {0, ""},
    };
    SCOPED(run_destroy) run *r = make(8, 4, true);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(buf_fini) buf line;
        buf_init(&line, 512);
        progress_line(&line, &(progress_at){r, 1, 40000, 0}, rows[i].width);
        assert_string_equal(buf_text(&line), rows[i].line);
    }
}

static size_t shown(FILE *sink, char *text, size_t size)
{
    rewind(sink);
    size_t got = fread(text, 1, size - 1, sink);
    text[got] = '\0';
    size_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

static void plain_lines_come_when_something_changed_and_not_often(void **state)
{
    (void)state;
    char text[2048];
    SCOPED(scoped_fclose) FILE *sink = tmpfile();
    SCOPED(run_destroy) run *r = make(2, 0, true);
    progress *self = progress_create(sink, &(term_kind){0}, r, 0);
    for (int64_t now = 0; now < 5 * PROGRESS_PLAIN_MS; now += 100)
        progress_show(self, r, 1, now, false);
    assert_int_equal(shown(sink, text, sizeof text), 1); /* nothing changed after the first */
    progress_show(self, r, 1, 5 * PROGRESS_PLAIN_MS, true);
    assert_int_equal(shown(sink, text, sizeof text), 2);
    assert_null(strchr(text, '\r'));
    progress_destroy(&self);
}

static void a_terminal_line_is_redrawn_and_left_behind_whole(void **state)
{
    (void)state;
    char text[2048];
    SCOPED(scoped_fclose) FILE *sink = tmpfile();
    SCOPED(run_destroy) run *r = make(2, 0, true);
    progress *self = progress_create(sink, &(term_kind){.redraws = true}, r, 0);
    progress_show(self, r, 1, PROGRESS_TERMINAL_MS, false);
    assert_int_equal(shown(sink, text, sizeof text), 0);
    progress_say(self, "a sentence");
    assert_int_equal(shown(sink, text, sizeof text), 1);
    progress_show(self, r, 1, 3 * PROGRESS_TERMINAL_MS, true);
    progress_destroy(&self);
    assert_int_equal(shown(sink, text, sizeof text), 2);
    assert_non_null(strstr(text, "\r\033[Ka sentence\n"));
}

static void what_a_node_said_is_inert(void **state)
{
    (void)state;
    char text[2048];
    SCOPED(scoped_fclose) FILE *sink = tmpfile();
    SCOPED(run_destroy) run *r = make(2, 0, true);
    progress *self = progress_create(sink, &(term_kind){0}, r, 0);
    progress_say(self, "the local node %s", "\033[2J\n\xc3\xbc");
    progress_destroy(&self);
    assert_int_equal(shown(sink, text, sizeof text), 1);
    assert_string_equal(text, "the local node ?[2J"
                              "??\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_says_where_the_run_stands),
        cmocka_unit_test(a_narrow_terminal_gets_less),
        cmocka_unit_test(what_a_node_said_is_inert),
        cmocka_unit_test(plain_lines_come_when_something_changed_and_not_often),
        cmocka_unit_test(a_terminal_line_is_redrawn_and_left_behind_whole),
    };
    return cmocka_run_group_tests_name("coordinator/progress", tests, NULL, NULL);
}
