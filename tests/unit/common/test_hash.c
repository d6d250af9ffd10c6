/* test_hash - content hash
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include <stdbool.h>
#include <string.h>

#include "common/hash.h"

static void digests_are_those_of_fips_180(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hash h = hash_of_text(rows[i][0]);
        char hex[HASH_HEX];
        hash_hex(&h, hex);
        assert_string_equal(hex, rows[i][1]);
        hash back;
        assert_true(hash_parse(hex, &back));
        assert_true(hash_equal(&h, &back));
    }
    hash none = hash_of(NULL, 0);
    hash empty = hash_of_text("");
    assert_true(hash_equal(&none, &empty));
}

static void only_64_lower_case_digits_parse(void **state)
{
    (void)state;
    char hex[80];
    hash out;
    memset(&out, 7, sizeof out);
    for (size_t size = 0; size < 70; size++) {
        memset(hex, 'a', size);
        hex[size] = '\0';
        assert_int_equal(hash_parse(hex, &out), size == 64);
    }
    memset(hex, 'a', 64);
    hex[64] = '\0';
    static const char bad[] = "AFg/: G`@-";
    for (const char *c = bad; *c != '\0'; c++) {
        for (size_t at = 0; at < 64; at += 21) {
            hex[at] = *c;
            assert_false(hash_parse(hex, &out));
            hex[at] = 'a';
        }
    }
}

static void zero_means_no_blob(void **state)
{
    (void)state;
    hash zero = {{0}};
    assert_true(hash_is_zero(&zero));
    zero.bytes[HASH_SIZE - 1] = 1;
    assert_false(hash_is_zero(&zero));
}

static void lists_do_not_collide_by_concatenation(void **state)
{
    (void)state;
    static const hash_part lists[][2] = {
        {{"a", "bc", 2}, {"d", "e", 1}}, {{"ab", "c", 1}, {"d", "e", 1}},
        {{"a", "b", 1}, {"cd", "e", 1}}, {{"a", "b", 1}, {"c", "de", 2}},
        {{"d", "e", 1}, {"a", "bc", 2}}, {{"a", "bc", 2}, {"d", "", 0}},
    };
    enum { LISTS = sizeof lists / sizeof lists[0] };
    for (size_t i = 0; i < LISTS; i++) {
        hash one = hash_list(lists[i], 2);
        hash again = hash_list(lists[i], 2);
        assert_true(hash_equal(&one, &again));
        for (size_t j = 0; j < i; j++) {
            hash other = hash_list(lists[j], 2);
            assert_false(hash_equal(&one, &other));
        }
    }
    hash none = hash_list(NULL, 0);
    hash empty = hash_of_text("");
    assert_true(hash_equal(&none, &empty));
}

static void a_file_has_the_hash_of_its_bytes(void **state)
{
    (void)state;
    enum { LONG = 200000 };
    char path[] = "/tmp/ce-hash-XXXXXX";
    static char bytes[LONG];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t i = 0; i < LONG; i++)
        bytes[i] = (char)(i * 7 % 251);
    for (size_t size = 0; size <= LONG; size += LONG / 2) {
        hash got, want = hash_of(bytes, size);
        int64_t told;
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, bytes, size, 0), size);
        assert_int_equal(hash_of_file(path, &got, &told, NULL), 0);
        assert_int_equal(told, size);
        assert_true(hash_equal(&got, &want));
    }
    close(fd);
    unlink(path);
    hash none;
    int64_t told;
    err e = {0};
    assert_int_equal(hash_of_file(path, &none, &told, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_fips_180),
        cmocka_unit_test(only_64_lower_case_digits_parse),
        cmocka_unit_test(zero_means_no_blob),
        cmocka_unit_test(a_file_has_the_hash_of_its_bytes),
        cmocka_unit_test(lists_do_not_collide_by_concatenation),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
