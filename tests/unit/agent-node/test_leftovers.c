/* test_leftovers - a node that is started again tells what its predecessor could not
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/leftovers.h"
#include "agent-node/spool.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/support/desk.h"

typedef struct fixture {
    desk *desk;
    session *session;
    char *folder;
    leftovers *left;
    pthread_t loop, teller;
} fixture;

static void ignore(void *arg, const char *task)
{
    (void)arg;
    (void)task;
}

static void *serve(void *arg)
{
    fixture *f = arg;
    session_run(f->session, NULL);
    return NULL;
}

static void *tell(void *arg)
{
    fixture *f = arg;
    leftovers_tell(f->left, f->session);
    return NULL;
}

static void leave_behind(const fixture *f, const char *task, const message_type *types)
{
    err e = {0};
    SCOPED(spool_destroy) spool *file = spool_create(f->folder, task, 9);
    for (; *types != 0; types++) {
        SCOPED(message_fini) message m;
        message_init(&m, *types);
        if (*types == MSG_CALL)
            m.body.call.token = 9;
        if (*types == MSG_RESULT)
            m.body.result.token = 9;
        assert_int_equal(spool_add(file, &m, &e), 0);
    }
}

static int set_up(void **state)
{
    fixture *f = xcalloc(1, sizeof(*f));
    f->desk = desk_create();
    f->folder = file_join(desk_folder(f->desk), "spool/n");
    assert_int_equal(file_mkdirs(f->folder, NULL), 0);
    *state = f;
    return 0;
}

/* The node's session, and the thread that tells. */
static void begin(fixture *f)
{
    err e = {0};
    f->left = leftovers_find(f->folder, &e);
    assert_non_null(f->left);
    session_options options = {.coordinator = desk_endpoint(f->desk),
                               .node = "n",
                               .slots = 1,
                               .software = "{}",
                               .spooled = leftovers_count(f->left) > 0,
                               .events = {.cancel = ignore, .arg = f}};
    f->session = session_create(&options, &e);
    assert_non_null(f->session);
    assert_int_equal(pthread_create(&f->loop, NULL, serve, f), 0);
    assert_int_equal(pthread_create(&f->teller, NULL, tell, f), 0);
}

static void stop(fixture *f)
{
    session_stop(f->session);
    pthread_join(f->loop, NULL);
    pthread_join(f->teller, NULL);
}

static int tear_down(void **state)
{
    fixture *f = *state;
    leftovers_destroy(&f->left);
    session_destroy(&f->session);
    free(f->folder);
    desk_destroy(&f->desk);
    free(f);
    return 0;
}

static bool is_there(const fixture *f, const char *name)
{
    SCOPED(scoped_free) char *path = file_join(f->folder, name);
    return file_exists(path);
}

static void expect_acked(fixture *f, message_type type, err_code code)
{
    SCOPED(message_fini) message m = {0};
    desk_await(f->desk, type, &m);
    desk_ack(f->desk, m.seq, code, "as the test wants");
}

static void admit(fixture *f)
{
    SCOPED(message_fini) message hello = {0};
    desk_await(f->desk, MSG_HELLO, &hello);
    assert_true(hello.body.hello.spooled);
    desk_welcome(f->desk, "c1", true);
}

static void an_answer_is_told_and_its_task_given_back(void **state)
{
    fixture *f = *state;
    SCOPED(message_fini) message claim = {0}, back = {0};
    leave_behind(f, "t1", (const message_type[]){MSG_BLOB_PUT, MSG_CALL, 0});
    begin(f);
    admit(f);
    desk_await(f->desk, MSG_CLAIM, &claim);
    assert_string_equal(claim.body.claim.task, "t1");
    assert_int_equal(claim.body.claim.token, 9);
    expect_acked(f, MSG_CALL, ERR_NONE);
    desk_await(f->desk, MSG_GIVE_BACK, &back);
    assert_true(back.body.give_back.leaving); /* no fault of the task */
    desk_ack(f->desk, back.seq, ERR_NONE, "");
    pthread_join(f->teller, NULL);
    assert_false(is_there(f, "t1.9"));
    session_stop(f->session);
    pthread_join(f->loop, NULL);
}

static void a_result_needs_no_giving_back_and_a_refusal_is_an_answer(void **state)
{
    fixture *f = *state;
    leave_behind(f, "t1", (const message_type[]){MSG_RESULT, 0});
    begin(f);
    admit(f);
    expect_acked(f, MSG_RESULT, ERR_CONFLICT);
    pthread_join(f->teller, NULL);
    assert_false(is_there(f, "t1.9"));
    session_stop(f->session);
    pthread_join(f->loop, NULL);
}

static void what_was_not_answered_stays_for_the_next_time(void **state)
{
    fixture *f = *state;
    SCOPED(message_fini) message m = {0};
    leave_behind(f, "t1", (const message_type[]){MSG_CALL, 0});
    begin(f);
    admit(f);
    desk_await(f->desk, MSG_CALL, &m);
    stop(f);
    assert_true(is_there(f, "t1.9"));
}

static void files_without_a_record_go_and_strange_ones_stay(void **state)
{
    fixture *f = *state;
    err e = {0};
    SCOPED(scoped_free) char *strange = file_join(f->folder, "README");
    SCOPED(scoped_free) char *empty = file_join(f->folder, "t2.4");
    assert_int_equal(file_write(strange, "?", 1, &e), 0);
    assert_int_equal(file_write(empty, "", 0, &e), 0);
    f->left = leftovers_find(f->folder, &e);
    assert_int_equal(leftovers_count(f->left), 0);
    assert_true(is_there(f, "README"));
    assert_false(is_there(f, "t2.4"));
}

#define LEFT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEFT_TEST(an_answer_is_told_and_its_task_given_back),
        LEFT_TEST(a_result_needs_no_giving_back_and_a_refusal_is_an_answer),
        LEFT_TEST(what_was_not_answered_stays_for_the_next_time),
        LEFT_TEST(files_without_a_record_go_and_strange_ones_stay),
    };
    return cmocka_run_group_tests_name("leftovers", tests, NULL, NULL);
}
