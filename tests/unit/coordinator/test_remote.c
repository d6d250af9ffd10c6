/* test_remote - questions to a coordinator that is there, is not there, or does not want us
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "coordinator/keyring.h"
#include "coordinator/remote.h"
#include "world.h"

static void ask_all(client *box, world *w)
{
    message m, reply;
    SCOPED(remote_destroy) remote *to = remote_open(w->coord->endpoint, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        message_init(&m, MSG_FLEET_GET);
        MUST(remote_ask(to, &m, MSG_FLEET, &reply, NULL) == 0);
        MUST(reply.body.fleet.ref == i + 1);
        message_fini(&reply);
    }
    world_serve(box, w);
}

static void each_answer_belongs_to_its_question(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "silu_fp16"});
    assert_int_equal(world_play(w, ask_all), COORD_FINISHED);
}

static void refused(client *box, world *w)
{
    message m, reply;
    err e = {0};
    char path[128];
    SCOPED(scoped_free) char *keys = file_join(w->folder, "keys");
    world_key(w, "gone");
    snprintf(path, sizeof path, "%s/gone.key", w->folder);
    MUST(keyring_revoke(keys, "gone", NULL) == 0);
    SCOPED(remote_destroy) remote *to = remote_open(w->coord->joined, path, NULL);
    message_init(&m, MSG_FLEET_GET);
    MUST(remote_ask(to, &m, MSG_FLEET, &reply, &e) == -1 && e.code == ERR_DENIED);
    MUST(strstr(e.text, "does not allow this key") != NULL);
    world_serve(box, w);
}

static void a_key_that_is_not_allowed_is_told_at_once(void **state)
{
    (void)state;
    SCOPED(world_destroy)
    world *w = world_create(&(world_options){.only = "silu_fp16", .secure = true});
    assert_int_equal(world_play(w, refused), COORD_FINISHED);
}

static void a_local_socket_that_is_not_there_is_named(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(remote_destroy) remote *to = remote_open("ipc:///nowhere/x.sock", NULL, &e);
    assert_null(to);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, "/nowhere/x.sock"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_belongs_to_its_question),
        cmocka_unit_test(a_key_that_is_not_allowed_is_told_at_once),
        cmocka_unit_test(a_local_socket_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests_name("remote", tests, NULL, NULL);
}
