/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/remote_fixture.h"

#include "providers/openai.h"

static char *body_of(void **state, const back_end *b)
{
    SCOPED(provider_answer_fini) provider_answer answer;
    err e;
    fake_provider_steps(*state, "{\"text\": \"x\"}");
    assert_int_equal(ask(*state, b, "", &answer, &e), 0);
    SCOPED(json_destroy) json *log = fake_provider_log(*state);
    return json_dump(json_get(json_at(log, 0), "body"));
}

static void a_reasoning_model_is_asked_by_responses(void **state)
{
    static const back_end sol = {&openai_remote, "gpt-6.1-sol", "/v1"};
    SCOPED(scoped_free) char *text = body_of(state, &sol);
    assert_string_equal(text, "{\"input\":[{\"content\":\"write it\",\"role\":\"user\"}],"
                              "\"instructions\":\"rules\",\"max_output_tokens\":32000,"
                              "\"model\":\"gpt-6.1-sol\",\"store\":false,\"stream\":true}");
}

static void any_other_is_asked_by_chat_completions(void **state)
{
    static const back_end gpt = {&openai_remote, "gpt-4o", "/v1"};
    SCOPED(scoped_free) char *text = body_of(state, &gpt);
    assert_string_equal(
        text, "{\"max_completion_tokens\":16384,\"messages\":[{\"content\":\"rules\",\"role\":"
              "\"system\"},{\"content\":\"write it\",\"role\":\"user\"}],\"model\":\"gpt-4o\","
              "\"store\":false,\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
}

static const char stream[] =
    "event: response.created\ndata: "
    "{\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}"
    "\n\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\","
    "\"delta\":\"A\"}\n\nevent: response.brand_new\ndata: {\"type\":\"response.brand_new\"}\n\n"
    "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":"
    "\"resp_1\",\"object\":\"response\",\"model\":\"gpt-x\",\"status\":\"completed\",\"error\":"
    "null,"
    "\"output\":[{\"type\":\"reasoning\",\"summary\":[]},{\"type\":\"message\",\"phase\":"
    "\"commentary\",\"content\":[{\"type\":\"output_text\",\"text\":\"no\"}]},{\"type\":"
    "\"message\","
    "\"content\":[{\"type\":\"output_text\",\"text\":\"A\\u00e4\"},{\"type\":\"output_text\","
    "\"text\":"
    "\"B\"}]}],\"usage\":{\"input_tokens\":30,\"input_tokens_details\":{\"cached_tokens\":10,"
    "\"cache_write_tokens\":5},\"output_tokens\":4}}}\n\ndata: [DONE]\n\n";

static void a_stream_reads_the_same_however_it_is_sliced(void **state)
{
    (void)state;
    for (size_t slice = 1; slice < sizeof(stream); slice++) {
        sliced s;
        read_sliced(&s, &openai_remote, stream, slice);
        assert_string_equal(buf_text(&s.reply.text), "A\xC3\xA4"
                                                     "B");
        assert_true(s.reply.ended && s.reply.stop == PROVIDER_STOP_OK);
        assert_int_equal(s.reply.used.in, 15);
        assert_int_equal(s.reply.used.out, 4);
        assert_int_equal(s.reply.used.cache_read, 10);
        assert_int_equal(s.reply.used.cache_write, 5);
        assert_string_equal(s.reply.served, "gpt-x");
        reply_fini(&s.reply);
    }
}

static void a_failed_response_is_classed_by_its_code(void **state)
{
    (void)state;
    static const struct {
        const char *error;
        fault_class class;
        bool refused;
    } cases[] = {{"{\"code\":\"server_error\",\"message\":\"m\"}", FAULT_SERVER, false},
                 {"{\"code\":\"rate_limit_exceeded\",\"message\":\"m\"}", FAULT_RATE_LIMIT, false},
                 {"{\"code\":\"brand_new\",\"message\":\"m\"}", FAULT_SERVER, false},
                 {"{\"code\":\"bio_policy\",\"message\":\"m\"}", FAULT_NONE, true},
                 {"{\"code\":\"invalid_prompt\",\"message\":\"m\"}", FAULT_NONE, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sliced s;
        SCOPED(scoped_free)
        char *bytes = xasprintf("data: {\"type\":\"response.failed\",\"response\":{\"object\":"
                                "\"response\",\"status\":\"failed\",\"error\":%s}}\n\n",
                                cases[i].error);
        read_sliced(&s, &openai_remote, bytes, 7);
        assert_int_equal(s.reply.fault.class, cases[i].class);
        assert_true((s.reply.stop == PROVIDER_STOP_REFUSED && s.reply.ended) == cases[i].refused);
        reply_fini(&s.reply);
    }
}

static void an_error_event_is_a_fault(void **state)
{
    (void)state;
    static const char bytes[] =
        "event: error\ndata: "
        "{\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"m\"}\n\n";
    sliced s;
    read_sliced(&s, &openai_remote, bytes, 3);
    assert_int_equal(s.reply.fault.class, FAULT_RATE_LIMIT);
    reply_fini(&s.reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reasoning_model_is_asked_by_responses),
        cmocka_unit_test(any_other_is_asked_by_chat_completions),
        cmocka_unit_test(a_stream_reads_the_same_however_it_is_sliced),
        cmocka_unit_test(a_failed_response_is_classed_by_its_code),
        cmocka_unit_test(an_error_event_is_a_fault)};
    return cmocka_run_group_tests_name("openai", tests, start_server, stop_server);
}
