/* The emulator's counters in reports, and in words.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/modelled.h"
#include "common/scoped.h"
#include "common/xalloc.h"

#define LAUNCH(work)                                                                           \
    "{\"kernel\":\"k\",\"launches\":2,\"grid\":[7,1,1],\"block\":[32,4,1],"                    \
    "\"thread_instructions\":{\"f32\":640,\"integer\":320},\"warp_instructions\":" work        \
    ",\"global_requests\":10,\"global_sectors\":45,\"shared_requests\":4,\"shared_passes\":6," \
    "\"branches\":8,\"divergent_branches\":2,\"barriers\":3,\"registers\":40,"                 \
    "\"shared_bytes\":512,\"blocks_at_once\":6,\"occupancy\":0.75,\"occupancy_limit\":"        \
    "\"registers\"}"
#define COUNTERS(work) "{\"modelled\":true,\"left_out\":0,\"launches\":[" LAUNCH(work) "]}"

static const char terms_text[] =
    "{\"problem\":\"p\",\"dims\":[{\"name\":\"n\",\"min\":1,\"max\":100}],"
    "\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[\"n\"]}],\"scalars\":[],"
    "\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[\"n\"]}],\"reduction\":\"1\","
    "\"values\":[\"normal\"],\"order_free\":false,\"shapes\":[{\"n\":5}],\"benchmark\":{\"n\":9}}";

static json *parse(const char *text)
{
    err e = {0};
    json *tree = json_parse_tree(text, strlen(text), "test", &e);
    if (tree == NULL)
        fail_msg("%s", e.text);
    return tree;
}

static void a_report_gets_counters_or_nothing(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *row = json_new_object();
    modelled_set(row, NULL);
    assert_int_equal(json_size(row), 0);
    modelled_set(row, COUNTERS("40"));
    assert_true(json_bool(json_get(json_get(row, "modelled"), "modelled"), false));
}

static void the_check_that_did_most_is_kept_with_its_shape(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(contract_destroy)
    contract *terms = contract_parse(terms_text, strlen(terms_text), "test", &e);
    if (terms == NULL)
        fail_msg("%s", e.text);
    static const struct {
        const char *counters;
        int64_t n, kept;
    } steps[] = {{NULL, 1, -1},          {COUNTERS("40"), 2, 2}, {COUNTERS("41"), 3, 3},
                 {COUNTERS("41"), 4, 3}, {COUNTERS("7"), 5, 3},  {NULL, 6, 3}};
    SCOPED(scoped_free) char *kept = NULL;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const contract_shape shape = {{steps[i].n}};
        modelled_keep(&kept, steps[i].counters, terms, &shape);
        SCOPED(json_destroy) json *tree = kept != NULL ? parse(kept) : json_new_null();
        assert_int_equal(json_int(json_get(json_get(tree, "shape"), "n"), -1), steps[i].kept);
    }
}

static void a_cost_adds_up_over_shapes(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(contract_destroy)
    contract *terms = contract_parse(terms_text, strlen(terms_text), "test", &e);
    const contract_shape four = {{4}}, ten = {{10}};
    modelled_cost sum = {0}, read;
    modelled_add(&sum, NULL, terms, &four);
    assert_int_equal(sum.shapes, 0);
    modelled_add(&sum, COUNTERS("40"), terms, &four);
    modelled_add(&sum, COUNTERS("41"), terms, &ten);
    assert_true(sum.shapes == 2 && sum.bytes == 2 * 45 * 32 && sum.bytes_min == 14 * 2 * 4);
    assert_int_equal(sum.thread_instructions, 2 * 960);
    SCOPED(scoped_free) char *kept = xstrdup(COUNTERS("40"));
    assert_false(modelled_get_cost(kept, &read) || modelled_get_cost(NULL, &read));
    modelled_set_cost(&kept, &sum);
    assert_true(modelled_get_cost(kept, &read) && memcmp(&read, &sum, sizeof(read)) == 0);
    modelled_add(&sum, "{\"launches\":[],\"left_out\":1}", terms, &four);
    SCOPED(scoped_free) char *other = xstrdup(COUNTERS("40"));
    modelled_set_cost(&other, &sum); /* a part of the launches is no cost */
    assert_false(modelled_get_cost(other, &read));
}

static void bytes_come_before_instructions(void **state)
{
    (void)state;
    static const struct {
        modelled_cost a, b;
        bool less;
    } rows[] = {{{.bytes = 9, .thread_instructions = 99}, {.bytes = 10}, true},
                {{.bytes = 10, .thread_instructions = 1}, {.bytes = 10}, false},
                {{.bytes = 10}, {.bytes = 10, .thread_instructions = 1}, true},
                {{.bytes = 10}, {.bytes = 10}, false},
                {{.bytes = 11}, {.bytes = 10, .thread_instructions = 1}, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(modelled_is_less(&rows[i].a, &rows[i].b), rows[i].less);
    assert_true(modelled_near(&(modelled_cost){.bytes = 114, .bytes_min = 100}));
    assert_false(modelled_near(&(modelled_cost){.bytes = 116, .bytes_min = 100}));
}

static void the_words_say_what_limits_and_what_is_modelled(void **state)
{
    (void)state;
    SCOPED(json_destroy) json *tree = parse(COUNTERS("40"));
    SCOPED(buf_fini) buf text;
    buf_init(&text, 8192);
    modelled_text(tree, &text);
    static const char *const lines[] = {
        "nothing is measured",
        "k, grid 7, block 32x4, 2 launches: 40 instructions of warps",
        "instructions of threads: f32 640, integer 320",
        "10 requests, 4.5 sectors of 32 bytes each",
        "4 requests, 1.50 passes each",
        "branches of warps: 8, 25.0 % divergent; barriers: 3",
        "occupancy: 75 % (6 blocks at once; limited by registers)",
        "40 registers a thread, 512 bytes"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (strstr(buf_text(&text), lines[i]) == NULL)
            fail_msg("no \"%s\" in:\n%s", lines[i], buf_text(&text));
}

static void no_launch_no_words(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf text;
    buf_init(&text, 8192);
    modelled_text(NULL, &text);
    assert_int_equal(text.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_gets_counters_or_nothing),
        cmocka_unit_test(the_check_that_did_most_is_kept_with_its_shape),
        cmocka_unit_test(a_cost_adds_up_over_shapes),
        cmocka_unit_test(bytes_come_before_instructions),
        cmocka_unit_test(the_words_say_what_limits_and_what_is_modelled),
        cmocka_unit_test(no_launch_no_words),
    };
    return cmocka_run_group_tests_name("modelled", tests, NULL, NULL);
}
