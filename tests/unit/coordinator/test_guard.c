/* test_guard - nodes with keys: who may register as whom, whose task is whose, and revocation
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "coordinator/keyring.h"
#include "world.h"

#define SECURE (&(world_options){.only = "silu_fp16", .secure = true})

static void expect_refusal(client *box, err_code code, const char *says)
{
    message m;
    client_expect(box, MSG_REFUSED, &m);
    MUST(m.body.refused.code == (int64_t)code);
    MUST(strstr(m.body.refused.text, says) != NULL);
    message_fini(&m);
}

static void keyed_work(client *box, world *w)
{
    curve_file key = world_key(w, "a100");
    SCOPED(client_destroy) client *far = client_create_with_key(w->coord->joined, &key);
    (void)box;
    client_join(far, "a100.rack-7", 2);
    client_pull(far, 2);
    client_serve(far);
}

static void a_node_with_a_key_does_the_work(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(SECURE);
    assert_int_equal(world_play(w, keyed_work), COORD_FINISHED);
    assert_int_equal(world_count(w, "node WHERE name = 'a100.rack-7'"), 1);
}

static void other_names(client *box, world *w)
{
    curve_file key = world_key(w, "a100");
    static const char *const wrong[] = {"b200", "a1000", "a10", "local"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        SCOPED(client_destroy) client *far = client_create_with_key(w->coord->joined, &key);
        client_hello(far, wrong[i], 1);
        expect_refusal(far, ERR_DENIED, "key a100 may register a100");
    }
    world_serve(box, w);
}

static void a_key_stands_for_its_own_name_only(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(SECURE);
    assert_int_equal(world_play(w, other_names), COORD_FINISHED);
}

static void steal(client *box, world *w)
{
    curve_file key = world_key(w, "thief");
    SCOPED(client_destroy) client *thief = client_create_with_key(w->coord->joined, &key);
    message given;
    client_join(box, "box", 1);
    client_join(thief, "thief", 1);
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, &given);
    MUST(client_result(thief, &given, "ok", "") == ERR_DENIED);
    MUST(client_call(thief, &given, "interview", 0) == ERR_DENIED);
    MUST(client_stage(thief, &given, "contract") == ERR_DENIED);
    MUST(client_give_back(thief, &given, ERR_INTERNAL, "mine") == ERR_DENIED);
    MUST(client_result(box, &given, "ok", "") == 0);
    message_fini(&given);
    client_pull(box, 1);
    client_serve(box);
}

static void a_node_cannot_write_another_nodes_task(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(SECURE);
    assert_int_equal(world_play(w, steal), COORD_FINISHED);
    assert_int_equal(world_count(w, "event WHERE kind = 'returned'"), 0);
}

static void revoke(client *box, world *w)
{
    curve_file key = world_key(w, "a100");
    SCOPED(scoped_free) char *keys = file_join(w->folder, "keys");
    SCOPED(client_destroy) client *far = client_create_with_key(w->coord->joined, &key);
    message given;
    client_join(far, "a100", 1);
    client_pull(far, 1);
    client_expect(far, MSG_LEASE, &given);
    MUST(keyring_revoke(keys, "a100", NULL) == 0);
    expect_refusal(far, ERR_DENIED, "revoked");
    message m;
    message_init(&m, MSG_PULL);
    client_send(far, &m);
    expect_refusal(far, ERR_NOT_FOUND, "register again");
    client_hello(far, "a100", 1);
    expect_refusal(far, ERR_DENIED, "revoked");
    message_fini(&given);
    world_serve(box, w);
}

static void an_open_connection_of_a_revoked_key_is_dropped(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(SECURE);
    assert_int_equal(world_play(w, revoke), COORD_FINISHED);
    assert_int_equal(world_count(w, "lease WHERE node = 'a100' AND ending = 'lost'"), 1);
    assert_int_equal(world_count(w, "node WHERE name = 'a100' AND state = 'lost'"), 1);
}

static void forge_beats(client *box, world *w)
{
    curve_file key = world_key(w, "thief");
    SCOPED(client_destroy) client *thief = client_create_with_key(w->coord->joined, &key);
    client_join(box, "box", 1);
    client_beat(thief, "box");
    expect_refusal(thief, ERR_NOT_FOUND, "not registered");
    client_pull(box, 1);
    client_serve(box);
}

static void nobody_beats_for_another(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(SECURE);
    assert_int_equal(world_play(w, forge_beats), COORD_FINISHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_with_a_key_does_the_work),
        cmocka_unit_test(a_key_stands_for_its_own_name_only),
        cmocka_unit_test(a_node_cannot_write_another_nodes_task),
        cmocka_unit_test(an_open_connection_of_a_revoked_key_is_dropped),
        cmocka_unit_test(nobody_beats_for_another),
    };
    return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
