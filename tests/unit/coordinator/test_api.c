/* test_api - what nodes may say, and what they are told
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/scoped.h"
#include "world.h"
#include "wire/record.h"

static void be_unknown(client *box, world *w)
{
    message m;
    client_pull(box, 1);
    client_expect(box, MSG_REFUSED, &m);
    MUST(m.body.refused.code == ERR_NOT_FOUND);
    MUST(strstr(m.body.refused.text, "register again") != NULL);
    message_fini(&m);
    client_beat(box, "nobody");
    client_expect(box, MSG_REFUSED, &m);
    MUST(m.body.refused.code == ERR_NOT_FOUND);
    message_fini(&m);
    world_serve(box, w);
}

static void an_unknown_peer_is_told_to_register_and_may(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(world_play(w, be_unknown), COORD_FINISHED);
}

static void speak_another_protocol(client *box, world *w)
{
    message m;
    message_init(&m, MSG_HELLO);
    m.body.hello.protocol = 99;
    m.body.hello.slots = 1;
    message_set_str(&m.body.hello.node, "old");
    message_set_str(&m.body.hello.instance, "i");
    client_send(box, &m);
    client_expect(box, MSG_REFUSED, &m);
    MUST(m.body.refused.code == ERR_PROTOCOL);
    MUST(m.body.refused.protocol == MESSAGE_PROTOCOL);
    MUST(strstr(m.body.refused.text, "99") != NULL);
    message_fini(&m);
    world_serve(box, w);
}

static void another_protocol_is_refused_in_words(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(world_play(w, speak_another_protocol), COORD_FINISHED);
}

static void exchange_blobs(client *box, world *w)
{
    message m;
    static char big[3 * 1024 * 1024 / 2];
    memset(big, 'x', sizeof big);
    hash name = hash_of(big, sizeof big);
    client_join(box, "box", 1);
    for (int64_t offset = 0; offset >= 0;) {
        message_init(&m, MSG_BLOB_PUT);
        offset = blob_put_chunk(&m, &name, big, sizeof big, offset);
        client_send(box, &m);
    }
    SCOPED(blob_in_destroy) blob_in *back = blob_in_create(&name);
    for (int done = 0; done == 0;) {
        message_init(&m, MSG_BLOB_GET);
        m.body.blob_get.blob = name;
        m.body.blob_get.offset = blob_in_next(back);
        client_send(box, &m);
        client_expect(box, MSG_BLOB_DATA, &m);
        MUST(m.body.blob_data.found);
        done = blob_in_add(back, m.body.blob_data.offset, m.body.blob_data.total,
                           &m.body.blob_data.data, NULL);
        MUST(done >= 0);
        message_fini(&m);
    }
    message_init(&m, MSG_BLOB_GET);
    m.body.blob_get.blob = hash_of_text("nobody has this");
    client_send(box, &m);
    client_expect(box, MSG_BLOB_DATA, &m);
    MUST(!m.body.blob_data.found);
    message_fini(&m);

    message_init(&m, MSG_BLOB_PUT); /* the bytes are not what the name says */
    blob_put_chunk(&m, &name, "y", 1, 0);
    MUST(client_ack(box, client_send(box, &m)) == ERR_PROTOCOL);
    client_serve(box);
    (void)w;
}

static void blobs_go_both_ways_and_are_verified(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(world_play(w, exchange_blobs), COORD_FINISHED);
    assert_int_equal(world_count(w, "artifact WHERE size = 1572864"), 1);
}

static void send_nonsense(client *box, world *w)
{
    message given, m;
    client_join(box, "box", 1);
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, &given);
    static const char *const records[] = {
        "not JSON",
        "{}",
        "{\"stage\":\"contract\"}",
    };
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        message_init(&m, MSG_STAGE);
        message_set_str(&m.body.stage.task, given.body.lease.task);
        m.body.stage.token = given.body.lease.token;
        message_set_str(&m.body.stage.record, records[i]);
        MUST(client_ack(box, client_send(box, &m)) == ERR_PROTOCOL);
    }
    message_init(&m, MSG_STAGE);
    message_set_str(&m.body.stage.task, "01nosuchtask");
    m.body.stage.token = 1;
    message_set_str(&m.body.stage.record, "{}");
    MUST(client_ack(box, client_send(box, &m)) == ERR_NOT_FOUND);
    MUST(client_result(box, &given, "ok", "") == 0);
    message_fini(&given);
    client_serve(box);
    (void)w;
}

static void nonsense_is_answered_and_changes_nothing(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(world_play(w, send_nonsense), COORD_FINISHED);
    assert_int_equal(world_count(w, "stage_result"), 0);
}

static void keep_baselines(client *box, world *w)
{
    message m;
    char key[HASH_HEX];
    hash of = hash_of_text("k");
    hash_hex(&of, key);
    client_join(box, "box", 1);
    for (int round = 0; round < 2; round++) {
        message_init(&m, MSG_BASELINE_GET);
        message_set_str(&m.body.baseline_get.key, key);
        uint64_t ref = client_send(box, &m);
        client_expect(box, MSG_BASELINE, &m);
        MUST(m.body.baseline.ref == (int64_t)ref);
        MUST(m.body.baseline.found == (round == 1));
        message_fini(&m);
        char id[] = "p", shape[] = "n=1";
        const baseline_record record = {.problem = id, .shape = shape};
        message_init(&m, MSG_BASELINE_PUT);
        message_set_str(&m.body.baseline_put.key, key);
        m.body.baseline_put.record = baseline_record_write(&record);
        MUST(client_ack(box, client_send(box, &m)) == 0);
    }
    client_serve(box);
    (void)w;
}

static void baselines_are_kept(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(world_play(w, keep_baselines), COORD_FINISHED);
    assert_int_equal(world_count(w, "baseline"), 1);
}

static void two_of_one_name(client *box, world *w)
{
    message m;
    client_join(box, "box", 1);
    SCOPED(client_destroy) client *newer = client_create(w->coord->endpoint);
    client_join(newer, "box", 1);
    client_expect(box, MSG_BYE, &m);
    message_fini(&m);
    client_serve(newer);
}

static void a_newer_process_of_the_same_name_takes_over(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(world_play(w, two_of_one_name), COORD_FINISHED);
    assert_int_equal(world_count(w, "node"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_peer_is_told_to_register_and_may),
        cmocka_unit_test(another_protocol_is_refused_in_words),
        cmocka_unit_test(blobs_go_both_ways_and_are_verified),
        cmocka_unit_test(nonsense_is_answered_and_changes_nothing),
        cmocka_unit_test(baselines_are_kept),
        cmocka_unit_test(a_newer_process_of_the_same_name_takes_over),
    };
    return cmocka_run_group_tests_name("coordinator/api", tests, NULL, NULL);
}
