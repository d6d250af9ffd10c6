/* test_artifact - blobs are stored once and verified
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/artifact.h"
#include "tests/unit/store/fixture.h"

typedef struct blob {
    const char *data;
    size_t size;
    hash name;
    buf back;
} blob;

static int put_fn(store_tx *tx, void *arg, err *e)
{
    blob *b = arg;
    return artifact_put(tx, b->data, b->size, &b->name, e);
}

static int get_fn(store_tx *tx, void *arg, err *e)
{
    blob *b = arg;
    return artifact_get(tx, &b->name, &b->back, e);
}

static int null_text_fn(store_tx *tx, void *arg, err *e)
{
    return artifact_put_text(tx, NULL, arg, e);
}

static void bytes_come_back_whatever_they_are(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    static const char binary[] = "a\0b\xff\n";
    SCOPED(scoped_free) char *large = xmalloc(300000);
    memset(large, 'x', 300000);
    blob rows[] = {{"", 0, {{0}}, {0}}, {binary, 5, {{0}}, {0}}, {large, 300000, {{0}}, {0}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        buf_init(&rows[i].back, ARTIFACT_MAX);
        fixture_do(f, put_fn, &rows[i]);
        fixture_do(f, get_fn, &rows[i]);
        assert_int_equal(rows[i].back.size, rows[i].size);
        if (rows[i].size > 0)
            assert_memory_equal(rows[i].back.data, rows[i].data, rows[i].size);
        buf_fini(&rows[i].back);
    }
    assert_int_equal(fixture_count(f, "artifact WHERE length(data) < 1000"), 3); /* compressed */
}

static void equal_bytes_are_one_row(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    hash a = fixture_text(f, "same"), b = fixture_text(f, "same");
    assert_true(hash_equal(&a, &b));
    assert_int_equal(fixture_count(f, "artifact"), 1);
}

static void no_text_is_the_zero_hash(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    hash name = hash_of_text("x");
    fixture_do(f, null_text_fn, &name);
    assert_true(hash_is_zero(&name));
    assert_int_equal(fixture_count(f, "artifact"), 0);
}

static void missing_damaged_and_oversized_are_told_apart(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    blob b = {.name = hash_of_text("absent")};
    buf_init(&b.back, 16);
    fixture_fails(f, get_fn, &b, ERR_NOT_FOUND);
    b.name = fixture_text(f, "a text of more than sixteen bytes");
    fixture_fails(f, get_fn, &b, ERR_LIMIT);
    assert_int_equal(b.back.size, 0);
    hash other = fixture_text(f, "other");
    char hex[HASH_HEX], hex_other[HASH_HEX];
    hash_hex(&b.name, hex);
    hash_hex(&other, hex_other);
    SCOPED(scoped_free)
    char *swap =
        xasprintf("UPDATE artifact SET data = (SELECT data FROM artifact WHERE hash = '%s') "
                  "WHERE hash = '%s'",
                  hex_other, hex);
    fixture_exec(f, swap);
    assert_non_null(
        strstr(fixture_fails(f, get_fn, &b, ERR_PROTOCOL), "its bytes have another hash"));
    SCOPED(scoped_free)
    char *cut = xasprintf("UPDATE artifact SET data = x'28b52f' WHERE hash = '%s'", hex);
    fixture_exec(f, cut);
    fixture_fails(f, get_fn, &b, ERR_PROTOCOL);
    buf_fini(&b.back);
    blob huge = {.data = "", .size = (size_t)ARTIFACT_MAX + 1};
    fixture_fails(f, put_fn, &huge, ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back_whatever_they_are),
        cmocka_unit_test(equal_bytes_are_one_row),
        cmocka_unit_test(no_text_is_the_zero_hash),
        cmocka_unit_test(missing_damaged_and_oversized_are_told_apart),
    };
    return cmocka_run_group_tests_name("artifact", tests, NULL, NULL);
}
