/* test_find - from what a person types to an id
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/find.h"
#include "tests/unit/store/fixture.h"

typedef struct asked {
    const char *text;
    char *id;
} asked;

static int find_fn(store_tx *tx, void *arg, err *e)
{
    asked *a = arg;
    return find_id(tx, "run", a->text, &a->id, e);
}

static void make(fixture *f, const char *const *ids)
{
    fixture_exec(f, "CREATE TEMP TABLE run (id TEXT)"); /* stands before the real one */
    for (; *ids != NULL; ids++) {
        SCOPED(scoped_free) char *sql = xasprintf("INSERT INTO temp.run VALUES ('%s')", *ids);
        fixture_exec(f, sql);
    }
}

static void names_lead_to_one_id_or_to_a_sentence(void **state)
{
    (void)state;
    static const char *const ids[] = {"01aa", "01ab", "01abc", "02%", "03_x", NULL};
    static const struct {
        const char *text, *id; /* id NULL: the sentence */
        err_code code;
        const char *sentence;
    } rows[] = {
        {"01aa", "01aa", ERR_NONE, NULL},
        {"01ab", "01ab", ERR_NONE, NULL}, /* exact, though also a prefix */
        {"01abc", "01abc", ERR_NONE, NULL},
        {"02", "02%", ERR_NONE, NULL},
        {"latest", "03_x", ERR_NONE, NULL},
        {NULL, "03_x", ERR_NONE, NULL},
        {"01a", NULL, ERR_CONFLICT, "'01a' fits more than one run: 01aa, 01ab, 01abc"},
        {"0", NULL, ERR_CONFLICT, "'0' fits more than one run: 02%, 01aa, 01ab, 03_x, …"},
        {"%", NULL, ERR_NOT_FOUND, "there is no run %"}, /* no pattern */
        {"01AA", NULL, ERR_NOT_FOUND, "there is no run 01AA"},
        {"01abcd", NULL, ERR_NOT_FOUND, "there is no run 01abcd"},
    };
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    make(f, ids);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        asked a = {rows[i].text, NULL};
        if (rows[i].id == NULL) {
            assert_string_equal(fixture_fails(f, find_fn, &a, rows[i].code), rows[i].sentence);
            continue;
        }
        fixture_do(f, find_fn, &a);
        assert_string_equal(a.id, rows[i].id);
        free(a.id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lead_to_one_id_or_to_a_sentence),
    };
    return cmocka_run_group_tests_name("find", tests, NULL, NULL);
}
