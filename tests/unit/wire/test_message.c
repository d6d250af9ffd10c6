/* test_message - the codec: every message, every bound, every way to be wrong
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/pack.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/unit/wire/random_message.h"
#include "wire/frame.h"

enum { SMALL = 40, CORPUS = 3, ROUNDS = 50 };

static void encode_or_fail(const message *m, buf *out)
{
    err e = {0};
    buf_init(out, MESSAGE_SIZE_MAX);
    if (message_encode(m, out, &e) < 0)
        fail_msg("%s: %s", message_name(m->type), e.text);
}

/* refused decodes, wants ERR_PROTOCOL, and checks that the output was left alone. */
static void refused(const void *data, size_t size, const char *says)
{
    err e = {0};
    message out = {.seq = 42};
    if (message_decode(data, size, &out, &e) == 0)
        fail_msg("decoded a message that lacks sense; expected: %s", says);
    assert_int_equal(e.code, ERR_PROTOCOL);
    if (strstr(e.text, says) == NULL)
        fail_msg("said \"%s\", expected \"%s\"", e.text, says);
    assert_true(out.seq == 42 && out.type == 0);
}

/* ---- round trips ---- */

static void every_message_survives_the_trip(void **state)
{
    (void)state;
    uint64_t random = 20261130;
    const schema *s;
    for (size_t i = 0; (s = schema_at(i)) != NULL; i++) {
        for (int round = 0; round < ROUNDS; round++) {
            SCOPED(message_fini) message in, out = {0};
            SCOPED(buf_fini) buf bytes, again;
            random_message(s, &random, SMALL, &in);
            encode_or_fail(&in, &bytes);
            err e = {0};
            if (message_decode(bytes.data, bytes.size, &out, &e) < 0)
                fail_msg("%s", e.text);
            assert_true(same_message(&in, &out));
            encode_or_fail(&out, &again);
            assert_int_equal(bytes.size, again.size);
            assert_memory_equal(bytes.data, again.data, bytes.size);
        }
    }
}

static void an_empty_message_arrives_with_empty_strings(void **state)
{
    (void)state;
    SCOPED(message_fini) message in, out = {0};
    SCOPED(buf_fini) buf bytes;
    message_init(&in, MSG_COMPILED);
    encode_or_fail(&in, &bytes);
    assert_int_equal(message_decode(bytes.data, bytes.size, &out, NULL), 0);
    assert_string_equal(out.body.compiled.log, "");
    assert_int_equal(out.body.compiled.cubin.size, 0);
    assert_true(hash_is_zero(&out.body.compiled.code));
    assert_int_equal(out.body.compiled.kernels_count, 0);
}

static void a_nan_stays_a_nan(void **state)
{
    (void)state;
    SCOPED(message_fini) message in, out = {0};
    SCOPED(buf_fini) buf bytes;
    message_init(&in, MSG_RUNNER_TIMED);
    in.body.runner_timed.event_floor_ms = (double)NAN;
    encode_or_fail(&in, &bytes);
    assert_int_equal(message_decode(bytes.data, bytes.size, &out, NULL), 0);
    assert_true(isnan(out.body.runner_timed.event_floor_ms));
}

static void keys_may_come_in_any_order(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out;
    buf_init(&out, 1000);
    frame head = {.version = MESSAGE_PROTOCOL, .number = MSG_ACK, .seq = 9};
    frame_write(&head, &out);
    pack_map(&out, 3);
    pack_str(&out, "text", 4);
    pack_str(&out, "why", 3);
    pack_str(&out, "code", 4);
    pack_i64(&out, 5);
    pack_str(&out, "ref", 3);
    pack_i64(&out, 8);
    SCOPED(message_fini) message m = {0};
    assert_int_equal(message_decode(out.data, out.size, &m, NULL), 0);
    assert_int_equal(m.seq, 9);
    assert_int_equal(m.body.ack.ref, 8);
    assert_int_equal(m.body.ack.code, 5);
    assert_string_equal(m.body.ack.text, "why");
}

/* ---- bounds ---- */

static char *text_of(size_t size)
{
    char *text = xmalloc(size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    return text;
}

/* break_bound puts a value beyond the field's bound into the message; false when it has none. */
static bool break_bound(const schema_field *f, void *base, bool low)
{
    void *at = (char *)base + f->offset;
    size_t over = (size_t)f->max + 1;
    if (f->type == SCHEMA_I64 && (low ? f->min == INT64_MIN : f->max == INT64_MAX))
        return false;
    if (f->type != SCHEMA_I64 && low)
        return false;
    switch (f->type) {
    case SCHEMA_I64:
        *(int64_t *)at = low ? f->min - 1 : f->max + 1;
        return true;
    case SCHEMA_STR:
        free(*(char **)at);
        *(char **)at = text_of(over);
        return true;
    case SCHEMA_BYTES:
        free(((message_bytes *)at)->data);
        *(message_bytes *)at = (message_bytes){xcalloc(over, 1), over};
        return true;
    case SCHEMA_F64:
    case SCHEMA_BOOL:
    case SCHEMA_HASH:
    case SCHEMA_LIST: /* a_list_is_bounded */
        return false;
    }
    return false;
}

static void expect_refused(const message *m, const char *name, const char *key)
{
    err e = {0};
    SCOPED(buf_fini) buf out;
    buf_init(&out, MESSAGE_SIZE_MAX);
    if (message_encode(m, &out, &e) == 0)
        fail_msg("%s.%s: the bound does not hold", name, key);
    assert_int_equal(e.code, ERR_PROTOCOL);
    assert_non_null(strstr(e.text, name));
    assert_non_null(strstr(e.text, key));
}

static void the_sender_enforces_every_bound(void **state)
{
    (void)state;
    uint64_t random = 7;
    const schema *s;
    size_t broken = 0;
    for (size_t i = 0; (s = schema_at(i)) != NULL; i++) {
        for (size_t j = 0; j < s->field_count * 2; j++) {
            SCOPED(message_fini) message m;
            random_message(s, &random, 4, &m);
            const schema_field *f = &s->fields[j / 2];
            if (!break_bound(f, &m.body, j % 2 == 0))
                continue;
            expect_refused(&m, s->name, f->name);
            broken++;
        }
    }
    assert_true(broken > 100);
}

static void rows_are_bounded_too(void **state)
{
    (void)state;
    SCOPED(message_fini) message m;
    message_init(&m, MSG_HELLO);
    m.body.hello.slots = 1;
    m.body.hello.devices = xcalloc(2, sizeof(struct row_device));
    m.body.hello.devices_count = 2;
    m.body.hello.devices[1].memory_bytes = -1;
    expect_refused(&m, "hello: devices[1]: memory_bytes", "-1");
}

static void a_list_is_bounded(void **state)
{
    (void)state;
    SCOPED(message_fini) message m;
    message_init(&m, MSG_HELLO);
    m.body.hello.slots = 1;
    m.body.hello.devices = xcalloc(65, sizeof(struct row_device));
    m.body.hello.devices_count = 65;
    expect_refused(&m, "hello", "devices: 65 rows, the maximum is 64");
    m.body.hello.devices_count = 64;
    SCOPED(buf_fini) buf out;
    encode_or_fail(&m, &out);
}

/* What a receiver must refuse is packed by hand: our own sender would not send it. */
typedef enum fault {
    NO_FAULT,
    MISSING,
    DOUBLED,
    UNKNOWN,
    WRONG_TYPE,
    TOO_BIG,
    TOO_LONG,
    BAD_UTF8,
    NUL_INSIDE,
    TRAILING,
    NOT_A_MAP
} fault;

static void pack_cancel_like(buf *out, fault what)
{
    static const char sixty[] = "0123456789012345678901234567890123456789";
    frame head = {.version = MESSAGE_PROTOCOL, .number = MSG_PROGRESS, .seq = 1};
    frame_write(&head, out);
    if (what == NOT_A_MAP) {
        pack_array(out, 0);
        return;
    }
    pack_map(out, what == MISSING ? 2 : what == UNKNOWN || what == DOUBLED ? 4 : 3);
    pack_str(out, "task", 4);
    if (what == WRONG_TYPE)
        pack_i64(out, 5);
    else if (what == TOO_LONG)
        pack_str(out, sixty, 33);
    else if (what == BAD_UTF8)
        pack_str(out, "ab\xff", 3);
    else if (what == NUL_INSIDE)
        pack_str(out, "a\0b", 3);
    else
        pack_str(out, sixty, 32);
    pack_str(out, "token", 5);
    pack_i64(out, what == TOO_BIG ? 0 : 1);
    if (what == DOUBLED) {
        pack_str(out, "token", 5);
        pack_i64(out, 2);
    }
    if (what == UNKNOWN) {
        pack_str(out, "priority", 8);
        pack_i64(out, 2);
    }
    if (what != MISSING) {
        pack_str(out, "stage", 5);
        pack_str(out, "codegen", 7);
    }
    if (what == TRAILING)
        pack_bool(out, true);
}

static void the_receiver_refuses_every_fault(void **state)
{
    (void)state;
    static const struct {
        fault what;
        const char *says;
    } rows[] = {
        {MISSING, "progress: stage: the key is missing"},
        {DOUBLED, "progress: token: the key comes twice"},
        {UNKNOWN, "progress: unknown key \"priority\""},
        {WRONG_TYPE, "progress: task: "},
        {TOO_BIG, "progress: token: 0 is not in 1.."},
        {TOO_LONG, "progress: task: 33 bytes, the maximum is 32"},
        {BAD_UTF8, "progress: task: "},
        {NUL_INSIDE, "NUL byte"},
        {TRAILING, "progress: 1 bytes follow the message"},
        {NOT_A_MAP, "progress: "},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED(buf_fini) buf out;
        buf_init(&out, 1000);
        pack_cancel_like(&out, rows[i].what);
        refused(out.data, out.size, rows[i].says);
    }
    SCOPED(buf_fini) buf out;
    SCOPED(message_fini) message m = {0};
    buf_init(&out, 1000);
    pack_cancel_like(&out, NO_FAULT);
    assert_int_equal(message_decode(out.data, out.size, &m, NULL), 0);
}

static void a_huge_list_costs_no_memory(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out;
    buf_init(&out, 1000);
    frame head = {.version = MESSAGE_PROTOCOL, .number = MSG_LEASE, .seq = 1};
    frame_write(&head, &out);
    pack_map(&out, 6);
    pack_str(&out, "calls", 5);
    buf_add(&out, "\xdd\xff\xff\xff\xff", 5); /* a list of 2^32-1 rows */
    buf_add(&out, "0123456789abcdef", 16);
    refused(out.data, out.size, "lease: calls: ");
}

static void a_hash_has_32_bytes(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out;
    buf_init(&out, 1000);
    frame head = {.version = MESSAGE_PROTOCOL, .number = MSG_BLOB_GET, .seq = 1};
    frame_write(&head, &out);
    pack_map(&out, 2);
    pack_str(&out, "blob", 4);
    pack_bytes(&out, "0123456789012345678901234567890", 31);
    refused(out.data, out.size, "blob_get: blob: a hash has 32 bytes, not 31");
}

/* ---- truncation, versions, numbers ---- */

static void every_truncation_is_refused(void **state)
{
    (void)state;
    uint64_t random = 99;
    const schema *s;
    for (size_t i = 0; (s = schema_at(i)) != NULL; i++) {
        SCOPED(message_fini) message m;
        SCOPED(buf_fini) buf bytes;
        random_message(s, &random, 12, &m);
        encode_or_fail(&m, &bytes);
        for (size_t size = 0; size < bytes.size; size++) {
            SCOPED(scoped_free) char *exact = size > 0 ? xmemdup(bytes.data, size) : NULL;
            refused(exact, size, "");
        }
    }
}

static void unknown_and_retired_numbers_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint16_t number;
        const char *says;
    } rows[] = {
        {39, "unknown message number 39"},
        {65535, "unknown message number 65535"},
        {0, "message number 0 is retired: never used"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED(buf_fini) buf out;
        buf_init(&out, 100);
        frame head = {.version = MESSAGE_PROTOCOL, .number = rows[i].number};
        frame_write(&head, &out);
        pack_map(&out, 0);
        refused(out.data, out.size, rows[i].says);
    }
}

static void another_protocol_names_both_versions(void **state)
{
    (void)state;
    SCOPED(message_fini) message m;
    SCOPED(buf_fini) buf out;
    message_init(&m, MSG_PULL);
    encode_or_fail(&m, &out);
    out.data[2] = 9;
    SCOPED(scoped_free) char *says = xasprintf("protocol 9 and this program %d", MESSAGE_PROTOCOL);
    refused(out.data, out.size, says);
}

static void a_number_that_is_no_message_is_not_sent(void **state)
{
    (void)state;
    err e = {0};
    message m = {.type = (message_type)39};
    SCOPED(buf_fini) buf out;
    buf_init(&out, 100);
    assert_int_equal(message_encode(&m, &out, &e), -1);
    assert_int_equal(e.code, ERR_INTERNAL);
}

static void a_full_buffer_is_a_limit(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(message_fini) message m;
    SCOPED(buf_fini) buf out;
    message_init(&m, MSG_BYE);
    buf_init(&out, 16);
    assert_int_equal(message_encode(&m, &out, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
}

/* ---- setters ---- */

static void a_set_text_is_always_sendable(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t max;
        const char *wanted;
    } rows[] = {
        {NULL, 9, ""},
        {"", 9, ""},
        {"abc", 9, "abc"},
        {"abc", 2, "ab"},
        {"a\xff"
         "b",
         9, "a?b"},
        {"a€b", 9, "a€b"},
        {"a€b", 3, "a"},
        {"a€b", 4, "a€"},
        {"€", 2, ""},
        {"ab\xe2\x82", 9, "ab??"},
        {"\xc0\x80", 9, "??"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SCOPED(message_fini) message m;
        SCOPED(buf_fini) buf out;
        message_init(&m, MSG_BYE);
        message_set_str(&m.body.bye.text, "before");
        message_cut_str(&m.body.bye.text, rows[i].text, rows[i].max);
        assert_string_equal(m.body.bye.text, rows[i].wanted);
        encode_or_fail(&m, &out);
    }
}

static void a_message_owns_and_frees_what_was_set(void **state)
{
    (void)state;
    message m;
    message_init(&m, MSG_RUNNER_LOAD);
    message_set_bytes(&m.body.runner_load.cubin, "abc", 3);
    message_set_bytes(&m.body.runner_load.cubin, "de", 2);
    assert_int_equal(m.body.runner_load.cubin.size, 2);
    message_set_bytes(&m.body.runner_load.cubin, NULL, 0);
    assert_null(m.body.runner_load.cubin.data);
    m.body.runner_load.plan = xstrdup("{}");
    message_fini(&m);
    assert_null(m.body.runner_load.plan);
    message_fini(&m);
}

/* ---- what the fuzzer begins with ---- */

/* A message that the corpus lacks, or whose fields have changed since, is not fuzzed behind its first byte.
 * CE_UPDATE_CORPUS=1 in the environment writes it anew. */
static void the_fuzz_corpus_has_every_message(void **state)
{
    (void)state;
    uint64_t random = 20261201;
    const schema *s;
    for (size_t i = 0; (s = schema_at(i)) != NULL; i++) {
        SCOPED(scoped_free)
        char *path = xasprintf("%s/tests/fuzz/corpus/message/%s", CE_SOURCE_DIR, s->name);
        SCOPED(message_fini) message fresh, kept = {0};
        SCOPED(buf_fini) buf bytes, file;
        err e = {0};
        random_message(s, &random, CORPUS, &fresh);
        encode_or_fail(&fresh, &bytes);
        buf_init(&file, MESSAGE_SIZE_MAX);
        bool whole = file_read(path, &file, &e) == 0 && file.size >= FRAME_HEAD;
        if (whole)
            file.data[2] = MESSAGE_PROTOCOL; /* as the target does */
        if (whole && message_decode(file.data, file.size, &kept, &e) == 0)
            continue;
        if (getenv("CE_UPDATE_CORPUS") == NULL)
            fail_msg("%s: %s: run this test with CE_UPDATE_CORPUS=1", path, e.text);
        assert_int_equal(file_write(path, bytes.data, bytes.size, &e), 0);
    }
}

/* ---- documentation ---- */

static void the_documentation_has_every_message_and_row(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    message_doc(out);
    assert_int_equal(fclose(out), 0);
    const schema *s;
    for (size_t i = 0; (s = schema_at(i)) != NULL; i++) {
        SCOPED(scoped_free) char *title = xasprintf("\n### %u `%s`\n", s->number, s->name);
        assert_non_null(strstr(text, title));
    }
    for (size_t i = 0; (s = schema_row_at(i)) != NULL; i++)
        assert_non_null(strstr(text, s->doc));
    assert_non_null(strstr(text, "\n| `token` | i64, from 1 | "));
    free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_survives_the_trip),
        cmocka_unit_test(an_empty_message_arrives_with_empty_strings),
        cmocka_unit_test(a_nan_stays_a_nan),
        cmocka_unit_test(keys_may_come_in_any_order),
        cmocka_unit_test(the_sender_enforces_every_bound),
        cmocka_unit_test(rows_are_bounded_too),
        cmocka_unit_test(a_list_is_bounded),
        cmocka_unit_test(the_receiver_refuses_every_fault),
        cmocka_unit_test(a_huge_list_costs_no_memory),
        cmocka_unit_test(a_hash_has_32_bytes),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(unknown_and_retired_numbers_are_refused),
        cmocka_unit_test(another_protocol_names_both_versions),
        cmocka_unit_test(a_number_that_is_no_message_is_not_sent),
        cmocka_unit_test(a_full_buffer_is_a_limit),
        cmocka_unit_test(a_set_text_is_always_sendable),
        cmocka_unit_test(a_message_owns_and_frees_what_was_set),
        cmocka_unit_test(the_fuzz_corpus_has_every_message),
        cmocka_unit_test(the_documentation_has_every_message_and_row),
    };
    return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
