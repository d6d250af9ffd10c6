/* The streams of every back end, as the fake server sends them, split and cut at every offset.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/providers/remote_fixture.h"

#include "providers/anthropic.h"
#include "providers/compat.h"
#include "providers/gemini.h"
#include "providers/http.h"
#include "providers/openai.h"

static const back_end back_ends[] = {{&anthropic_remote, "claude-opus-5-5", ""},
                                     {&openai_remote, "gpt-6.1-sol", "/v1"},
                                     {&openai_remote, "gpt-4o", "/v1"},
                                     {&gemini_remote, "gemini-4-neon", "/v1beta"},
                                     {&compat_remote, "llama-3", "/v1"}};
enum { BACK_ENDS = sizeof(back_ends) / sizeof(back_ends[0]) };

/* Every byte class that a stream can be cut in: quotes, escapes, two to four bytes a character. */
#define TEXT "```cuda\\n// \\u00e4\\u20ac\\ud83d\\ude00 \\\"x\\\" \\\\n\\n```\\r\\ndone"
static const char read_text[] =
    "```cuda\n// \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80 \"x\" \\n\n```\r\ndone";

static http *client;

static int keep_bytes(void *arg, const char *bytes, size_t size, err *e)
{
    (void)e;
    return buf_add(arg, bytes, size);
}

/* The bytes of a back end's stream, as the server sends them. */
static void capture(const fake_provider *server, const back_end *b, const char *step, buf *out)
{
    provider_material material = fixture_material();
    provider_request request = fixture_request(&material, "codegen", 0);
    ability_terms terms;
    err e = {0};
    SCOPED(buf_fini) buf url;
    SCOPED(scoped_free) char *key = xasprintf("%s%s", b->ops->key_form, FAKE_PROVIDER_KEY);
    http_reply head SCOPED(http_reply_fini) = {0};
    assert_int_equal(ability_settle(b->ops->name, b->model, NULL, &terms, &e), 0);
    const remote_call call = {.model = b->model, .terms = &terms, .request = &request};
    const http_field fields[] = {{b->ops->key_field, key},
                                 {"anthropic-version", terms.family->api}};
    buf_init(&url, 512);
    buf_printf(&url, "%s%s", fake_provider_base(server), b->suffix);
    SCOPED(json_destroy) json *body = b->ops->build(&call, &url);
    SCOPED(scoped_free) char *text = json_dump(body);
    const http_request post = {.url = buf_text(&url),
                               .fields = fields,
                               .field_count = 2,
                               .body = text,
                               .body_size = strlen(text),
                               .body_max = 1 << 20,
                               .connect_ms = 5000,
                               .idle_ms = 5000,
                               .total_ms = 10000,
                               .stream = keep_bytes,
                               .arg = out};
    fake_provider_steps(server, step);
    assert_int_equal(http_post(client, &post, &head, &e), 0);
    assert_true(head.streamed && out->size > 0);
}

/* Feeds the first `cut` bytes of a stream, then the rest up to `end`. */
static void feed(sliced *self, const remote_ops *ops, const buf *bytes, size_t cut, size_t end)
{
    SCOPED(sse_fini) sse parser;
    err e = {0};
    self->ops = ops;
    reply_init(&self->reply);
    sse_init(&parser, 1 << 20, sliced_event, self);
    assert_int_equal(sse_feed(&parser, bytes->data, cut, &e), 0);
    assert_int_equal(sse_feed(&parser, bytes->data + cut, end - cut, &e), 0);
    if (ops->read_end != NULL) {
        ops->read_end(&self->reply);
    }
}

static void a_stream_may_be_split_at_every_offset(void **state)
{
    static const char *const steps[] = {"{\"text\": \"" TEXT "\", \"stream\": true}",
                                        "{\"text\": \"" TEXT
                                        "\", \"stream\": true, \"crlf\": true, \"pings\": true}"};
    for (size_t b = 0; b < BACK_ENDS; b++) {
        for (size_t i = 0; i < 2; i++) {
            SCOPED(buf_fini) buf bytes;
            buf_init(&bytes, 1 << 20);
            capture(*state, &back_ends[b], steps[i], &bytes);
            for (size_t cut = 0; cut <= bytes.size; cut++) {
                sliced s;
                feed(&s, back_ends[b].ops, &bytes, cut, bytes.size);
                assert_true(s.reply.ended && s.reply.stop == PROVIDER_STOP_OK);
                assert_string_equal(buf_text(&s.reply.text), read_text);
                assert_true(s.reply.used.in > 0 && s.reply.used.out > 0);
                reply_fini(&s.reply);
            }
        }
    }
}

/* Whatever is missing at its end: a stream is whole or it is known to be cut, never taken for whole. */
static void a_stream_may_be_cut_at_every_offset(void **state)
{
    for (size_t b = 0; b < BACK_ENDS; b++) {
        SCOPED(buf_fini) buf bytes;
        size_t whole = 0;
        buf_init(&bytes, 1 << 20);
        capture(*state, &back_ends[b], "{\"text\": \"" TEXT "\", \"stream\": true}", &bytes);
        for (size_t end = 0; end <= bytes.size; end++) {
            sliced s;
            feed(&s, back_ends[b].ops, &bytes, 0, end);
            if (s.reply.ended) {
                assert_string_equal(buf_text(&s.reply.text), read_text);
                whole++;
            }
            assert_int_equal(s.reply.fault.class, FAULT_NONE);
            reply_fini(&s.reply);
        }
        assert_true(whole > 0 && whole < bytes.size / 2);
    }
}

static int start(void **state)
{
    err e = {0};
    start_server(state);
    client = http_create(NULL, &e);
    return client != NULL ? 0 : -1;
}

static int stop(void **state)
{
    http_destroy(&client);
    return stop_server(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_stream_may_be_split_at_every_offset),
                                       cmocka_unit_test(a_stream_may_be_cut_at_every_offset)};
    return cmocka_run_group_tests_name("streams", tests, start, stop);
}
