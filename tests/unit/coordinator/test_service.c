/* test_service - runs come, wait, end; the coordinator stays
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "hall.h"

enum { STEP_US = 20000 };

static void wait_over(remote *to, const char *id, message *reply)
{
    while (!hall_over(to, id, reply))
        usleep(STEP_US);
}

static void a_run_is_worked_on_and_its_reports_can_be_read(void **state)
{
    (void)state;
    message reply, m;
    SCOPED(hall_destroy) hall *h = hall_create();
    SCOPED(remote_destroy) remote *to = remote_open(h->endpoint, NULL, NULL);
    assert_non_null(to);
    hall_work(h);
    SCOPED(scoped_free) char *id = hall_submit(to);
    wait_over(to, id, &reply);
    assert_string_equal(reply.body.run_state.state, "complete");
    assert_int_equal(reply.body.run_state.code, 0);
    assert_string_equal(reply.body.run_state.text, "complete: 1 of 1 scored, 1 correct");
    message_fini(&reply);
    message_init(&m, MSG_FILE_GET);
    message_set_str(&m.body.file_get.run, id);
    message_set_str(&m.body.file_get.name, "leaderboard.md");
    assert_int_equal(remote_ask(to, &m, MSG_FILE_DATA, &reply, NULL), 0);
    assert_true(reply.body.file_data.found && reply.body.file_data.last);
    assert_true(reply.body.file_data.data.size > 0);
    message_fini(&reply);
}

static void nothing_but_reports_can_be_read(void **state)
{
    (void)state;
    static const char *const bad[][2] = {{"01jd", "../ce.db"},   {"..", "ce.db"}, {"01jd/x", "a"},
                                         {"", "leaderboard.md"}, {"01jd", ""},    {"01jd", ".."}};
    SCOPED(hall_destroy) hall *h = hall_create();
    SCOPED(remote_destroy) remote *to = remote_open(h->endpoint, NULL, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        message m, reply;
        err e = {0};
        message_init(&m, MSG_FILE_GET);
        message_set_str(&m.body.file_get.run, bad[i][0]);
        message_set_str(&m.body.file_get.name, bad[i][1]);
        assert_int_equal(remote_ask(to, &m, MSG_FILE_DATA, &reply, &e), -1);
        assert_int_equal(e.code, ERR_USAGE);
    }
}

static void runs_wait_their_turn_and_what_waits_survives_a_restart(void **state)
{
    (void)state;
    message reply;
    SCOPED(hall_destroy) hall *h = hall_create();
    SCOPED(remote_destroy) remote *to = remote_open(h->endpoint, NULL, NULL);
    SCOPED(scoped_free) char *first = hall_submit(to);
    SCOPED(scoped_free) char *second = hall_submit(to);
    assert_false(hall_over(to, first, &reply));
    assert_false(hall_over(to, second, &reply));
    hall_stop(h);
    hall_start(h);
    hall_work(h);
    wait_over(to, first, &reply);
    assert_string_equal(reply.body.run_state.state, "complete");
    message_fini(&reply);
    wait_over(to, second, &reply);
    assert_string_equal(reply.body.run_state.state, "complete");
    message_fini(&reply);
}

static int cancel(remote *to, const char *id, err *e)
{
    message m;
    message_init(&m, MSG_CANCEL_RUN);
    message_set_str(&m.body.cancel_run.run, id);
    return remote_tell(to, &m, e);
}

static void a_waiting_and_a_working_run_are_cancelled(void **state)
{
    (void)state;
    message reply;
    err e = {0};
    SCOPED(hall_destroy) hall *h = hall_create();
    SCOPED(remote_destroy) remote *to = remote_open(h->endpoint, NULL, NULL);
    SCOPED(scoped_free) char *first = hall_submit(to);
    SCOPED(scoped_free) char *second = hall_submit(to);
    assert_int_equal(cancel(to, second, NULL), 0);
    wait_over(to, second, &reply);
    assert_int_equal(reply.body.run_state.code, 130);
    message_fini(&reply);
    while (cancel(to, first, NULL) != 0) /* it may still be opening */
        usleep(STEP_US);
    wait_over(to, first, &reply);
    assert_string_equal(reply.body.run_state.state, "interrupted");
    message_fini(&reply);
    assert_int_equal(cancel(to, first, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_int_equal(cancel(to, "", &e), -1);
}

static void a_submission_that_does_not_read_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "{}", "nonsense", "{\"suites\": 7}"};
    SCOPED(hall_destroy) hall *h = hall_create();
    SCOPED(remote_destroy) remote *to = remote_open(h->endpoint, NULL, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        message m, reply;
        err e = {0};
        message_init(&m, MSG_SUBMIT);
        message_set_str(&m.body.submit.settings, bad[i]);
        assert_int_equal(remote_ask(to, &m, MSG_SUBMITTED, &reply, &e), -1);
        assert_true(*e.text != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_worked_on_and_its_reports_can_be_read),
        cmocka_unit_test(nothing_but_reports_can_be_read),
        cmocka_unit_test(runs_wait_their_turn_and_what_waits_survives_a_restart),
        cmocka_unit_test(a_waiting_and_a_working_run_are_cancelled),
        cmocka_unit_test(a_submission_that_does_not_read_is_refused),
    };
    return cmocka_run_group_tests_name("service", tests, NULL, NULL);
}
