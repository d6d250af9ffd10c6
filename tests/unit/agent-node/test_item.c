/* test_item - what was sent, what is answered, which blobs may be forgotten
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "agent-node/item.h"
#include "common/hash.h"

static void add_record(sent_list *list, uint64_t seq)
{
    message m;
    message_init(&m, MSG_STAGE);
    item *one = item_create(&m, true);
    one->m.seq = seq;
    sent_add(list, one);
}

static void add_chunk(sent_list *list, uint64_t seq, const char *blob, bool last)
{
    message m;
    message_init(&m, MSG_BLOB_PUT);
    m.body.blob_put.blob = hash_of_text(blob);
    message_set_bytes(&m.body.blob_put.data, "1234", 4);
    m.body.blob_put.offset = last ? 4 : 0;
    m.body.blob_put.total = 8;
    item *one = item_create(&m, false);
    one->m.seq = seq;
    sent_add(list, one);
}

/* "1 3 4": the numbers in the list. */
static void expect(const sent_list *list, const char *wanted)
{
    char text[64] = "";
    for (const item *at = list->first; at != NULL; at = at->next) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%d", used ? " " : "", (int)at->m.seq);
    }
    assert_string_equal(text, wanted);
    assert_true(list->first == NULL ? list->end == &list->first : *list->end == NULL);
}

static void end(sent_list *list)
{
    err why;
    err_set(&why, ERR_UNAVAILABLE, "over");
    for (item *at = list->first; at != NULL; at = at->next) {
        at->abandoned = true; /* nobody waits in these tests */
    }
    sent_fail(list, &why);
    expect(list, "");
}

static void an_answer_takes_its_question_wherever_it_stands(void **state)
{
    (void)state;
    static const int orders[][3] = {{1, 2, 3}, {3, 2, 1}, {2, 1, 3}, {2, 3, 1}};
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        sent_list list = {.end = &list.first};
        for (uint64_t seq = 1; seq <= 3; seq++) {
            add_record(&list, seq);
        }
        for (size_t k = 0; k < 3; k++) {
            item *found = sent_answered(&list, orders[i][k]);
            assert_non_null(found);
            assert_int_equal(found->m.seq, orders[i][k]);
            item_free(found);
            assert_null(sent_answered(&list, orders[i][k]));
        }
        expect(&list, "");
        add_record(&list, 9);
        expect(&list, "9");
        end(&list);
    }
}

static void blobs_before_an_acknowledged_record_are_forgotten(void **state)
{
    (void)state;
    sent_list list = {.end = &list.first};
    add_chunk(&list, 1, "a", false);
    add_record(&list, 2);
    add_chunk(&list, 3, "a", true);
    add_chunk(&list, 4, "b", false);
    add_record(&list, 5);
    add_chunk(&list, 6, "b", true);
    add_record(&list, 7);
    sent_forget_blobs(&list, 2); /* blob a was not whole by then */
    expect(&list, "1 2 3 4 5 6 7");
    sent_forget_blobs(&list, 5);
    expect(&list, "2 4 5 6 7");
    sent_forget_blobs(&list, 7);
    expect(&list, "2 5 7");
    end(&list);
}

static void nobody_answers_a_blob(void **state)
{
    (void)state;
    sent_list list = {.end = &list.first};
    add_chunk(&list, 1, "a", true);
    assert_null(sent_answered(&list, 1));
    expect(&list, "1");
    end(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_takes_its_question_wherever_it_stands),
        cmocka_unit_test(blobs_before_an_acknowledged_record_are_forgotten),
        cmocka_unit_test(nobody_answers_a_blob),
    };
    return cmocka_run_group_tests_name("item", tests, NULL, NULL);
}
