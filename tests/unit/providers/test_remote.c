/* Every back end against the fake server: what they share.
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/providers/remote_fixture.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "providers/anthropic.h"
#include "providers/compat.h"
#include "providers/gemini.h"
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

static void an_answer_comes_whole_and_streamed(void **state)
{
    static const char *const steps[] = {
        "{\"text\": \"" TEXT "\", \"stream\": true}", "{\"text\": \"" TEXT "\", \"stream\": false}",
        "{\"text\": \"" TEXT "\", \"stream\": true, \"crlf\": true, \"pings\": true}",
        "{\"text\": \"" TEXT "\", \"stream\": true, \"mode\": \"gzip\"}"};
    for (size_t b = 0; b < BACK_ENDS; b++) {
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
            SCOPED(provider_answer_fini) provider_answer answer;
            err e;
            fake_provider_steps(*state, steps[i]);
            assert_int_equal(ask(*state, &back_ends[b], "", &answer, &e), 0);
            assert_string_equal(answer.text, read_text);
            assert_int_equal(answer.stop, PROVIDER_STOP_OK);
            assert_true(answer.tokens_in > 0 && answer.tokens_out > 0 && answer.latency_ms >= 0.0);
        }
    }
}

static void a_stream_may_come_in_any_slices(void **state)
{
    static const int sizes[] = {1, 2, 3, 7, 64, 1000};
    for (size_t b = 0; b < BACK_ENDS; b++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            SCOPED(provider_answer_fini) provider_answer answer;
            char steps[256];
            err e;
            snprintf(steps, sizeof(steps),
                     "{\"text\": \"" TEXT "\", \"stream\": true, \"chunk\": %d}", sizes[i]);
            fake_provider_steps(*state, steps);
            assert_int_equal(ask(*state, &back_ends[b], "", &answer, &e), 0);
            assert_string_equal(answer.text, read_text);
        }
    }
}

static void a_slow_drip_is_no_silence(void **state)
{
    remote_rules rules = quick;
    rules.idle_ms = 400;
    for (size_t b = 0; b + 1 < BACK_ENDS; b++) { /* compat does not stream */
        SCOPED(provider_answer_fini) provider_answer answer;
        err e;
        fake_provider_steps(*state, "{\"text\": \"hello\", \"stream\": true, \"chunk\": 100, "
                                    "\"pause\": 60}");
        assert_int_equal(ask_by(*state, &back_ends[b], "-drip", &rules, NULL, &answer, &e), 0);
        assert_string_equal(answer.text, "hello");
        assert_int_equal(fake_provider_served(*state), 1);
    }
}

static void a_kept_connection_may_close_between_two_questions(void **state)
{
    for (size_t b = 0; b < BACK_ENDS; b++) {
        for (int i = 0; i < 4; i++) {
            SCOPED(provider_answer_fini) provider_answer answer;
            err e;
            fake_provider_steps(*state, "{\"text\": \"hello\", \"mode\": \"leave\"}");
            if (ask(*state, &back_ends[b], "-leave", &answer, &e) != 0) {
                fail_msg("%s: %s", back_ends[b].model, e.text);
            }
            assert_string_equal(answer.text, "hello");
            assert_int_equal(fake_provider_served(*state), 1); /* billed once */
        }
    }
}

static void header_fields_may_be_huge_or_double(void **state)
{
    SCOPED(scoped_free) char *value = xmalloc(60001);
    memset(value, 'x', 60000);
    value[60000] = '\0';
    for (size_t b = 0; b < BACK_ENDS; b++) {
        SCOPED(provider_answer_fini) provider_answer answer;
        SCOPED(scoped_free)
        char *steps =
            xasprintf("{\"error\": \"rate_limit\", \"headers\": {\"retry-after-ms\": [\"30\", "
                      "\"900000\"]}}, {\"text\": \"hello\", \"headers\": {\"X-Large\": \"%s\"}}",
                      value);
        err e;
        fake_provider_steps(*state, steps);
        if (ask(*state, &back_ends[b], "-head", &answer, &e) != 0) {
            fail_msg("%s: %s", back_ends[b].model, e.text);
        }
        assert_string_equal(answer.text, "hello");
        assert_int_equal(fake_provider_served(*state), 2);
    }
}

#define UNSET ((double)NAN)
#define SCHEMA                                                                         \
    "{\"additionalProperties\":false,\"properties\":{\"plan\":{\"type\":\"string\"}}," \
    "\"required\":[\"plan\"],\"type\":\"object\"}"

static const struct {
    back_end b;
    ability_demand demand;
    const char *parts[3]; /* of the body */
    const char *version;
} demands[] = {{{&anthropic_remote, "claude-opus-5-5", ""},
                {NULL, "max", UNSET, UNSET, NULL},
                {"\"output_config\":{\"effort\":\"max\",\"format\":{\"schema\":" SCHEMA
                 ",\"type\":\"json_schema\"}}"},
                "2026-10-21"},
               {{&anthropic_remote, "claude-opus-5", ""},
                {NULL, "none", UNSET, UNSET, NULL},
                {"\"output_config\":{\"format\"", "\"thinking\":{\"type\":\"disabled\"}"},
                "2026-10-21"},
               {{&anthropic_remote, "claude-sonnet-5-5", ""},
                {NULL, "none", UNSET, UNSET, NULL},
                {"\"thinking\":{\"type\":\"between_tools\"}"},
                "2026-10-21"},
               {{&anthropic_remote, "claude-opus-4-7", ""},
                {NULL, "low", UNSET, UNSET, NULL},
                {"\"effort\":\"low\"", "\"thinking\":{\"type\":\"adaptive\"}"},
                "2026-10-21"},
               {{&anthropic_remote, "claude-haiku-4-5", ""},
                {NULL, NULL, 0.25, 0.5, NULL},
                {"\"temperature\":0.25", "\"top_p\":0.5"},
                "2023-06-01"},
               {{&openai_remote, "gpt-6.1-sol", "/v1"},
                {NULL, "xhigh", UNSET, UNSET, NULL},
                {"\"reasoning\":{\"effort\":\"xhigh\"}",
                 "\"text\":{\"format\":{\"name\":\"form\",\"schema\":" SCHEMA
                 ",\"strict\":true,\"type\":\"json_schema\"}}"},
                NULL},
               {{&openai_remote, "gpt-6.1-terra", "/v1"},
                {"chat", "none", 0.5, UNSET, NULL},
                {"\"reasoning_effort\":\"none\"", "\"temperature\":0.5", "\"messages\""},
                NULL},
               {{&openai_remote, "gpt-4o", "/v1"},
                {NULL, NULL, 0.0, UNSET, NULL},
                {"\"temperature\":0.0",
                 "\"response_format\":{\"json_schema\":{\"name\":\"form\",\"schema\":" SCHEMA
                 ",\"strict\":true},\"type\":\"json_schema\"}"},
                NULL},
               {{&gemini_remote, "gemini-4-neon", "/v1beta"},
                {NULL, "xhigh", 0.5, UNSET, NULL},
                {"\"thinkingConfig\":{\"thinkingLevel\":\"XHIGH\"}",
                 "\"responseJsonSchema\":" SCHEMA ",\"responseMimeType\":\"application/json\""},
                NULL},
               {{&gemini_remote, "gemini-3.8-flash", "/v1beta"},
                {NULL, NULL, 0.5, 0.25, NULL},
                {"\"temperature\":0.5", "\"topP\":0.25"},
                NULL},
               {{&compat_remote, "llama-3", "/v1"},
                {NULL, "minimal", 1.5, UNSET, NULL},
                {"\"reasoning_effort\":\"minimal\"", "\"temperature\":1.5"},
                NULL}};

/* The server knows its models by rules of its own (fake_models.py). */
static void what_is_demanded_is_in_the_question(void **state)
{
    static const provider_format form = {.name = "form", .schema = SCHEMA};
    for (size_t i = 0; i < sizeof(demands) / sizeof(demands[0]); i++) {
        SCOPED(provider_answer_fini) provider_answer answer;
        err e = {0};
        fake_provider_steps(*state, "{\"text\": \"x\"}");
        if (ask_demanding(*state, &demands[i].b, &demands[i].demand, &form, &answer, &e) != 0) {
            fail_msg("case %zu: %s", i, e.text);
        }
        SCOPED(json_destroy) json *log = fake_provider_log(*state);
        SCOPED(scoped_free) char *body = json_dump(json_get(json_at(log, 0), "body"));
        for (size_t k = 0; k < 3 && demands[i].parts[k] != NULL; k++) {
            if (strstr(body, demands[i].parts[k]) == NULL) {
                fail_msg("case %zu: no %s in %s", i, demands[i].parts[k], body);
            }
        }
        const char *version = json_str(json_get(json_at(log, 0), "version"), "");
        assert_string_equal(version, demands[i].version != NULL ? demands[i].version : "");
    }
}

static void what_was_asked_and_left_out_is_recorded(void **state)
{
    static const provider_format form = {.name = "form", .schema = SCHEMA};
    static const ability_demand demand = {.effort = "low", .temperature = 0.5, .top_p = UNSET};
    static const struct {
        back_end b;
        const char *asked;
    } cases[] = {
        {{&gemini_remote, "gemini-4-neon", "/v1beta"},
         "\"asked\":{\"api\":\"generateContent\",\"degraded\":\"temperature and top_p are not "
         "sent: "
         "the model takes no notice of them\",\"effort\":\"low\",\"format\":\"form\","
         "\"output_max\":32000,\"temperature\":null,\"top_p\":null}"},
        {{&compat_remote, "llama-3", "/v1"},
         "\"asked\":{\"api\":\"chat\",\"degraded\":\"answers are not bound to a schema; no prompt "
         "cache is counted on\",\"effort\":\"low\",\"format\":null,\"output_max\":16384,"
         "\"temperature\":0.5,\"top_p\":null}"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        SCOPED(provider_answer_fini) provider_answer answer;
        err e = {0};
        fake_provider_steps(*state, "{\"text\": \"x\"}");
        assert_int_equal(ask_demanding(*state, &cases[i].b, &demand, &form, &answer, &e), 0);
        if (strstr(answer.usage, cases[i].asked) == NULL) {
            fail_msg("%s", answer.usage);
        }
    }
}

static void what_is_refused_is_not_asked(void **state)
{
    static const ability_demand demand = {.effort = "high", .temperature = UNSET, .top_p = UNSET};
    static const back_end b = {&openai_remote, "gpt-4o", "/v1"};
    provider_answer answer;
    err e = {0};
    fake_provider_steps(*state, "{\"text\": \"x\"}");
    assert_int_equal(ask_demanding(*state, &b, &demand, NULL, &answer, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
    assert_int_equal(fake_provider_served(*state), 0);
}

static void an_endpoint_may_have_a_key_of_its_own(void **state)
{
    static const ability_demand demand = {.key = "LAB_1", .temperature = UNSET, .top_p = UNSET};
    static const back_end b = {&compat_remote, "llama-3", "/v1"};
    SCOPED(provider_answer_fini) provider_answer answer;
    err e = {0};
    fake_provider_steps(*state, "{\"text\": \"x\"}");
    unsetenv("CE_LAB_1_API_KEY");
    assert_int_equal(ask_demanding(*state, &b, &demand, NULL, &answer, &e), -1);
    assert_non_null(strstr(e.text, "CE_LAB_1_API_KEY"));
    setenv("CE_LAB_1_API_KEY", FAKE_PROVIDER_KEY, 1);
    setenv("CE_COMPAT_API_KEY", "another", 1);
    assert_int_equal(ask_demanding(*state, &b, &demand, NULL, &answer, &e), 0);
    setenv("CE_COMPAT_API_KEY", FAKE_PROVIDER_KEY, 1);
}

static const char retry_in_the_past[] =
    "{\"error\": \"rate_limit\", \"headers\": {\"retry-after\": "
    "\"Mon, 30 Nov 2020 12:00:00 GMT\"}}";
/* The rest of the retry layer is tested alone; here one answer follows one fault. */
static void faults_that_pass_are_asked_again(void **state)
{
    static const char *const faults[] = {
        "{\"error\": \"rate_limit\"}",
        "{\"error\": \"overloaded\"}",
        "{\"error\": \"server\"}",
        "{\"error\": \"timeout\"}",
        "{\"error\": \"overloaded\", \"inside\": true, \"stream\": true}",
        "{\"error\": \"rate_limit\", \"headers\": {\"retry-after\": \"0\"}}",
        "{\"error\": \"rate_limit\", \"headers\": {\"retry-after-ms\": \"40\"}}",
        retry_in_the_past,
        "{\"status\": 502, \"body\": \"<html>Bad Gateway</html>\"}",
        "{\"status\": 503, \"body\": \"\"}",
        "{\"mode\": \"cut\", \"at\": 0}",
        "{\"text\": \"lost\", \"mode\": \"cut\", \"at\": 40}",
        "{\"text\": \"lost\", \"mode\": \"reset\", \"at\": 40}",
        "{\"text\": \"lost\", \"mode\": \"garbage\"}",
        "{\"text\": \"lost\", \"mode\": \"empty\", \"stream\": false}"};
    for (size_t b = 0; b < BACK_ENDS; b++) {
        for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
            SCOPED(provider_answer_fini) provider_answer answer;
            char steps[512], tag[16];
            err e;
            snprintf(steps, sizeof(steps), "%s, {\"text\": \"hello\"}", faults[i]);
            snprintf(tag, sizeof(tag), "-f%zu", i);
            fake_provider_steps(*state, steps);
            if (ask(*state, &back_ends[b], tag, &answer, &e) != 0) {
                fail_msg("%s, fault %s: %s", back_ends[b].model, faults[i], e.text);
            }
            assert_string_equal(answer.text, "hello"); /* nothing of a cut answer is left */
            assert_int_equal(fake_provider_served(*state), 2);
            assert_non_null(strstr(answer.usage, "\"attempts\":2"));
        }
    }
}

static void faults_that_stay_are_told_at_once(void **state)
{
    static const struct {
        const char *steps;
        err_code code;
    } cases[] = {{"{\"error\": \"auth\"}", ERR_DENIED},
                 {"{\"error\": \"quota\"}", ERR_LIMIT},
                 {"{\"error\": \"request\"}", ERR_CONFIG},
                 {"{\"status\": 404, \"body\": \"no such model\"}", ERR_CONFIG},
                 {"{\"status\": 413, \"body\": \"<html>too large</html>\"}", ERR_CONFIG},
                 {"{\"status\": 402, \"body\": {}}", ERR_LIMIT}};
    for (size_t b = 0; b < BACK_ENDS; b++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            provider_answer answer;
            char tag[16];
            err e;
            snprintf(tag, sizeof(tag), "-s%zu", i);
            fake_provider_steps(*state, cases[i].steps);
            assert_int_equal(ask(*state, &back_ends[b], tag, &answer, &e), -1);
            assert_int_equal(e.code, cases[i].code);
            assert_false(e.retry);
            assert_int_equal(fake_provider_served(*state), 1);
            assert_non_null(strstr(e.text, "HTTP "));
        }
    }
}

static void a_terminal_fault_stops_the_provider_for_all(void **state)
{
    for (size_t b = 0; b < BACK_ENDS; b++) {
        provider_answer answer;
        err first, second;
        fake_provider_steps(*state, "{\"error\": \"quota\"}, {\"text\": \"hello\"}");
        assert_int_equal(ask(*state, &back_ends[b], "-quota", &answer, &first), -1);
        assert_int_equal(ask(*state, &back_ends[b], "-quota", &answer, &second), -1);
        assert_string_equal(first.text, second.text);
        assert_int_equal(fake_provider_served(*state), 1);
    }
}

static void a_wait_past_the_cap_is_not_waited_for(void **state)
{
    const back_end *b = &back_ends[0];
    provider_answer answer;
    err e;
    int64_t before = clock_mono_ms();
    fake_provider_steps(*state,
                        "{\"error\": \"rate_limit\", \"headers\": {\"retry-after\": \"120\"}}");
    assert_int_equal(ask(*state, b, "-long", &answer, &e), -1);
    assert_true(e.retry);
    assert_int_equal(e.retry_after_ms, 120000);
    assert_int_equal(ask(*state, b, "-long", &answer, &e),
                     -1); /* the other tasks do not wait either */
    assert_true(e.retry && e.retry_after_ms > 100000);
    assert_int_equal(fake_provider_served(*state), 1);
    assert_true(clock_mono_ms() - before < 5000);
}

static void attempts_have_an_end(void **state)
{
    for (size_t b = 0; b < BACK_ENDS; b++) {
        provider_answer answer;
        err e;
        fake_provider_steps(*state, "{\"error\": \"server\"}");
        assert_int_equal(ask(*state, &back_ends[b], "-end", &answer, &e), -1);
        assert_true(e.retry);
        assert_int_equal(e.code, ERR_UNAVAILABLE);
        assert_int_equal(fake_provider_served(*state), 3);
    }
}

/* Whoever gave up on the server may be faster than it. */
static void expect_served(const fake_provider *server, size_t count)
{
    int64_t until = clock_mono_ms() + 10000;
    while (fake_provider_served(server) < count && clock_mono_ms() < until) {
        usleep(1000);
    }
    assert_int_equal(fake_provider_served(server), count);
}

static void what_may_have_been_billed_is_asked_again_once(void **state)
{
    static const char *const steps[] = {
        "{\"text\": \"lost\", \"mode\": \"stall\", \"at\": 30, \"ms\": 5000}",
        "{\"text\": \"lost\", \"mode\": \"slow\", \"ms\": 5000}",
        "{\"text\": \"lost\", \"mode\": \"cut\", \"at\": 30}",
        "{\"text\": \"lost\", \"mode\": \"garbage\"}"};
    remote_rules rules = quick;
    rules.idle_ms = 300;
    rules.total_ms = 600; /* for those that do not stream */
    rules.retry.attempts = 5;
    for (size_t b = 0; b < BACK_ENDS; b++) {
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
            provider_answer answer;
            char tag[16];
            err e;
            snprintf(tag, sizeof(tag), "-b%zu", i);
            fake_provider_steps(*state, steps[i]);
            assert_int_equal(ask_by(*state, &back_ends[b], tag, &rules, NULL, &answer, &e), -1);
            expect_served(*state, 2);
        }
    }
}

static void whoever_said_200_may_bill_and_whoever_refused_may_not(void **state)
{
    static const struct {
        const char *step;
        bool streams_only;
        int64_t bills;
    } cases[] = {
        {"{\"error\": \"overloaded\", \"inside\": true, \"stream\": true}", true, 2},
        {"{\"status\": 200, \"body\": {\"error\": {\"code\": 503, \"message\": \"later\"}}}", false,
         2},
        {"{\"status\": 200, \"body\": \"<html>\"}", false, 2},
        {"{\"text\": \"lost\", \"mode\": \"cut\", \"at\": 0}", false, 2},
        {"{\"status\": 503, \"body\": \"<html>\"}", false, 0},
        {"{\"error\": \"rate_limit\", \"headers\": {\"retry-after-ms\": \"1\"}}", false, 0}};
    for (size_t b = 0; b < BACK_ENDS; b++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            if (cases[i].streams_only && back_ends[b].ops == &compat_remote) {
                continue; /* does not stream */
            }
            provider_answer answer;
            char tag[16];
            err e;
            snprintf(tag, sizeof(tag), "-u%zu", i);
            fake_provider_steps(*state, cases[i].step);
            assert_int_equal(ask(*state, &back_ends[b], tag, &answer, &e), -1);
            if (answer.trouble.unknown_bills != cases[i].bills) {
                fail_msg("%s, step %zu: %s", back_ends[b].model, i, e.text);
            }
            assert_int_equal(answer.trouble.attempts,
                             cases[i].bills > 0 ? 2 : quick.retry.attempts);
        }
    }
}

static void a_stream_cut_anywhere_is_never_an_answer(void **state)
{
    for (size_t b = 0; b < BACK_ENDS; b++) {
        bool whole = false;
        for (int at = 0; !whole; at += 53) {
            SCOPED(provider_answer_fini) provider_answer answer;
            char steps[256];
            err e;
            remote_rules rules = quick;
            rules.retry.attempts = 1;
            snprintf(steps, sizeof(steps),
                     "{\"text\": \"0123456789 0123456789\", \"stream\": true, \"mode\": \"cut\","
                     " \"at\": %d}",
                     at);
            fake_provider_steps(*state, steps);
            /* Whoever is cut after the provider said why it ended has the whole text. */
            whole = ask_by(*state, &back_ends[b], "-cut", &rules, NULL, &answer, &e) == 0;
            assert_true(whole || e.retry);
            if (whole) {
                assert_string_equal(answer.text, "0123456789 0123456789");
            }
            assert_true(at < 20000);
        }
    }
}

static void stops_are_answers(void **state)
{
    static const struct {
        const char *stop;
        provider_stop neutral;
    } cases[] = {{"stop", PROVIDER_STOP_OK},
                 {"length", PROVIDER_STOP_LENGTH},
                 {"refusal", PROVIDER_STOP_REFUSED},
                 {"filter", PROVIDER_STOP_FILTER}};
    for (size_t b = 0; b < BACK_ENDS; b++) {
        for (size_t i = 0; i < 8; i++) {
            SCOPED(provider_answer_fini) provider_answer answer;
            char steps[128];
            err e;
            snprintf(steps, sizeof(steps),
                     "{\"text\": \"so far\", \"stop\": \"%s\", \"stream\": %s}", cases[i / 2].stop,
                     i % 2 == 0 ? "true" : "false");
            fake_provider_steps(*state, steps);
            assert_int_equal(ask(*state, &back_ends[b], "", &answer, &e), 0);
            assert_int_equal(fake_provider_served(*state), 1); /* never asked again */
            assert_string_equal(answer.text, "so far");
            /* Gemini knows no refusal, Anthropic no filter. */
            provider_stop want = cases[i / 2].neutral;
            if (back_ends[b].ops == &gemini_remote && want == PROVIDER_STOP_REFUSED) {
                want = PROVIDER_STOP_FILTER;
            }
            if (back_ends[b].ops == &anthropic_remote && want == PROVIDER_STOP_FILTER) {
                want = PROVIDER_STOP_REFUSED;
            }
            assert_int_equal(answer.stop, want);
        }
    }
}

static void an_odd_stop_is_no_answer(void **state)
{
    for (size_t b = 0; b < BACK_ENDS; b++) {
        provider_answer answer;
        err e;
        fake_provider_steps(*state, "{\"text\": \"x\", \"stop\": \"odd\"}");
        assert_int_equal(ask(*state, &back_ends[b], "-odd", &answer, &e), -1);
        assert_int_equal(e.code, ERR_PROTOCOL);
        assert_int_equal(fake_provider_served(*state), 2);
    }
}

static void usage_is_kept_in_disjoint_buckets_and_priced(void **state)
{
    static const char step[] =
        "{\"text\": \"x\", \"stream\": %s, \"usage\": {\"in\": 1000, \"out\": 500,"
        " \"cache_read\": 4000, \"cache_write\": 0, \"reasoning\": 100}}";
    static const double costs[BACK_ENDS] = {0.0148, 0.0074, 0.0125, 0.0111, (double)NAN};
    for (size_t b = 0; b < BACK_ENDS; b++) {
        for (int streamed = 0; streamed < 2; streamed++) {
            SCOPED(provider_answer_fini) provider_answer answer;
            char steps[256];
            err e;
            snprintf(steps, sizeof(steps), step, streamed ? "true" : "false");
            fake_provider_steps(*state, steps);
            assert_int_equal(ask(*state, &back_ends[b], "", &answer, &e), 0);
            assert_int_equal(answer.tokens_in, 1000);
            assert_int_equal(answer.tokens_out, 500);
            assert_int_equal(answer.tokens_cache_read, 4000);
            assert_int_equal(answer.tokens_cache_write, 0);
            assert_true(isnan(costs[b]) ? isnan(answer.cost_usd)
                                        : fabs(answer.cost_usd - costs[b]) < 1e-9);
            assert_non_null(strstr(answer.usage, "4000"));
            assert_non_null(strstr(answer.usage, back_ends[b].model));
        }
    }
}

static void usage_that_is_not_told_is_unknown(void **state)
{
    for (size_t b = 0; b < BACK_ENDS; b++) {
        SCOPED(provider_answer_fini) provider_answer answer;
        err e;
        fake_provider_steps(*state, "{\"text\": \"x\", \"usage\": null}");
        assert_int_equal(ask(*state, &back_ends[b], "", &answer, &e), 0);
        assert_int_equal(answer.tokens_in, -1);
        assert_int_equal(answer.tokens_out, -1);
        assert_true(isnan(answer.cost_usd));
    }
}

static void a_huge_reply_ends_early(void **state)
{
    provider_answer answer;
    err e;
    fake_provider_steps(*state, "{\"mode\": \"huge\", \"stream\": false}");
    assert_int_equal(ask(*state, &back_ends[4], "-huge", &answer, &e), -1);
    assert_non_null(strstr(e.text, "larger than"));
}

typedef struct asker {
    fake_provider *server;
    atomic_bool cancelled;
    err e;
    int rc;
} asker;

static void *ask_slowly(void *arg)
{
    asker *self = arg;
    provider_answer answer;
    self->rc =
        ask_by(self->server, &back_ends[0], "-cancel", &quick, &self->cancelled, &answer, &self->e);
    return NULL;
}

static void a_question_can_be_cancelled_at_any_point(void **state)
{
    static const char *const steps[] = {
        "{\"mode\": \"slow\", \"ms\": 3000}",
        "{\"error\": \"overloaded\", \"headers\": {\"retry-after-ms\": \"299\"}}"};
    for (size_t i = 0; i < 2; i++) {
        asker a = {.server = *state};
        pthread_t thread;
        fake_provider_steps(*state, steps[i]);
        assert_int_equal(pthread_create(&thread, NULL, ask_slowly, &a), 0);
        while (fake_provider_served(*state) == 0) {
            usleep(1000);
        }
        int64_t before = clock_mono_ms();
        atomic_store(&a.cancelled, true);
        pthread_join(thread, NULL);
        assert_int_equal(a.rc, -1);
        assert_int_equal(a.e.code, ERR_CONFLICT);
        assert_true(clock_mono_ms() - before < 2000);
    }
}

static void a_prompt_that_was_cut_by_the_server_is_told(void **state)
{
    provider_material material = fixture_material();
    provider_request request = fixture_request(&material, "codegen", 0);
    SCOPED(scoped_free) char *long_text = xmalloc(40001);
    SCOPED(scoped_free)
    char *model = xasprintf("llama-3@%s/v1", fake_provider_base(*state));
    err e = {0};
    memset(long_text, 'w', 40000);
    long_text[40000] = '\0';
    const provider_turn turn = {"user", long_text};
    request.turns = &turn;
    SCOPED(remote_close) remote *r = remote_open(&compat_remote, model, NULL, &quick, &e);
    provider_answer answer = {0};
    fake_provider_steps(*state, "{\"text\": \"x\", \"usage\": {\"in\": 2048, \"out\": 1}}");
    assert_int_equal(remote_ask(r, &request, &answer, &e), -1);
    assert_non_null(strstr(e.text, "context window is too small"));
    assert_int_equal(fake_provider_served(*state), 1);
    fake_provider_steps(*state, "{\"text\": \"x\", \"usage\": {\"in\": 10, \"out\": 1}}");
    assert_int_equal(remote_ask(r, &request, &answer, &e), 0); /* that is no count at all */
    provider_answer_fini(&answer);
}

static void a_missing_key_is_told_by_its_name(void **state)
{
    (void)state;
    static const struct {
        const remote_ops *ops;
        const char *model, *name;
    } cases[] = {{&anthropic_remote, "claude-opus-5", "ANTHROPIC_API_KEY"},
                 {&openai_remote, "gpt-4o", "OPENAI_API_KEY"},
                 {&gemini_remote, "gemini-4-neon", "GEMINI_API_KEY"},
                 {&compat_remote, "x@https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
                 {&compat_remote, "x@https://api.groq.com/openai/v1", "GROQ_API_KEY"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *value = getenv(cases[i].name);
        SCOPED(scoped_free) char *kept = value != NULL ? xstrdup(value) : NULL;
        err e = {0};
        unsetenv(cases[i].name);
        assert_null(remote_open(cases[i].ops, cases[i].model, NULL, &quick, &e));
        assert_int_equal(e.code, ERR_CONFIG);
        assert_non_null(strstr(e.text, cases[i].name));
        if (kept != NULL) {
            setenv(cases[i].name, kept, 1);
        }
    }
}

static void a_key_never_travels_in_the_open(void **state)
{
    (void)state;
    err e = {0};
    assert_null(remote_open(&compat_remote, "x@http://gpu-box:8000/v1", NULL, &quick, &e));
    assert_int_equal(e.code, ERR_CONFIG);
    assert_non_null(strstr(e.text, "CE_COMPAT_API_KEY"));
    unsetenv("CE_COMPAT_API_KEY");
    SCOPED(remote_close)
    remote *r = remote_open(&compat_remote, "x@http://gpu-box:8000/v1", NULL, &quick, &e);
    assert_non_null(r);
    setenv("CE_COMPAT_API_KEY", FAKE_PROVIDER_KEY, 1);
}

/* Whatever comes back, with logging as loud as it gets. */
static void no_sink_ever_shows_the_key(void **state)
{
    static const char *const steps[] = {
        "{\"error\": \"auth\"}",
        "{\"status\": 401, \"body\": {\"error\": {\"message\": \"bad key " FAKE_PROVIDER_KEY
        "\"}}}",
        "{\"status\": 500, \"body\": {\"error\": \"" FAKE_PROVIDER_KEY " " FAKE_PROVIDER_KEY "\"}}",
        "{\"status\": 400, \"body\": {\"detail\": \"" FAKE_PROVIDER_KEY "\"}}",
        "{\"error\": \"rate_limit\", \"headers\": {\"x-request-id\": \"" FAKE_PROVIDER_KEY "\"}}",
        "{\"status\": 302, \"body\": \"\", \"headers\": {\"Location\": \"http://127.0.0.1:1/\"}}",
        "{\"mode\": \"cut\", \"at\": 3}",
        "{\"text\": \"fine\"}"};
    SCOPED(buf_fini) buf sink;
    int ends[2];
    char piece[4096];
    ssize_t got = 0;
    buf_init(&sink, 1 << 20);
    assert_int_equal(pipe(ends), 0);
    log_open("test", LOG_DEBUG, "all", ends[1]);
    for (size_t b = 0; b < BACK_ENDS; b++) {
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
            SCOPED(provider_answer_fini) provider_answer answer;
            char tag[16];
            err e;
            snprintf(tag, sizeof(tag), "-k%zu", i);
            fake_provider_steps(*state, steps[i]);
            ask(*state, &back_ends[b], tag, &answer, &e);
            buf_printf(&sink, "%s %s\n", e.text, answer.usage != NULL ? answer.usage : "");
        }
    }
    log_open("test", LOG_OFF, "all", STDERR_FILENO);
    close(ends[1]);
    while ((got = read(ends[0], piece, sizeof(piece))) > 0) {
        buf_add(&sink, piece, (size_t)got);
    }
    close(ends[0]);
    assert_non_null(strstr(buf_text(&sink), "\"area\":\"providers\"")); /* it did log */
    assert_non_null(strstr(buf_text(&sink), "[key]"));
    assert_null(strstr(buf_text(&sink), FAKE_PROVIDER_KEY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_whole_and_streamed),
        cmocka_unit_test(a_stream_may_come_in_any_slices),
        cmocka_unit_test(a_slow_drip_is_no_silence),
        cmocka_unit_test(a_kept_connection_may_close_between_two_questions),
        cmocka_unit_test(header_fields_may_be_huge_or_double),
        cmocka_unit_test(what_is_demanded_is_in_the_question),
        cmocka_unit_test(what_was_asked_and_left_out_is_recorded),
        cmocka_unit_test(what_is_refused_is_not_asked),
        cmocka_unit_test(an_endpoint_may_have_a_key_of_its_own),
        cmocka_unit_test(faults_that_pass_are_asked_again),
        cmocka_unit_test(faults_that_stay_are_told_at_once),
        cmocka_unit_test(a_terminal_fault_stops_the_provider_for_all),
        cmocka_unit_test(a_wait_past_the_cap_is_not_waited_for),
        cmocka_unit_test(attempts_have_an_end),
        cmocka_unit_test(what_may_have_been_billed_is_asked_again_once),
        cmocka_unit_test(whoever_said_200_may_bill_and_whoever_refused_may_not),
        cmocka_unit_test(a_stream_cut_anywhere_is_never_an_answer),
        cmocka_unit_test(stops_are_answers),
        cmocka_unit_test(an_odd_stop_is_no_answer),
        cmocka_unit_test(usage_is_kept_in_disjoint_buckets_and_priced),
        cmocka_unit_test(usage_that_is_not_told_is_unknown),
        cmocka_unit_test(a_huge_reply_ends_early),
        cmocka_unit_test(a_question_can_be_cancelled_at_any_point),
        cmocka_unit_test(a_prompt_that_was_cut_by_the_server_is_told),
        cmocka_unit_test(a_missing_key_is_told_by_its_name),
        cmocka_unit_test(a_key_never_travels_in_the_open),
        cmocka_unit_test(no_sink_ever_shows_the_key)};
    return cmocka_run_group_tests_name("remote", tests, start_server, stop_server);
}
