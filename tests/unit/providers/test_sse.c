/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <string.h>

#include "common/scoped.h"
#include "providers/sse.h"

/* Writes what comes as "name|data;" */
static int write_event(void *arg, const char *name, const char *data, size_t size, err *e)
{
    (void)e;
    assert_int_equal(strlen(data), size);
    return buf_printf(arg, "%s|%s;", name, data);
}

static int refuse_event(void *arg, const char *name, const char *data, size_t size, err *e)
{
    (void)arg;
    (void)name;
    (void)size;
    return err_set(e, ERR_PROTOCOL, "no %s", data);
}

static const struct {
    const char *bytes, *events;
} streams[] = {
    {"data: a\n\n", "|a;"},
    {"data:a\n\ndata:  b\n\n", "|a;| b;"},
    {"event: x\r\ndata: {\"k\":1}\r\n\r\nevent: y\r\ndata: 2\r\n\r\n", "x|{\"k\":1};y|2;"},
    {"event: x\rdata: 1\r\rdata: 2\r\r", "x|1;|2;"},
    {"data: a\ndata: b\ndata\n\n", "|a\nb\n;"},
    {": comment\n\n: OPENROUTER PROCESSING\n\ndata: a\n\n", "|a;"},
    {"id: 7\nretry: 10\nfuture: yes\ndata: a\n\n", "|a;"},
    {"event: nameless\n\ndata: a\n\n", "|a;"},
    {"\xEF\xBB\xBF"
     "data: a\n\n",
     "|a;"},
    {"data\n\n", "|;"},
    {"data: [DONE]\n\n", "|[DONE];"},
    {"data: whole\n\ndata: cut off", "|whole;"},
    {"data: whole\n\ndata: cut off\n", "|whole;"},
    {"datas: a\n\n data: b\n\n", ""},
    {"data: a\n\n\n\n\ndata: b\n\n", "|a;|b;"},
};

static void every_stream_reads_the_same_however_it_is_sliced(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        size_t length = strlen(streams[i].bytes);
        for (size_t slice = 1; slice <= length; slice++) {
            SCOPED(buf_fini) buf seen;
            SCOPED(sse_fini) sse parser;
            err e = {0};
            buf_init(&seen, 4096);
            sse_init(&parser, 1024, write_event, &seen);
            for (size_t at = 0; at < length; at += slice) {
                size_t size = length - at < slice ? length - at : slice;
                assert_int_equal(sse_feed(&parser, streams[i].bytes + at, size, &e), 0);
            }
            assert_string_equal(buf_text(&seen), streams[i].events);
        }
    }
}

static void a_name_past_its_limit_is_cut(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf seen;
    SCOPED(sse_fini) sse parser;
    char text[SSE_NAME_MAX * 2];
    err e = {0};
    buf_init(&seen, 4096);
    sse_init(&parser, 1024, write_event, &seen);
    memset(text, 'n', sizeof(text));
    assert_int_equal(sse_feed(&parser, "event: ", 7, &e), 0);
    assert_int_equal(sse_feed(&parser, text, sizeof(text), &e), 0);
    assert_int_equal(sse_feed(&parser, "\ndata: a\n\n", 10, &e), 0);
    assert_int_equal(strcspn(buf_text(&seen), "|"), SSE_NAME_MAX - 1);
}

static void an_event_past_its_limit_breaks_the_stream(void **state)
{
    (void)state;
    static const char *const parts[] = {"data: 123456789", "data: 1234\ndata: 1234\ndata: 1\n"};
    for (size_t i = 0; i < 2; i++) {
        SCOPED(sse_fini) sse parser;
        err e = {0};
        sse_init(&parser, 10, refuse_event, NULL);
        assert_int_equal(sse_feed(&parser, parts[i], strlen(parts[i]), &e), -1);
        assert_int_equal(e.code, ERR_LIMIT);
        assert_int_equal(sse_feed(&parser, "data: a\n\n", 9, &e), -1);
        assert_int_equal(e.code, ERR_CONFLICT);
    }
}

static void what_the_reader_refuses_breaks_the_stream(void **state)
{
    (void)state;
    SCOPED(sse_fini) sse parser;
    err e = {0};
    sse_init(&parser, 1024, refuse_event, NULL);
    assert_int_equal(sse_feed(&parser, "data: a\n\ndata: b\n\n", 18, &e), -1);
    assert_string_equal(e.text, "no a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stream_reads_the_same_however_it_is_sliced),
        cmocka_unit_test(a_name_past_its_limit_is_cut),
        cmocka_unit_test(an_event_past_its_limit_breaks_the_stream),
        cmocka_unit_test(what_the_reader_refuses_breaks_the_stream)};
    return cmocka_run_group_tests_name("sse", tests, NULL, NULL);
}
