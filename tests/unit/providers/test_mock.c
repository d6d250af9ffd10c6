/* SPDX-License-Identifier: MIT */
#include "tests/unit/providers/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "providers/mock.h"

typedef struct folder {
    char path[64];
    char script[96];
} folder;

static int make_folder(void **state)
{
    folder *f = xcalloc(1, sizeof(*f));
    snprintf(f->path, sizeof(f->path), "/tmp/ce-mock-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    snprintf(f->script, sizeof(f->script), "%s/script.json", f->path);
    *state = f;
    return 0;
}

static int remove_folder(void **state)
{
    folder *f = *state;
    file_remove_tree(f->path, NULL);
    free(f);
    return 0;
}

static void write_text(const char *path, const char *text)
{
    err e = {0};
    assert_int_equal(file_write(path, text, strlen(text), &e), 0);
}

static int ask(const folder *f, const char *stage, int64_t index, provider_answer *answer, err *e)
{
    char id[128];
    snprintf(id, sizeof(id), "mock:%s", f->script);
    provider_material material = fixture_material();
    provider_request request = fixture_request(&material, stage, index);
    SCOPED(provider_destroy) provider *p = provider_create(id, NULL, e);
    assert_non_null(p);
    return provider_ask(p, &request, answer, e);
}

static void the_first_matching_rule_answers(void **state)
{
    const folder *f = *state;
    err e = {0};
    write_text(f->script, "{\"rules\": [{\"problem\": \"other\", \"text\": \"no\"},"
                          "{\"stage\": \"codegen\", \"index\": 1, \"text\": \"second\","
                          " \"tokens_in\": 7, \"cost_usd\": 0.5},"
                          "{\"stage\": \"codegen\", \"text\": \"any\", \"stop\": \"length\"}]}");
    SCOPED(provider_answer_fini) provider_answer second = {0};
    assert_int_equal(ask(f, "codegen", 1, &second, &e), 0);
    assert_string_equal(second.text, "second");
    assert_int_equal(second.tokens_in, 7);
    assert_true(second.cost_usd == 0.5);
    SCOPED(provider_answer_fini) provider_answer any = {0};
    assert_int_equal(ask(f, "codegen", 0, &any, &e), 0);
    assert_int_equal(any.stop, PROVIDER_STOP_LENGTH);
    SCOPED(provider_answer_fini) provider_answer none = {0};
    assert_int_equal(ask(f, "polish", 0, &none, &e), 0);
    assert_int_equal(none.stop, PROVIDER_STOP_EXHAUSTED);
}

static void files_lie_beside_the_script_and_gold_can_be_asked_for(void **state)
{
    const folder *f = *state;
    err e = {0};
    char beside[96];
    snprintf(beside, sizeof(beside), "%s/a.md", f->path);
    write_text(beside, "from a file");
    write_text(f->script, "{\"rules\": [{\"stage\": \"codegen\", \"file\": \"a.md\"},"
                          "{\"stage\": \"polish\", \"gold\": true}]}");
    SCOPED(provider_answer_fini) provider_answer file = {0};
    assert_int_equal(ask(f, "codegen", 0, &file, &e), 0);
    assert_string_equal(file.text, "from a file");
    SCOPED(provider_answer_fini) provider_answer gold = {0};
    assert_int_equal(ask(f, "polish", 0, &gold, &e), 0);
    assert_non_null(strstr(gold.text, "```cuda"));
}

static void served_calls_are_recorded_one_a_line(void **state)
{
    const folder *f = *state;
    err e = {0};
    char record[96];
    snprintf(record, sizeof(record), "%s/served.jsonl", f->path);
    write_text(f->script, "{\"record\": \"served.jsonl\", \"rules\": [{\"text\": \"x\"}]}");
    for (int64_t i = 0; i < 2; i++) {
        SCOPED(provider_answer_fini) provider_answer answer = {0};
        assert_int_equal(ask(f, "codegen", i, &answer, &e), 0);
    }
    SCOPED(buf_fini) buf text;
    buf_init(&text, 4096);
    assert_int_equal(file_read(record, &text, &e), 0);
    assert_string_equal(buf_text(&text),
                        "{\"index\":0,\"problem\":\"copy\",\"sample\":0,\"stage\":\"codegen\"}\n"
                        "{\"index\":1,\"problem\":\"copy\",\"sample\":0,\"stage\":\"codegen\"}\n");
}

static void scripted_faults_fail_as_a_provider_would(void **state)
{
    const folder *f = *state;
    static const struct {
        const char *fault;
        err_code code;
        bool retry;
    } cases[] = {{"auth", ERR_DENIED, false},     {"quota", ERR_LIMIT, false},
                 {"rate_limit", ERR_LIMIT, true}, {"overloaded", ERR_UNAVAILABLE, true},
                 {"timeout", ERR_TIMEOUT, true},  {"bad_response", ERR_PROTOCOL, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char script[128];
        err e = {0};
        provider_answer answer = {0};
        snprintf(script, sizeof(script), "{\"rules\": [{\"fault\": \"%s\"}]}", cases[i].fault);
        write_text(f->script, script);
        assert_int_equal(ask(f, "codegen", 0, &answer, &e), -1);
        assert_int_equal(e.code, cases[i].code);
        assert_true(e.retry == cases[i].retry);
        assert_non_null(strstr(e.text, cases[i].fault));
        assert_null(answer.text);
    }
}

static void a_bad_script_is_told_with_its_place(void **state)
{
    const folder *f = *state;
    static const struct {
        const char *text;
        const char *place;
    } cases[] = {{"{\"rules\": [", "script.json"},
                 {"{}", "rules"},
                 {"{\"rules\": [{\"txt\": 1}]}", "/rules/0"},
                 {"{\"rules\": [{\"stop\": \"done\"}]}", "/rules/0/stop"},
                 {"{\"rules\": [{\"fault\": \"fire\"}]}", "/rules/0/fault"},
                 {"{\"rules\": [{\"index\": -1}]}", "/rules/0/index"},
                 {"{\"rules\": [{\"text\": \"a\", \"gold\": true}]}", "/rules/0"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        err e = {0};
        write_text(f->script, cases[i].text);
        assert_int_equal(mock_check(f->script, &e), -1);
        assert_int_equal(e.code, ERR_CONFIG);
        assert_non_null(strstr(e.text, "script.json"));
        assert_non_null(strstr(e.text, cases[i].place));
    }
}

int main(void)
{
#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(the_first_matching_rule_answers),
        WITH_FOLDER(files_lie_beside_the_script_and_gold_can_be_asked_for),
        WITH_FOLDER(served_calls_are_recorded_one_a_line),
        WITH_FOLDER(scripted_faults_fail_as_a_provider_would),
        WITH_FOLDER(a_bad_script_is_told_with_its_place)};
    return cmocka_run_group_tests_name("mock", tests, NULL, NULL);
}
