/* test_calibrate - self-tests of nodes, and the margins that leases carry
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/calibrate.h"
#include "wire/calibration.h"
#include "world.h"

static char uuid[] = "GPU-fake", word[] = "x", aa[] = "aa", copy[] = "copy", warm[] = "warm",
            middle[] = "middle";

/* report sends a self-test: `runs` A/A runs of |θ| = size, the copy's time, and whether all was well. */
static bool report(client *box, int runs, double size, double copy_ms, bool well)
{
    calibration_check rows[64] = {{.name = NULL}};
    const double none = (double)NAN;
    size_t count = 0;
    for (int i = 0; i < runs; i++)
        rows[count++] = (calibration_check){.name = aa,
                                            .label = word,
                                            .duration = middle,
                                            .passed = true,
                                            .theta = i % 2 ? size : -size};
    rows[count++] =
        (calibration_check){.name = copy, .label = word, .passed = true, .value = copy_ms};
    rows[count++] =
        (calibration_check){.name = warm, .label = word, .decides = true, .passed = well};
    for (size_t i = 0; i < count; i++)
        rows[i].ci_low = rows[i].ci_high = rows[i].candidate_ms = rows[i].limit = none;
    const calibration_record record = {.device = word,
                                       .device_kind = word,
                                       .device_uuid = uuid,
                                       .driver = word,
                                       .torch = word,
                                       .version = word,
                                       .protocol = word,
                                       .passed = well,
                                       .checks = rows,
                                       .check_count = count};
    message m, answer;
    message_init(&m, MSG_CALIBRATION);
    m.body.calibration.record = calibration_write(&record);
    uint64_t sent = client_send(box, &m);
    client_expect(box, MSG_CALIBRATED, &answer);
    MUST(answer.body.calibrated.ref == (int64_t)sent);
    bool passed = answer.body.calibrated.passed;
    MUST(passed == (answer.body.calibrated.text[0] == '\0'));
    message_fini(&answer);
    return passed;
}

/* The card as the next lease tells it. */
static struct row_card next_card(client *box, message *given)
{
    client_pull(box, 1);
    client_expect(box, MSG_LEASE, given);
    MUST(given->body.lease.cards_count == 1);
    MUST(strcmp(given->body.lease.cards[0].uuid, uuid) == 0);
    return given->body.lease.cards[0];
}

static void finish(client *box, message *given)
{
    MUST(client_result(box, given, "ok", "") == 0);
    message_fini(given);
}

static void calibrate_itself(client *box, world *w)
{
    (void)w;
    message given;
    client_join(box, "box", 1);
    struct row_card card = next_card(box, &given); /* nothing is known yet */
    MUST(card.runs_middle == 0 && card.margin_middle == 0.01 && card.failure[0] == '\0');
    finish(box, &given);
    MUST(report(box, 12, 0.03, 0.035, true));
    card = next_card(box, &given);
    MUST(card.runs_middle == 12 && card.runs_short == 0 && card.margin_short == 0.01);
    MUST(fabs(card.margin_middle - expm1(0.03)) < 1e-9);
    finish(box, &given);
}

static void runs_of_a_card_set_the_margin_of_later_leases(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(world_play(w, calibrate_itself), COORD_FINISHED);
    assert_int_equal(world_count(w, "selftest WHERE passed = 1"), 1);
    assert_int_equal(world_count(w, "calibration WHERE name = 'aa' AND duration = 'middle'"), 12);
}

static void fail_and_mend(client *box, world *w)
{
    (void)w;
    message given;
    client_join(box, "box", 1);
    MUST(!report(box, 0, 0, 0.035, false));
    struct row_card card = next_card(box, &given);
    MUST(strcmp(card.failure, "warm x") == 0);
    finish(box, &given);
    MUST(report(box, 0, 0, 0.035, true));
    MUST(!report(box, 0, 0, 0.037, true)); /* the copy is 5.7 % off the stored median */
    MUST(report(box, 0, 0, 0.036, true));
    card = next_card(box, &given);
    MUST(card.failure[0] == '\0');
    finish(box, &given);
}

static void a_failed_self_test_is_told_until_one_passes(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(world_play(w, fail_and_mend), COORD_FINISHED);
    assert_int_equal(world_count(w, "selftest WHERE passed = 0"), 2);
    assert_int_equal(world_count(w, "selftest WHERE failure LIKE '%stored median%'"), 1);
}

static void be_asked_first(client *box, world *w)
{
    message m;
    (void)w;
    client_join(box, "box", 1);
    client_expect(box, MSG_MEASURE, &m);
    MUST(m.body.measure.quick && m.body.measure.known_count == 0);
    message_fini(&m);
    client_pull(box, 1);
    MUST(!client_next(box, 300, &m)); /* no task before the self-test */
    MUST(report(box, 0, 0, 0.035, true));
    client_expect(box, MSG_LEASE, &m);
    finish(box, &m);
    client_serve(box);
}

static void a_run_may_ask_for_a_self_test_before_the_first_task(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    w->run->settings.selftest = 1;
    assert_int_equal(world_play(w, be_asked_first), COORD_FINISHED);
}

static void send_rubbish(client *box, world *w)
{
    message m;
    (void)w;
    client_join(box, "box", 1);
    message_init(&m, MSG_CALIBRATION);
    message_set_str(&m.body.calibration.record, "{}");
    MUST(client_ack(box, client_send(box, &m)) == ERR_CONFIG);
    client_serve(box);
}

static void a_record_that_is_none_is_refused(void **state)
{
    (void)state;
    SCOPED(world_destroy) world *w = world_create(&(world_options){.only = "vector_add_fp32"});
    assert_int_equal(world_play(w, send_rubbish), COORD_FINISHED);
    assert_int_equal(world_count(w, "selftest"), 0);
}

static void five_percent_is_the_limit_of_the_copy(void **state)
{
    (void)state;
    assert_true(calibrate_copy_fits(1.0499, 1));
    assert_true(calibrate_copy_fits(0.9501, 1));
    assert_false(calibrate_copy_fits(1.0501, 1));
    assert_false(calibrate_copy_fits(0.9499, 1));
    assert_true(calibrate_copy_fits(7, (double)NAN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_a_card_set_the_margin_of_later_leases),
        cmocka_unit_test(a_failed_self_test_is_told_until_one_passes),
        cmocka_unit_test(a_run_may_ask_for_a_self_test_before_the_first_task),
        cmocka_unit_test(a_record_that_is_none_is_refused),
        cmocka_unit_test(five_percent_is_the_limit_of_the_copy)};
    return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
