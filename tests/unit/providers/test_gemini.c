/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/remote_fixture.h"

#include "providers/gemini.h"

static const back_end neon = {&gemini_remote, "gemini-4-neon", "/v1beta"};

static void the_question_goes_to_the_models_own_address(void **state)
{
    SCOPED(provider_answer_fini) provider_answer answer;
    err e;
    fake_provider_steps(*state, "{\"text\": \"x\"}");
    assert_int_equal(ask(*state, &neon, "", &answer, &e), 0);
    SCOPED(json_destroy) json *log = fake_provider_log(*state);
    SCOPED(scoped_free) char *text = json_dump(json_get(json_at(log, 0), "body"));
    assert_string_equal(json_str(json_get(json_at(log, 0), "path"), ""),
                        "/v1beta/models/gemini-4-neon:streamGenerateContent?alt=sse");
    assert_string_equal(text,
                        "{\"contents\":[{\"parts\":[{\"text\":\"write it\"}],\"role\":\"user\"}],"
                        "\"generationConfig\":{\"maxOutputTokens\":32000},\"store\":false,"
                        "\"systemInstruction\":{\"parts\":[{\"text\":\"rules\"}]}}");
}

static const char stream[] =
    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"hm\","
    "\"thought\":true},{\"text\":\"A\"}]}}],\"usageMetadata\":{\"promptTokenCount\":30}}\r\n\r\n"
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\\u00e4B\"},{\"brandNew\":{}}]},"
    "\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":30,"
    "\"cachedContentTokenCount\":10,\"candidatesTokenCount\":4,\"thoughtsTokenCount\":3},"
    "\"modelVersion\":\"gemini-x\",\"responseId\":\"r1\"}\r\n\r\n";

static void a_stream_reads_the_same_however_it_is_sliced(void **state)
{
    (void)state;
    for (size_t slice = 1; slice < sizeof(stream); slice++) {
        sliced s;
        read_sliced(&s, &gemini_remote, stream, slice);
        assert_string_equal(buf_text(&s.reply.text), "A\xC3\xA4"
                                                     "B");
        assert_true(s.reply.ended && s.reply.stop == PROVIDER_STOP_OK);
        assert_int_equal(s.reply.used.in, 20);
        assert_int_equal(s.reply.used.out, 7);
        assert_int_equal(s.reply.used.cache_read, 10);
        assert_string_equal(s.reply.served, "gemini-x");
        reply_fini(&s.reply);
    }
}

static void a_stop_needs_no_parts(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        provider_stop stop;
        fault_class class;
    } cases[] = {
        {"{\"candidates\":[{\"finishReason\":\"SAFETY\"}]}", PROVIDER_STOP_FILTER, FAULT_NONE},
        {"{\"candidates\":[{\"content\":{},\"finishReason\":\"RECITATION\"}]}",
         PROVIDER_STOP_FILTER, FAULT_NONE},
        {"{\"candidates\":[{\"content\":{\"parts\":null},\"finishReason\":\"MAX_TOKENS\"}]}",
         PROVIDER_STOP_LENGTH, FAULT_NONE},
        {"{\"promptFeedback\":{\"blockReason\":\"OTHER\"}}", PROVIDER_STOP_FILTER, FAULT_NONE},
        {"{\"candidates\":[{\"finishReason\":\"OTHER\"}]}", PROVIDER_STOP_OK, FAULT_BAD_RESPONSE},
        {"{\"candidates\":[{\"finishReason\":\"CONTINUATION\"}]}", PROVIDER_STOP_LENGTH,
         FAULT_NONE},
        {"{\"candidates\":[{\"finishReason\":\"BRAND_NEW\"}]}", PROVIDER_STOP_OK,
         FAULT_BAD_RESPONSE}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reply r SCOPED(reply_fini);
        SCOPED(json_destroy)
        json *body = json_parse_tree(cases[i].body, strlen(cases[i].body), "b", NULL);
        reply_init(&r);
        gemini_remote.read_whole(&r, body);
        assert_int_equal(r.fault.class, cases[i].class);
        assert_true(r.stopped == (cases[i].class == FAULT_NONE));
        assert_int_equal(r.stop, cases[i].stop);
        assert_string_equal(buf_text(&r.text), "");
    }
}

#define RPC "\"@type\":\"type.googleapis.com/google.rpc."
static void errors_are_classed_by_status_reason_and_quota(void **state)
{
    (void)state;
    static const struct {
        int64_t status;
        const char *body;
        fault_class class;
        int64_t wait_ms;
    } cases[] = {
        {429,
         "{\"error\":{\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{" RPC
         "QuotaFailure\",\"violations\":[{\"quotaId\":\"xPerMinutex\"}]},{" RPC
         "RetryInfo\",\"retryDelay\":\"1.5s\"}]}}",
         FAULT_RATE_LIMIT, 1500},
        {429,
         "{\"error\":{\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{" RPC
         "QuotaFailure\",\"violations\":[{\"quotaId\":\"xPerMinute\"},{\"quotaId\":\"xPerDayx\"}]},"
         "{" RPC "RetryInfo\",\"retryDelay\":\"37s\"}]}}",
         FAULT_QUOTA, 37000},
        {402, "{\"error\":{\"status\":\"RESOURCE_EXHAUSTED\"}}", FAULT_QUOTA, -1},
        {400,
         "{\"error\":{\"status\":\"INVALID_ARGUMENT\",\"details\":[{" RPC
         "ErrorInfo\",\"reason\":\"API_KEY_INVALID\"}]}}",
         FAULT_AUTH, -1},
        {400, "[{\"error\":{\"status\":\"INVALID_ARGUMENT\"}}]", FAULT_REQUEST, -1},
        {503, "{\"error\":{\"status\":\"UNAVAILABLE\"}}", FAULT_OVERLOADED, -1},
        {500, "{\"error\":{\"status\":\"INTERNAL\"}}", FAULT_SERVER, -1},
        {500, "nonsense", FAULT_SERVER, -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reply r SCOPED(reply_fini);
        SCOPED(json_destroy)
        json *body = json_parse_tree(cases[i].body, strlen(cases[i].body), "b", NULL);
        reply_init(&r);
        gemini_remote.classify(&r, cases[i].status, body);
        assert_int_equal(r.fault.class, cases[i].class);
        assert_int_equal(r.fault.wait_ms, cases[i].wait_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_question_goes_to_the_models_own_address),
        cmocka_unit_test(a_stream_reads_the_same_however_it_is_sliced),
        cmocka_unit_test(a_stop_needs_no_parts),
        cmocka_unit_test(errors_are_classed_by_status_reason_and_quota)};
    return cmocka_run_group_tests_name("gemini", tests, start_server, stop_server);
}
