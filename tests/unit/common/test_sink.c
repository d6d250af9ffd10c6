/* test_sink - all pieces in order, their hash, or nothing
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
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/sink.h"
#include "common/xalloc.h"

enum { PIECES = 50, PIECE = 70001 };

static char *fresh_folder(void)
{
    char *folder = xstrdup("/tmp/ce-sink-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static void pieces_become_a_file_and_its_hash(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *folder = fresh_folder();
    SCOPED(scoped_free) char *path = file_join(folder, "a");
    SCOPED(sink_destroy) sink *s = sink_create(path, NULL);
    SCOPED(buf_fini) buf all = {0};
    SCOPED(buf_fini) buf got = {0};
    buf_init(&all, (size_t)PIECES * PIECE);
    buf_init(&got, (size_t)PIECES * PIECE);
    for (int i = 0; i < PIECES; i++) {
        SCOPED(scoped_free) char *text = xmalloc(PIECE);
        memset(text, 'a' + i % 26, PIECE);
        buf_add(&all, text, PIECE);
        assert_int_equal(sink_add(s, text, PIECE), 0);
    }
    assert_int_equal(sink_add(s, NULL, 0), 0);
    assert_false(file_exists(path)); /* complete or not there */
    hash sum;
    assert_int_equal(sink_commit(s, &sum, NULL), 0);
    assert_int_equal(file_read(path, &got, NULL), 0);
    assert_int_equal(got.size, all.size);
    assert_memory_equal(got.data, all.data, all.size);
    const hash want = hash_of(all.data, all.size);
    assert_true(hash_equal(&sum, &want));
    file_remove_tree(folder, NULL);
}

static void what_is_not_committed_leaves_nothing(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *folder = fresh_folder();
    SCOPED(scoped_free) char *path = file_join(folder, "a");
    sink *s = sink_create(path, NULL);
    assert_int_equal(sink_add(s, "half", 4), 0);
    sink_destroy(&s);
    assert_null(s);
    assert_int_equal(rmdir(folder), 0);
}

static void a_folder_that_is_not_there_is_told(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(scoped_free) char *nowhere = xstrdup("/tmp/ce-sink-none/no/file");
    assert_null(sink_create(nowhere, &e));
    assert_non_null(strstr(e.text, nowhere));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_become_a_file_and_its_hash),
        cmocka_unit_test(what_is_not_committed_leaves_nothing),
        cmocka_unit_test(a_folder_that_is_not_there_is_told),
    };
    return cmocka_run_group_tests_name("sink", tests, NULL, NULL);
}
