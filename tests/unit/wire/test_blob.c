/* test_blob - exchange in chunks and the cache
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/blob.h"

enum { ROOM = 1024 * 1024, THREADS = 4, ROUNDS = 200 };

static char *pattern(size_t size)
{
    char *data = xmalloc(size + 1);
    for (size_t i = 0; i < size; i++)
        data[i] = (char)(i * 2654435761u >> 13);
    return data;
}

/* ---- chunks ---- */

/* send_all cuts the blob into BLOB_PUTs, each through the codec, and returns their number. */
static int send_all(blob_inbox *inbox, const char *owner, const char *data, size_t size,
                    message_bytes *done)
{
    hash name = hash_of(data, size);
    int chunks = 0, rc = 0;
    for (int64_t next = 0; next >= 0;) {
        SCOPED(message_fini) message m, got = {0};
        SCOPED(buf_fini) buf wire;
        buf_init(&wire, MESSAGE_SIZE_MAX);
        message_init(&m, MSG_BLOB_PUT);
        next = blob_put_chunk(&m, &name, data, size, next);
        assert_int_equal(message_encode(&m, &wire, NULL), 0);
        assert_int_equal(message_decode(wire.data, wire.size, &got, NULL), 0);
        assert_int_equal(rc, 0);
        err e = {0};
        rc = blob_inbox_put(inbox, owner, &got.body.blob_put, done, &e);
        if (rc < 0)
            fail_msg("%s", e.text);
        chunks++;
    }
    assert_int_equal(rc, 1);
    return chunks;
}

static void a_blob_of_any_size_arrives_whole(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        int chunks;
    } rows[] = {
        {0, 1},
        {1, 1},
        {BLOB_CHUNK - 1, 1},
        {BLOB_CHUNK, 1},
        {BLOB_CHUNK + 1, 2},
        {(size_t)3 * BLOB_CHUNK, 3},
        {BLOB_MAX, 64},
    };
    blob_inbox *inbox = blob_inbox_create(BLOB_MAX);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED(scoped_free) char *data = pattern(rows[i].size);
        message_bytes done = {0};
        assert_int_equal(send_all(inbox, "node", data, rows[i].size, &done), rows[i].chunks);
        assert_int_equal(done.size, rows[i].size);
        assert_memory_equal(done.data, data, rows[i].size);
        free(done.data);
    }
    blob_inbox_destroy(&inbox);
}

static void a_fetched_blob_arrives_whole(void **state)
{
    (void)state;
    size_t size = 2 * BLOB_CHUNK + 77;
    SCOPED(scoped_free) char *data = pattern(size);
    hash name = hash_of(data, size);
    SCOPED(blob_in_destroy) blob_in *in = blob_in_create(&name);
    for (int rc = 0, rounds = 0; rc == 0; rounds++) {
        assert_true(rounds < 4);
        SCOPED(message_fini) message get, answer;
        message_init(&get, MSG_BLOB_GET);
        get.seq = 5;
        get.body.blob_get.blob = name;
        get.body.blob_get.offset = blob_in_next(in);
        message_init(&answer, MSG_BLOB_DATA);
        blob_answer(&answer, &get, data, size);
        const struct msg_blob_data *chunk = &answer.body.blob_data;
        assert_true(chunk->found && chunk->ref == 5);
        rc = blob_in_add(in, chunk->offset, chunk->total, &chunk->data, NULL);
        assert_true(rc >= 0);
    }
    message_bytes done = blob_in_take(in);
    assert_int_equal(done.size, size);
    assert_memory_equal(done.data, data, size);
    free(done.data);
}

static void an_absent_blob_is_answered_as_absent(void **state)
{
    (void)state;
    SCOPED(message_fini) message get, answer;
    message_init(&get, MSG_BLOB_GET);
    message_init(&answer, MSG_BLOB_DATA);
    blob_answer(&answer, &get, NULL, 0);
    assert_false(answer.body.blob_data.found);
}

static void an_offset_outside_gives_an_empty_chunk(void **state)
{
    (void)state;
    static const int64_t offsets[] = {3, 4, INT64_MAX, -1, INT64_MIN};
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        SCOPED(message_fini) message get, answer;
        message_init(&get, MSG_BLOB_GET);
        message_init(&answer, MSG_BLOB_DATA);
        get.body.blob_get.offset = offsets[i];
        blob_answer(&answer, &get, "abc", 3);
        assert_int_equal(answer.body.blob_data.data.size, 0);
    }
}

static void what_does_not_have_the_hash_is_refused(void **state)
{
    (void)state;
    hash name = hash_of("abcdef", 6);
    SCOPED(blob_in_destroy) blob_in *in = blob_in_create(&name);
    uint8_t bytes[] = "abcdeX";
    err e = {0};
    assert_int_equal(blob_in_add(in, 0, 6, &(message_bytes){bytes, 3}, &e), 0);
    assert_int_equal(blob_in_add(in, 3, 6, &(message_bytes){bytes + 3, 3}, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_non_null(strstr(e.text, "hash"));
}

static void a_chunk_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        int64_t offset, total;
        size_t size;
        err_code code;
    } rows[] = {
        {0, 6, 1, ERR_PROTOCOL}, /* again from the start */
        {4, 6, 1, ERR_PROTOCOL}, /* a hole */
        {3, 6, 4, ERR_PROTOCOL}, /* past the end */
        {3, 6, 0, ERR_PROTOCOL}, /* no progress */
        {3, 7, 3, ERR_PROTOCOL}, /* another size */
        {3, -1, 3, ERR_LIMIT},           {3, (int64_t)BLOB_MAX + 1, 3, ERR_LIMIT},
        {INT64_MAX, 6, 3, ERR_PROTOCOL}, {-3, 6, 3, ERR_PROTOCOL},
    };
    uint8_t bytes[8] = "abcdefg";
    hash name = hash_of("abcdef", 6);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED(blob_in_destroy) blob_in *in = blob_in_create(&name);
        assert_int_equal(blob_in_add(in, 0, 6, &(message_bytes){bytes, 3}, NULL), 0);
        err e = {0};
        message_bytes chunk = {bytes + 3, rows[i].size};
        assert_int_equal(blob_in_add(in, rows[i].offset, rows[i].total, &chunk, &e), -1);
        assert_int_equal(e.code, rows[i].code);
        assert_int_equal(blob_in_next(in), 3);
    }
}

/* ---- inbox ---- */

static struct msg_blob_put put_of(const char *text, int64_t offset, size_t size)
{
    return (struct msg_blob_put){.blob = hash_of_text(text),
                                 .offset = offset,
                                 .total = (int64_t)strlen(text),
                                 .data = {(uint8_t *)xmemdup(text + offset, size), size}};
}

static int put(blob_inbox *inbox, const char *owner, const char *text, int64_t offset, size_t size,
               err *e)
{
    struct msg_blob_put chunk = put_of(text, offset, size);
    message_bytes done = {0};
    int rc = blob_inbox_put(inbox, owner, &chunk, &done, e);
    if (rc == 1)
        assert_memory_equal(done.data, text, strlen(text));
    free(done.data);
    free(chunk.data.data);
    return rc;
}

static void two_owners_may_send_the_same_blob_at_once(void **state)
{
    (void)state;
    blob_inbox *inbox = blob_inbox_create(ROOM);
    assert_int_equal(put(inbox, "a", "abcdef", 0, 3, NULL), 0);
    assert_int_equal(put(inbox, "b", "abcdef", 0, 2, NULL), 0);
    assert_int_equal(put(inbox, "a", "abcdef", 3, 3, NULL), 1);
    assert_int_equal(put(inbox, "b", "abcdef", 2, 4, NULL), 1);
    blob_inbox_destroy(&inbox);
}

static void offset_zero_starts_over(void **state)
{
    (void)state;
    blob_inbox *inbox = blob_inbox_create(6);
    for (int i = 0; i < 3; i++)
        assert_int_equal(put(inbox, "a", "abcdef", 0, 3, NULL), 0);
    assert_int_equal(put(inbox, "a", "abcdef", 3, 3, NULL), 1);
    blob_inbox_destroy(&inbox);
}

static void a_blob_must_be_begun(void **state)
{
    (void)state;
    err e = {0};
    blob_inbox *inbox = blob_inbox_create(ROOM);
    assert_int_equal(put(inbox, "a", "abcdef", 3, 3, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_int_equal(put(inbox, "a", "abcdef", 0, 3, NULL), 0);
    assert_int_equal(put(inbox, "a", "abcdef", 4, 2, &e), -1); /* dropped by this fault */
    assert_int_equal(put(inbox, "a", "abcdef", 3, 3, &e), -1);
    blob_inbox_destroy(&inbox);
}

static void an_inbox_is_bounded_and_forgets_who_left(void **state)
{
    (void)state;
    err e = {0};
    blob_inbox *inbox = blob_inbox_create(ROOM);
    for (int i = 0; i < BLOB_INBOX_MAX; i++) {
        SCOPED(scoped_free) char *text = xasprintf("blob %d", i);
        assert_int_equal(put(inbox, i % 2 == 0 ? "a" : "b", text, 0, 1, NULL), 0);
    }
    assert_int_equal(put(inbox, "c", "more", 0, 1, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
    blob_inbox_forget(inbox, "a");
    assert_int_equal(put(inbox, "c", "more", 0, 1, NULL), 0);
    assert_int_equal(put(inbox, "b", "blob 1", 1, 5, NULL), 1);
    blob_inbox_destroy(&inbox);
    inbox = blob_inbox_create(5);
    assert_int_equal(put(inbox, "c", "sixsix", 0, 1, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
    assert_int_equal(put(inbox, "c", "five!", 0, 5, NULL), 1);
    blob_inbox_destroy(&inbox);
}

/* ---- store ---- */

static int make_folder(void **state)
{
    char name[] = "/tmp/ce-test-XXXXXX";
    if (mkdtemp(name) == NULL)
        return -1;
    *state = xstrdup(name);
    return 0;
}

static int remove_folder(void **state)
{
    file_remove_tree(*state, NULL);
    free(*state);
    return 0;
}

static void expect_blob(blob_store *s, const hash *name, const char *data, size_t size)
{
    SCOPED(buf_fini) buf out;
    buf_init(&out, BLOB_MAX);
    buf_puts(&out, ">");
    err e = {0};
    if (blob_store_get(s, name, &out, &e) < 0)
        fail_msg("%s", e.text);
    assert_int_equal(out.size, size + 1);
    assert_memory_equal(out.data + 1, data, size);
    assert_true(blob_store_has(s, name));
}

static void expect_none(blob_store *s, const hash *name)
{
    SCOPED(buf_fini) buf out;
    buf_init(&out, BLOB_MAX);
    err e = {0};
    assert_int_equal(blob_store_get(s, name, &out, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_int_equal(out.size, 0);
    assert_false(blob_store_has(s, name));
}

static void memory_alone_keeps_until_it_is_full(void **state)
{
    (void)state;
    SCOPED(blob_store_destroy) blob_store *s = blob_store_create(NULL, 10, NULL);
    hash a, b, empty;
    err e = {0};
    assert_int_equal(blob_store_put(s, "12345", 5, &a, NULL), 0);
    assert_int_equal(blob_store_put(s, "12345", 5, NULL, NULL), 0); /* no second copy */
    assert_int_equal(blob_store_put(s, "abcde", 5, &b, NULL), 0);
    assert_int_equal(blob_store_put(s, "", 0, &empty, NULL), 0);
    assert_int_equal(blob_store_put(s, "x", 1, NULL, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
    expect_blob(s, &a, "12345", 5);
    expect_blob(s, &b, "abcde", 5);
    expect_blob(s, &empty, "", 0);
    hash none = hash_of("none", 4);
    expect_none(s, &none);
}

static void a_folder_outlives_memory_and_process(void **state)
{
    SCOPED(scoped_free) char *folder = file_join(*state, "deep/cache");
    blob_store *s = blob_store_create(folder, 100, NULL);
    assert_non_null(s);
    hash names[50];
    char text[32];
    for (int i = 0; i < 50; i++) {
        int n = snprintf(text, sizeof(text), "a blob with number %d", i);
        assert_int_equal(blob_store_put(s, text, (size_t)n, &names[i], NULL), 0);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 50; i++) {
            int n = snprintf(text, sizeof(text), "a blob with number %d", i);
            expect_blob(s, &names[i], text, (size_t)n);
        }
        blob_store_destroy(&s);
        s = blob_store_create(folder, 100, NULL);
    }
    blob_store_destroy(&s);
}

static void a_blob_bigger_than_memory_lives_in_the_folder(void **state)
{
    SCOPED(blob_store_destroy) blob_store *s = blob_store_create(*state, 4, NULL);
    hash name;
    assert_int_equal(blob_store_put(s, "bigger", 6, &name, NULL), 0);
    expect_blob(s, &name, "bigger", 6);
}

static void a_damaged_file_is_not_served(void **state)
{
    static const char *const damages[] = {"", "half", "the whole blob!"};
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        SCOPED(blob_store_destroy) blob_store *s = blob_store_create(*state, 0, NULL);
        hash name;
        char hex[HASH_HEX];
        assert_int_equal(blob_store_put(s, "the whole blob.", 15, &name, NULL), 0);
        hash_hex(&name, hex);
        SCOPED(scoped_free)
        char *path = xasprintf("%s/%.2s/%s", (const char *)*state, hex, hex + 2);
        assert_true(file_exists(path));
        assert_int_equal(file_write(path, damages[i], strlen(damages[i]), NULL), 0);
        expect_none(s, &name);
        assert_int_equal(blob_store_put(s, "the whole blob.", 15, &name, NULL), 0);
        expect_blob(s, &name, "the whole blob.", 15);
    }
}

static void a_blob_that_is_too_big_is_refused(void **state)
{
    (void)state;
    SCOPED(blob_store_destroy) blob_store *s = blob_store_create(NULL, BLOB_MAX, NULL);
    SCOPED(scoped_free) char *data = xcalloc((size_t)BLOB_MAX + 1, 1);
    err e = {0};
    assert_int_equal(blob_store_put(s, data, (size_t)BLOB_MAX + 1, NULL, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
    SCOPED(buf_fini) buf tiny;
    buf_init(&tiny, 2);
    hash name;
    assert_int_equal(blob_store_put(s, "abc", 3, &name, NULL), 0);
    assert_int_equal(blob_store_get(s, &name, &tiny, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
}

static void a_folder_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    err e = {0};
    assert_null(blob_store_create("/dev/null/cache", 10, &e));
    assert_true(e.code != ERR_NONE);
}

/* Each thread puts and gets the same few blobs, with memory for two of them. */
static void *put_and_get(void *arg)
{
    blob_store *s = arg;
    char text[32];
    for (int i = 0; i < ROUNDS; i++) {
        hash name;
        int n = snprintf(text, sizeof(text), "shared blob %d", i % 7);
        SCOPED(buf_fini) buf out;
        buf_init(&out, 100);
        if (blob_store_put(s, text, (size_t)n, &name, NULL) < 0 ||
            blob_store_get(s, &name, &out, NULL) < 0 || strcmp(buf_text(&out), text) != 0)
            return NULL;
    }
    return s;
}

static void threads_share_a_store(void **state)
{
    SCOPED(blob_store_destroy) blob_store *s = blob_store_create(*state, 30, NULL);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_and_get, s), 0);
    for (int i = 0; i < THREADS; i++) {
        void *ok;
        pthread_join(threads[i], &ok);
        assert_non_null(ok);
    }
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blob_of_any_size_arrives_whole),
        cmocka_unit_test(a_fetched_blob_arrives_whole),
        cmocka_unit_test(an_absent_blob_is_answered_as_absent),
        cmocka_unit_test(an_offset_outside_gives_an_empty_chunk),
        cmocka_unit_test(what_does_not_have_the_hash_is_refused),
        cmocka_unit_test(a_chunk_that_does_not_fit_is_refused),
        cmocka_unit_test(two_owners_may_send_the_same_blob_at_once),
        cmocka_unit_test(offset_zero_starts_over),
        cmocka_unit_test(a_blob_must_be_begun),
        cmocka_unit_test(an_inbox_is_bounded_and_forgets_who_left),
        cmocka_unit_test(memory_alone_keeps_until_it_is_full),
        IN_FOLDER(a_folder_outlives_memory_and_process),
        IN_FOLDER(a_blob_bigger_than_memory_lives_in_the_folder),
        IN_FOLDER(a_damaged_file_is_not_served),
        cmocka_unit_test(a_blob_that_is_too_big_is_refused),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_an_error),
        IN_FOLDER(threads_share_a_store),
    };
    return cmocka_run_group_tests_name("blob", tests, NULL, NULL);
}
