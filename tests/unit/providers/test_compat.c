/* Modules: chat
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/providers/remote_fixture.h"

#include <math.h>

#include "providers/chat.h"
#include "providers/compat.h"

static const back_end llama = {&compat_remote, "llama-3", "/v1"};

static void the_question_holds_what_every_server_knows(void **state)
{
    SCOPED(provider_answer_fini) provider_answer answer;
    err e;
    fake_provider_steps(*state, "{\"text\": \"x\"}");
    assert_int_equal(ask(*state, &llama, "", &answer, &e), 0);
    SCOPED(json_destroy) json *log = fake_provider_log(*state);
    SCOPED(scoped_free) char *text = json_dump(json_get(json_at(log, 0), "body"));
    assert_string_equal(text, "{\"max_tokens\":16384,\"messages\":[{\"content\":\"rules\",\"role\":"
                              "\"system\"},{\"content\":\"write it\",\"role\":\"user\"}],"
                              "\"model\":\"llama-3\"}");
}

static void openrouter_may_not_ask_another_model(void **state)
{
    (void)state;
    provider_material material = fixture_material();
    const provider_request request = fixture_request(&material, "codegen", 0);
    ability_terms terms;
    assert_int_equal(ability_settle("compat", "m", NULL, &terms, NULL), 0);
    const remote_call call = {.model = "m", .terms = &terms, .request = &request};
    SCOPED(buf_fini) buf url;
    buf_init(&url, 256);
    buf_puts(&url, "https://openrouter.ai/api/v1");
    SCOPED(json_destroy) json *body = chat_build(&call, &url);
    assert_string_equal(buf_text(&url), "https://openrouter.ai/api/v1/chat/completions");
    assert_false(json_bool(json_get(json_get(body, "provider"), "allow_fallbacks"), true));
    assert_true(json_bool(json_get(json_get(body, "provider"), "require_parameters"), false));
}

static void a_cost_that_the_server_tells_is_taken(void **state)
{
    SCOPED(provider_answer_fini) provider_answer answer;
    err e;
    fake_provider_steps(*state, "{\"text\": \"x\", \"cost\": 0.0125}");
    assert_int_equal(ask(*state, &llama, "", &answer, &e), 0);
    assert_true(fabs(answer.cost_usd - 0.0125) < 1e-12);
}

static void the_key_belongs_to_the_host(void **state)
{
    (void)state;
    static const struct {
        const char *url, *name;
        bool needed;
    } cases[] = {{"https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", true},
                 {"https://api.together.xyz/v1", "TOGETHER_API_KEY", true},
                 {"https://api.groq.com/openai/v1", "GROQ_API_KEY", true},
                 {"https://api.openai.com/v1", "OPENAI_API_KEY", true},
                 {"https://api.openai.com.evil.example/v1", "CE_COMPAT_API_KEY", false},
                 {"http://localhost:8000/v1", "CE_COMPAT_API_KEY", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool needed = !cases[i].needed;
        assert_string_equal(chat_key_name(cases[i].url, &needed), cases[i].name);
        assert_true(needed == cases[i].needed);
    }
}

/* What servers that copy the protocol answer. */
static void deviations_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *body, *text;
        provider_stop stop;
        fault_class class;
    } cases[] = {
        {"{\"choices\":[{\"message\":{\"content\":null},\"finish_reason\":\"length\"}],"
         "\"usage\":null}",
         "", PROVIDER_STOP_LENGTH, FAULT_NONE},
        {"{\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":"
         "\"image\"},{\"type\":\"text\",\"text\":\"b\"}]},\"finish_reason\":\"stop\"}]}",
         "ab", PROVIDER_STOP_OK, FAULT_NONE},
        {"{\"choices\":[{\"message\":{\"content\":\"a\",\"reasoning_content\":\"hm\"},"
         "\"finish_reason\":\"eos\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,"
         "\"prompt_tokens_details\":null}}",
         "a", PROVIDER_STOP_OK, FAULT_NONE},
        {"{\"choices\":[{\"message\":{\"content\":\"\\n<think>hm</think>a</think>\"},"
         "\"finish_reason\":\"stop\"}]}",
         "a</think>", PROVIDER_STOP_OK, FAULT_NONE},
        {"{\"choices\":[{\"message\":{\"content\":\"<think>cut\"},\"finish_reason\":\"length\"}]}",
         "<think>cut", PROVIDER_STOP_LENGTH, FAULT_NONE},
        {"{\"choices\":[{\"message\":{\"content\":\"\"},\"finish_reason\":\"error\",\"error\":"
         "{\"code\":502,\"message\":\"upstream\"}}]}",
         "", PROVIDER_STOP_OK, FAULT_SERVER},
        {"{\"error\":{\"code\":429,\"message\":\"slow down\"}}", "", PROVIDER_STOP_OK,
         FAULT_RATE_LIMIT},
        {"{\"error\":{\"code\":403,\"message\":\"no\",\"metadata\":{\"reasons\":[\"x\"]}}}", "no",
         PROVIDER_STOP_REFUSED, FAULT_NONE},
        {"{\"object\":\"error\",\"message\":\"m\",\"type\":\"BadRequestError\",\"code\":400}", "",
         PROVIDER_STOP_OK, FAULT_REQUEST},
        {"{\"error\":\"model not loaded\"}", "", PROVIDER_STOP_OK, FAULT_SERVER},
        {"{\"choices\":[]}", "", PROVIDER_STOP_OK, FAULT_BAD_RESPONSE},
        {"{}", "", PROVIDER_STOP_OK, FAULT_BAD_RESPONSE},
        {"[]", "", PROVIDER_STOP_OK, FAULT_BAD_RESPONSE}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reply r SCOPED(reply_fini);
        SCOPED(json_destroy)
        json *body = json_parse_tree(cases[i].body, strlen(cases[i].body), "b", NULL);
        reply_init(&r);
        chat_read_whole(&r, body);
        assert_int_equal(r.fault.class, cases[i].class);
        assert_int_equal(r.stop, cases[i].stop);
        assert_string_equal(buf_text(&r.text), cases[i].text);
    }
}

static void errors_are_classed_by_type_code_and_status(void **state)
{
    (void)state;
    static const struct {
        int64_t status;
        const char *body;
        fault_class class;
    } cases[] = {
        {429, "{\"error\":{\"type\":\"insufficient_quota\",\"code\":\"brand_new\"}}", FAULT_QUOTA},
        {429, "{\"error\":{\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}",
         FAULT_RATE_LIMIT},
        {429, "{\"error\":{\"type\":\"x\",\"code\":\"credit_balance_exhausted\"}}", FAULT_QUOTA},
        {503, "{\"error\":{\"type\":\"unavailable_error\",\"code\":503}}", FAULT_OVERLOADED},
        {400, "{\"error\":{\"type\":\"exceed_context_size_error\",\"code\":400}}", FAULT_REQUEST},
        {402, "{\"error\":{\"code\":402,\"message\":\"m\"}}", FAULT_QUOTA},
        {422, "{\"detail\":\"m\"}", FAULT_REQUEST},
        {498, "{\"error\":{\"code\":\"capacity_exceeded\"}}", FAULT_OVERLOADED},
        {520, "<html>", FAULT_SERVER},
        {524, "", FAULT_TIMEOUT}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reply r SCOPED(reply_fini);
        SCOPED(json_destroy)
        json *body = json_parse_tree(cases[i].body, strlen(cases[i].body), "b", NULL);
        reply_init(&r);
        chat_classify(&r, cases[i].status, body);
        assert_int_equal(r.fault.class, cases[i].class);
    }
}

static const char stream[] =
    ": OPENROUTER PROCESSING\n\n"
    "data: {\"id\":\"c1\",\"model\":\"llama-x\",\"choices\":[{\"delta\":{\"role\":\"assistant\","
    "\"content\":\"\"},\"finish_reason\":null}],\"usage\":null}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"A\\u00e4\"}}],\"obfuscation\":\"x\"}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"B\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,"
    "\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n"
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":null}]}\n\n";

static void a_stream_reads_the_same_however_it_is_sliced(void **state)
{
    (void)state;
    for (size_t slice = 1; slice < sizeof(stream); slice++) {
        sliced s;
        read_sliced(&s, &compat_remote, stream, slice);
        assert_string_equal(buf_text(&s.reply.text), "A\xC3\xA4"
                                                     "B");
        assert_true(s.reply.ended && s.reply.stop == PROVIDER_STOP_OK);
        assert_int_equal(s.reply.used.in, 5);
        assert_int_equal(s.reply.used.out, 2);
        assert_int_equal(s.reply.used.cache_read, 4);
        assert_int_equal(s.reply.used.cache_write, -1);
        assert_string_equal(s.reply.served, "llama-x");
        reply_fini(&s.reply);
    }
}

static void an_error_in_the_stream_is_a_fault(void **state)
{
    (void)state;
    static const char bytes[] =
        "data: {\"choices\":[{\"delta\":{\"content\":\"A\"}}]}\n\n"
        "data: {\"error\":{\"code\":502,\"message\":\"upstream\"},\"choices\":[{\"delta\":{},"
        "\"finish_reason\":\"error\"}]}\n\n";
    sliced s;
    read_sliced(&s, &compat_remote, bytes, 5);
    assert_int_equal(s.reply.fault.class, FAULT_SERVER);
    assert_false(s.reply.ended);
    reply_fini(&s.reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_question_holds_what_every_server_knows),
        cmocka_unit_test(openrouter_may_not_ask_another_model),
        cmocka_unit_test(a_cost_that_the_server_tells_is_taken),
        cmocka_unit_test(the_key_belongs_to_the_host),
        cmocka_unit_test(deviations_are_understood),
        cmocka_unit_test(errors_are_classed_by_type_code_and_status),
        cmocka_unit_test(a_stream_reads_the_same_however_it_is_sliced),
        cmocka_unit_test(an_error_in_the_stream_is_a_fault)};
    return cmocka_run_group_tests_name("compat", tests, start_server, stop_server);
}
