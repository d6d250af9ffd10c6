/* test_spool - what is not acknowledged outlives its process, as far as it was written
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent-node/spool.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

typedef struct fixture {
    char folder[32];
    char *path;
    spool *spool;
} fixture;

static int set_up(void **state)
{
    fixture *f = xcalloc(1, sizeof(*f));
    snprintf(f->folder, sizeof(f->folder), "/tmp/ce-spool-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->path = xasprintf("%s/t1.9", f->folder);
    f->spool = spool_create(f->folder, "t1", 9);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    spool_destroy(&f->spool);
    file_remove_tree(f->folder, NULL);
    free(f->path);
    free(f);
    return 0;
}

static void add(fixture *f, message_type type, const char *text)
{
    err e = {0};
    SCOPED(message_fini) message m;
    message_init(&m, type);
    if (type == MSG_CALL) {
        message_set_str(&m.body.call.record, text);
    } else {
        message_set_bytes(&m.body.blob_put.data, text, strlen(text));
    }
    if (type == MSG_CALL) {
        m.body.call.token = 9;
    }
    assert_int_equal(spool_add(f->spool, &m, &e), 0);
}

static size_t read_back(const fixture *f, spool_rest *out)
{
    err e = {0};
    if (spool_read(f->path, out, &e) != 0) {
        fail_msg("%s", e.text);
    }
    return out->count;
}

static void a_record_without_answer_is_read_back_with_its_blobs(void **state)
{
    fixture *f = *state;
    spool_rest rest SCOPED(spool_rest_fini) = {.count = 0};
    add(f, MSG_BLOB_PUT, "an answer");
    add(f, MSG_CALL, "{}");
    spool_destroy(&f->spool);
    assert_int_equal(read_back(f, &rest), 2);
    assert_string_equal(rest.task, "t1");
    assert_int_equal(rest.token, 9);
    assert_int_equal(rest.messages[0].type, MSG_BLOB_PUT);
    assert_memory_equal(rest.messages[0].body.blob_put.data.data, "an answer", 9);
    assert_string_equal(rest.messages[1].body.call.record, "{}");
    struct stat facts;
    assert_int_equal(stat(f->path, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600); /* it holds what a model said */
}

static void what_is_answered_goes(void **state)
{
    fixture *f = *state;
    spool_rest rest SCOPED(spool_rest_fini) = {.count = 0};
    add(f, MSG_CALL, "{}");
    spool_answered(f->spool);
    assert_int_equal(read_back(f, &rest), 0);
    add(f, MSG_BLOB_PUT, "of a record that never came");
    spool_destroy(&f->spool);
    assert_false(file_exists(f->path));
}

/* A kill in the middle of a write, at every byte of it. */
static void a_torn_end_is_left_out_and_the_rest_is_read(void **state)
{
    fixture *f = *state;
    SCOPED(buf_fini) buf whole;
    buf_init(&whole, 1024 * 1024);
    add(f, MSG_CALL, "{}");
    assert_int_equal(file_read(f->path, &whole, NULL), 0);
    size_t first = whole.size;
    add(f, MSG_CALL, "{\"second\": 1}");
    buf_clear(&whole);
    assert_int_equal(file_read(f->path, &whole, NULL), 0);
    spool_destroy(&f->spool);
    for (size_t cut = 0; cut < whole.size; cut++) {
        spool_rest rest SCOPED(spool_rest_fini) = {.count = 0};
        assert_int_equal(truncate(f->path, 0), 0);
        assert_int_equal(file_write(f->path, whole.data, cut, NULL), 0);
        assert_int_equal(read_back(f, &rest), cut >= first ? 1 : 0);
    }
}

static void other_files_are_none_of_ours(void **state)
{
    static const char *const names[] = {
        "t1", ".9", "t1.", "t1.x", "t1.-4", "t1.0", "123456789012345678901234567890123.1"};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        spool_rest rest = {.count = 0};
        err e = {0};
        SCOPED(scoped_free) char *path = file_join(f->folder, names[i]);
        assert_int_equal(file_write(path, "", 0, &e), 0);
        assert_int_equal(spool_read(path, &rest, &e), -1);
        assert_int_equal(e.code, ERR_PROTOCOL);
    }
}

static void a_folder_that_is_gone_is_an_error_not_a_crash(void **state)
{
    fixture *f = *state;
    err e = {0};
    SCOPED(message_fini) message m;
    message_init(&m, MSG_CALL);
    m.body.call.token = 9;
    assert_int_equal(file_remove_tree(f->folder, NULL), 0);
    assert_int_equal(spool_add(f->spool, &m, &e), -1);
    assert_non_null(strstr(e.text, f->path));
}

#define SPOOL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPOOL_TEST(a_record_without_answer_is_read_back_with_its_blobs),
        SPOOL_TEST(what_is_answered_goes),
        SPOOL_TEST(a_torn_end_is_left_out_and_the_rest_is_read),
        SPOOL_TEST(other_files_are_none_of_ours),
        SPOOL_TEST(a_folder_that_is_gone_is_an_error_not_a_crash),
    };
    return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
