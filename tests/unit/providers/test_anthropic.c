/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/remote_fixture.h"

#include "providers/anthropic.h"

static const back_end claude = {&anthropic_remote, "claude-opus-5-5", ""};

static void the_question_is_a_message_with_a_marked_system_text(void **state)
{
    SCOPED(provider_answer_fini) provider_answer answer;
    err e;
    fake_provider_steps(*state, "{\"text\": \"x\"}");
    assert_int_equal(ask(*state, &claude, "", &answer, &e), 0);
    SCOPED(json_destroy) json *log = fake_provider_log(*state);
    const json *body = json_get(json_at(log, 0), "body");
    SCOPED(scoped_free) char *text = json_dump(body);
    assert_string_equal(
        text, "{\"max_tokens\":32000,\"messages\":[{\"content\":\"write it\",\"role\":\"user\"}],"
              "\"model\":\"claude-opus-5-5\",\"stream\":true,\"system\":[{\"cache_control\":"
              "{\"type\":\"ephemeral\"},\"text\":\"rules\",\"type\":\"text\"}]}");
}

static void an_empty_turn_is_not_sent_empty(void **state)
{
    static const provider_turn turns[] = {{"user", "a"}, {"assistant", " \n"}, {"user", "b"}};
    const provider_turn *t = turns;
    provider_material material = fixture_material();
    provider_request request = fixture_request(&material, "codegen", 1);
    SCOPED(provider_answer_fini) provider_answer answer = {0};
    SCOPED(scoped_free)
    char *model = xasprintf("claude-opus-5-5@%s", fake_provider_base(*state));
    err e = {0};
    request.turns = t;
    request.turn_count = 3;
    SCOPED(remote_close) remote *r = remote_open(&anthropic_remote, model, NULL, &quick, &e);
    fake_provider_steps(*state, "{\"text\": \"x\"}");
    assert_int_equal(remote_ask(r, &request, &answer, &e), 0); /* the server refuses empty blocks */
}

#define USAGE_START \
    "\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":7,\"output_tokens\":1}"
static const char stream[] =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","
    "\"model\":\"claude-x\",\"content\":[],\"stop_reason\":null," USAGE_START "}}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
    "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
    "\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n"
    "event: ping\ndata: {\"type\":\"ping\"}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,"
    "\"content_block\":{\"type\":\"text\",\"text\":\"A\"}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,"
    "\"delta\":{\"type\":\"text_delta\",\"text\":\"\\u00e4B\"}}\n\n"
    "event: brand_new\ndata: {\"type\":\"brand_new\"}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,"
    "\"content_block\":{\"type\":\"brand_new\",\"text\":\"no\"}}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
    "\"end_turn\"},\"usage\":{\"output_tokens\":9,\"input_tokens\":null}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

static void a_stream_reads_the_same_however_it_is_sliced(void **state)
{
    (void)state;
    for (size_t slice = 1; slice < sizeof(stream); slice++) {
        sliced s;
        read_sliced(&s, &anthropic_remote, stream, slice);
        assert_string_equal(buf_text(&s.reply.text), "A\xC3\xA4"
                                                     "B");
        assert_true(s.reply.ended && s.reply.stop == PROVIDER_STOP_OK);
        assert_int_equal(s.reply.used.in, 10);
        assert_int_equal(s.reply.used.out, 9);
        assert_int_equal(s.reply.used.cache_read, 7);
        assert_int_equal(s.reply.used.cache_write, -1);
        assert_string_equal(s.reply.served, "claude-x");
        assert_string_equal(s.reply.id, "msg_1");
        reply_fini(&s.reply);
    }
}

static void errors_are_classed_by_type_wherever_they_come(void **state)
{
    (void)state;
    static const struct {
        int64_t status;
        const char *body;
        fault_class class;
    } cases[] = {
        {200, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}",
         FAULT_OVERLOADED},
        {500, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}",
         FAULT_OVERLOADED},
        {429,
         "{\"error\":{\"type\":\"rate_limit_error\",\"details\":{\"error_code\":"
         "\"contract_spend_limit_reached\"}}}",
         FAULT_QUOTA},
        {429,
         "{\"error\":{\"type\":\"rate_limit_error\",\"details\":{\"error_code\":"
         "\"ramp_limit_exceeded\"}}}",
         FAULT_RATE_LIMIT},
        {429, "{\"error\":{\"type\":\"rate_limit_error\",\"details\":null}}", FAULT_RATE_LIMIT},
        {402, "{\"error\":{\"type\":\"billing_error\"}}", FAULT_QUOTA},
        {403, "{\"error\":{\"type\":\"permission_error\"}}", FAULT_AUTH},
        {529, "[]", FAULT_OVERLOADED},
        {404, "{\"error\":\"text\"}", FAULT_REQUEST}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reply r SCOPED(reply_fini);
        SCOPED(json_destroy)
        json *body = json_parse_tree(cases[i].body, strlen(cases[i].body), "b", NULL);
        reply_init(&r);
        anthropic_remote.classify(&r, cases[i].status, body);
        assert_int_equal(r.fault.class, cases[i].class);
    }
}

static void a_reply_on_status_200_may_be_an_error_or_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        fault_class class;
    } cases[] = {
        {"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}", FAULT_OVERLOADED},
        {"{\"type\":\"message\",\"content\":null,\"stop_reason\":\"refusal\"}", FAULT_NONE},
        {"{\"type\":\"message\",\"stop_reason\":\"brand_new\"}", FAULT_BAD_RESPONSE},
        {"{}", FAULT_BAD_RESPONSE},
        {"[]", FAULT_BAD_RESPONSE}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reply r SCOPED(reply_fini);
        SCOPED(json_destroy)
        json *body = json_parse_tree(cases[i].body, strlen(cases[i].body), "b", NULL);
        reply_init(&r);
        anthropic_remote.read_whole(&r, body);
        assert_int_equal(r.fault.class, cases[i].class);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_question_is_a_message_with_a_marked_system_text),
        cmocka_unit_test(an_empty_turn_is_not_sent_empty),
        cmocka_unit_test(a_stream_reads_the_same_however_it_is_sliced),
        cmocka_unit_test(errors_are_classed_by_type_wherever_they_come),
        cmocka_unit_test(a_reply_on_status_200_may_be_an_error_or_nothing)};
    return cmocka_run_group_tests_name("anthropic", tests, start_server, stop_server);
}
