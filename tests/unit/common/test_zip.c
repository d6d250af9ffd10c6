/* test_zip - zstd in one call
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "common/zip.h"

enum { LARGE = 300000 };

static char *some_bytes(size_t size)
{
    char *data = xmalloc(size);
    uint32_t x = 12345;
    for (size_t i = 0; i < size; i++) {
        x = x * 1664525 + 1013904223;
        data[i] = (char)(i % 100 < 50 ? 'a' : x >> 24);
    }
    return data;
}

static void what_was_packed_is_restored(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 1000, LARGE};
    SCOPED(scoped_free) char *data = some_bytes(LARGE);
    for (size_t i = 0; i < 4; i++) {
        SCOPED(buf_fini) buf packed;
        SCOPED(buf_fini) buf restored;
        buf_init(&packed, LARGE + 1000);
        buf_init(&restored, sizes[i]); /* exactly enough */
        err e = {0};
        assert_int_equal(zip_pack(data, sizes[i], &packed, &e), 0);
        assert_int_equal(zip_unpack(packed.data, packed.size, &restored, &e), 0);
        assert_int_equal(restored.size, sizes[i]);
        assert_memory_equal(restored.data, data, sizes[i]);
    }
}

static void both_ways_respect_the_maximum(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *data = some_bytes(1000);
    SCOPED(buf_fini) buf packed;
    SCOPED(buf_fini) buf small;
    buf_init(&packed, 2000);
    buf_init(&small, 999);
    err e = {0};
    assert_int_equal(zip_pack(data, 1000, &packed, &e), 0);
    assert_int_equal(zip_unpack(packed.data, packed.size, &small, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
    assert_int_equal(small.size, 0);
    SCOPED(buf_fini) buf tiny;
    buf_init(&tiny, 10);
    assert_int_equal(zip_pack(data, 1000, &tiny, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
}

static void every_cut_is_noticed(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *data = some_bytes(200);
    SCOPED(buf_fini) buf packed;
    buf_init(&packed, 1000);
    err e = {0};
    assert_int_equal(zip_pack(data, 200, &packed, &e), 0);
    for (size_t cut = 0; cut < packed.size; cut++) {
        SCOPED(scoped_free) char *exact = xmemdup(packed.data, cut);
        SCOPED(buf_fini) buf out;
        buf_init(&out, 1000);
        assert_int_equal(zip_unpack(exact, cut, &out, &e), -1);
        assert_int_equal(e.code, ERR_PROTOCOL);
        assert_int_equal(out.size, 0);
    }
}

/* Whatever one flipped bit does, it never gives other bytes than those packed. */
static void every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *data = some_bytes(200);
    SCOPED(buf_fini) buf packed;
    buf_init(&packed, 1000);
    err e = {0};
    assert_int_equal(zip_pack(data, 200, &packed, &e), 0);
    size_t refused = 0;
    for (size_t bit = 0; bit < packed.size * 8; bit++) {
        packed.data[bit / 8] = (char)(packed.data[bit / 8] ^ (1 << bit % 8));
        SCOPED(buf_fini) buf out;
        buf_init(&out, 1000);
        if (zip_unpack(packed.data, packed.size, &out, &e) < 0) {
            assert_true(e.code == ERR_PROTOCOL || e.code == ERR_LIMIT);
            refused++;
        } else {
            assert_int_equal(out.size, 200);
            assert_memory_equal(out.data, data, 200);
        }
        packed.data[bit / 8] = (char)(packed.data[bit / 8] ^ (1 << bit % 8));
    }
    assert_true(refused > packed.size * 8 * 9 / 10);
}

static void other_things_are_refused(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf packed;
    SCOPED(buf_fini) buf out;
    buf_init(&packed, 1000);
    buf_init(&out, 1000);
    err e = {0};
    assert_int_equal(zip_unpack("plain text, no frame", 20, &out, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_int_equal(zip_pack("abc", 3, &packed, &e), 0);
    buf_puts(&packed, "x");
    assert_int_equal(zip_unpack(packed.data, packed.size, &out, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_int_equal(out.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_packed_is_restored),
        cmocka_unit_test(both_ways_respect_the_maximum),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(other_things_are_refused),
    };
    return cmocka_run_group_tests_name("zip", tests, NULL, NULL);
}
