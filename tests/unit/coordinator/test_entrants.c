/* test_entrants - who competes, from the command line and from a file
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/entrants.h"

#define UNSET ((double)NAN)

static int make_file(const char *text, settings *out, err *e)
{
    char path[] = "/tmp/ce-entrants-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(file_write(path, text, strlen(text), e), 0);
    const entrants_wanted wanted = {.file = path, .temperature = UNSET};
    *out = (settings){.out = NULL};
    *e = (err){0};
    int rc = entrants_make(&wanted, out, e);
    unlink(path);
    return rc;
}

static int make(const entrants_wanted *wanted, settings *out, err *e)
{
    *out = (settings){.out = NULL};
    *e = (err){0};
    return entrants_make(wanted, out, e);
}

static const spec_demand *demand(const settings_entrant *entrant, const char *stage)
{
    return spec_demand_of(entrant->demands, entrant->demand_count, stage);
}

static void a_model_id_is_an_entrant_of_its_name(void **state)
{
    (void)state;
    static const char *const models[] = {"gold", "claude-opus-5-5"};
    const entrants_wanted wanted = {.models = models, .model_count = 2, .temperature = UNSET};
    SCOPED(settings_fini) settings s;
    err e;
    assert_int_equal(make(&wanted, &s, &e), 0);
    assert_int_equal(s.entrant_count, 2);
    assert_string_equal(s.entrants[1].name, "claude-opus-5-5");
    for (int i = 0; i < SPEC_STAGES; i++) {
        assert_string_equal(s.entrants[1].models[i], "claude-opus-5-5");
    }
    assert_int_equal(s.entrants[0].budgets[STAGE_CODEGEN], 3);
    assert_int_equal(s.entrants[1].demand_count, 0);
    assert_null(s.entrants[1].escalation);
}

static void options_are_about_models_that_are_asked(void **state)
{
    (void)state;
    static const char *const models[] = {"gold", "openai:gpt-6.1-terra"};
    static const char *const stages[] = {"polish=groq:llama-3", "codegen=gold"};
    const entrants_wanted wanted = {.models = models,
                                    .model_count = 2,
                                    .stages = stages,
                                    .stage_count = 2,
                                    .effort = "none",
                                    .temperature = 0.5,
                                    .escalate = "openai:gpt-5.6-sol"};
    SCOPED(settings_fini) settings s;
    err e;
    if (make(&wanted, &s, &e) != 0) {
        fail_msg("%s", e.text);
    }
    const settings_entrant *asked = &s.entrants[1];
    assert_string_equal(s.entrants[0].name, "gold");
    assert_string_equal(asked->name, "openai:gpt-6.1-terra effort=none temperature=0.5");
    assert_string_equal(asked->models[STAGE_POLISH],
                        "compat:llama-3@https://api.groq.com/openai/v1");
    assert_string_equal(demand(asked, "interview")->effort, "none");
    assert_true(demand(asked, "polish")->temperature == 0.5);
    assert_null(demand(asked, "codegen"));
    assert_string_equal(asked->escalation, "openai:gpt-5.6-sol");
    assert_string_equal(demand(asked, SPEC_ESCALATION)->effort, "none");
    assert_int_equal(settings_calls(asked, STAGE_CODEGEN), 4);
    assert_int_equal(settings_calls(asked, STAGE_POLISH), 1);
    SCOPED(scoped_free) char *shown = settings_models(asked);
    assert_non_null(
        strstr(shown, "\"interview\":\"openai:gpt-6.1-terra effort=none temperature=0.5\""));
    assert_non_null(
        strstr(shown, "\"escalation\":\"openai:gpt-5.6-sol effort=none temperature=0.5\""));
}

static void the_command_line_may_be_wrong(void **state)
{
    (void)state;
    static const char *const gold[] = {"gold", "gold"}, *const nobody[] = {"nobody:x"},
                             *const script[] = {"mock:/nowhere.json"},
                             *const sol[] = {"openai:gpt-6.2-sol"}, *const bad[] = {"polish"},
                             *const odd[] = {"dance=gold"};
    const struct {
        entrants_wanted wanted;
        const char *text;
    } rows[] = {
        {{.models = gold, .model_count = 2, .temperature = UNSET}, "given twice"},
        {{.models = nobody, .model_count = 1, .temperature = UNSET}, "unknown provider"},
        {{.models = script, .model_count = 1, .temperature = UNSET}, "/nowhere.json"},
        {{.models = sol, .model_count = 1, .temperature = 0.5}, "refuses temperature"},
        {{.models = sol, .model_count = 1, .effort = "lots", .temperature = UNSET},
         "does not take effort 'lots'"},
        {{.models = sol, .model_count = 1, .stages = bad, .stage_count = 1, .temperature = UNSET},
         "write STAGE=P:M"},
        {{.models = sol, .model_count = 1, .stages = odd, .stage_count = 1, .temperature = UNSET},
         "write STAGE=P:M"},
        {{.models = gold, .model_count = 1, .escalate = "replay:x", .temperature = UNSET},
         "a recording cannot be the escalation"},
        {{.file = CE_SOURCE_DIR "/docs/examples/entrants.yaml",
          .effort = "high",
          .temperature = UNSET},
         "are about --model-id"},
        {{.file = "/nowhere.yaml", .temperature = UNSET}, "/nowhere.yaml"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(settings_fini) settings s;
        err e;
        assert_int_equal(make(&rows[i].wanted, &s, &e), -1);
        assert_int_equal(cmd_exit_of(&e), CMD_EXIT_USAGE);
        if (strstr(e.text, rows[i].text) == NULL) {
            fail_msg("%s: %s", rows[i].text, e.text);
        }
    }
}

static void the_example_is_read_as_it_says(void **state)
{
    (void)state;
    const entrants_wanted wanted = {.file = CE_SOURCE_DIR "/docs/examples/entrants.yaml",
                                    .temperature = UNSET};
    SCOPED(settings_fini) settings s;
    err e;
    if (make(&wanted, &s, &e) != 0) {
        fail_msg("%s", e.text);
    }
    assert_int_equal(s.entrant_count, 3);
    const settings_entrant *sol = &s.entrants[0], *sonnet = &s.entrants[1], *own = &s.entrants[2];
    assert_string_equal(sol->name, "sol, thinking hard");
    assert_string_equal(sol->models[STAGE_CODEGEN], "openai:gpt-6.2-sol");
    assert_string_equal(demand(sol, "codegen")->effort, "max");
    assert_string_equal(demand(sol, "performance")->effort, "high");
    assert_string_equal(sol->models[STAGE_POLISH], "claude-haiku-5-5");
    assert_null(demand(sol, "polish"));
    assert_int_equal(sol->budgets[STAGE_CODEGEN], 4);
    assert_int_equal(sol->budgets[STAGE_PERFORMANCE], 2);
    assert_int_equal(sol->budgets[STAGE_INTERVIEW], 2);
    assert_string_equal(sol->escalation, "openai:gpt-6.2-astra");
    assert_string_equal(demand(sol, SPEC_ESCALATION)->effort, "xhigh");
    assert_true(demand(sonnet, "polish")->temperature == 0.0);
    assert_string_equal(own->models[0], "compat:qwen3-coder@https://gpu7.example/v1");
    assert_string_equal(demand(own, "interview")->key, "LAB");
    assert_true(demand(own, "interview")->top_p == 0.9);
    /* As a run keeps it. */
    s.device = xstrdup("fake");
    SCOPED(scoped_free) char *text = settings_write(&s);
    SCOPED(settings_fini) settings read;
    assert_int_equal(settings_read(text, strlen(text), &read, &e), 0);
    SCOPED(scoped_free) char *again = settings_write(&read);
    assert_string_equal(text, again);
}

static void the_file_may_be_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *complaint;
    } rows[] = {
        {"entrants: []\n", "names no entrant"},
        {"contestants: []\n", ":1: /contestants: unknown key"},
        {"entrants:\n  - model: gold\n", ":2: /entrants/0: \"name\" is missing"},
        {"entrants:\n  - name: a\n", ":2: /entrants/0: \"model\" is missing"},
        {"entrants:\n  - {name: a, model: gold}\n  - {name: a, model: gold}\n",
         ":3: /entrants/1/name: entrant a is given twice"},
        {"entrants:\n  - {name: 'a|b', model: gold}\n", "/entrants/0/name: a name has"},
        {"entrants:\n  - {name: a, model: gold, efort: high}\n",
         "/entrants/0/efort: unknown key (did you mean \"effort\"?)"},
        {"entrants:\n  - {name: a, model: gold, effort: high}\n", "takes no effort"},
        {"entrants:\n  - name: a\n    model: openai:gpt-4o\n    stages:\n      polish:\n"
         "        effort: max\n",
         ":6: /entrants/0/stages/polish: openai:gpt-4o has no effort setting"},
        {"entrants:\n  - {name: a, model: gold, stages: {dance: gold}}\n",
         "/entrants/0/stages/dance"},
        {"entrants:\n  - {name: a, model: 'compat:m@http://h/v1', sampling: {temperature: 3}}\n",
         "/sampling/temperature: want a number from 0 to 2"},
        {"entrants:\n  - {name: a, model: 'compat:m@http://h/v1', sampling: {top_p: -1}}\n",
         "/sampling/top_p: want a number from 0 to 1"},
        {"entrants:\n  - {name: a, model: gold, budgets: {codegen: 13}}\n",
         "/entrants/0/budgets/codegen"},
        {"entrants:\n  - {name: a, model: gold, escalation: {effort: high}}\n",
         "/entrants/0/escalation: \"model\" is missing"},
        {"endpoints: {openai: {url: 'https://h/v1'}}\n", "openai is a provider already"},
        {"endpoints: {'my lab': {url: 'https://h/v1'}}\n", "a server's name has small letters"},
        {"endpoints: {lab: {url: 'ftp://h/v1'}}\n", "/endpoints/lab: "},
        {"endpoints: {lab: {url: 'https://h/v1', key: PATH=}}\n", "is no name of a key"},
        {"endpoints: {lab: {}}\n", "/endpoints/lab: \"url\" is missing"},
        {"entrants:\n  - {name: a, model: 'lab:x'}\n", "unknown provider"},
        {"entrants: 7\n", "/entrants: expected an array"},
        {"entrants:\n  - {name: a, model: ''}\n", "/entrants/0/model: is empty"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(settings_fini) settings s;
        err e;
        assert_int_equal(make_file(rows[i].text, &s, &e), -1);
        assert_int_equal(cmd_exit_of(&e), CMD_EXIT_USAGE);
        if (strstr(e.text, rows[i].complaint) == NULL) {
            fail_msg("%s: %s", rows[i].complaint, e.text);
        }
    }
}

static void a_file_may_move_a_known_server(void **state)
{
    (void)state;
    SCOPED(settings_fini) settings s;
    err e;
    assert_int_equal(make_file("endpoints: {ollama: {url: 'http://gpu7:11434/v1'}}\n"
                               "entrants:\n  - {name: a, model: 'ollama:llama3:8b'}\n",
                               &s, &e),
                     0);
    assert_string_equal(s.entrants[0].models[0], "compat:llama3:8b@http://gpu7:11434/v1");
    assert_int_equal(s.entrants[0].demand_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_id_is_an_entrant_of_its_name),
        cmocka_unit_test(options_are_about_models_that_are_asked),
        cmocka_unit_test(the_command_line_may_be_wrong),
        cmocka_unit_test(the_example_is_read_as_it_says),
        cmocka_unit_test(the_file_may_be_wrong),
        cmocka_unit_test(a_file_may_move_a_known_server),
    };
    return cmocka_run_group_tests_name("coordinator/entrants", tests, NULL, NULL);
}
