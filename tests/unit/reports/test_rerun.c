/* test_rerun - the command and the entrants that do a run again
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/json.h"
#include "common/scoped.h"
#include "reports/rerun.h"

#include <string.h>

static const run_row run = {
    .device = "cuda",
    .seed = 42,
    .samples = 3,
    .settings = "{\"suites\":[{\"name\":\"internal\"},{\"name\":\"mine\"}],"
                "\"only\":[{\"name\":\"add\"},{\"name\":\"it's\"}],\"limit\":2,\"target\":1.5,"
                "\"arch\":\"sm_80\",\"fake\":null,\"entrants\":[{\"name\":\"a b\","
                "\"models\":{\"codegen\":\"openai:x\",\"polish\":\"gold\"},"
                "\"budgets\":{\"codegen\":4},\"escalation\":\"openai:y\","
                "\"demands\":[{\"stage\":\"codegen\",\"effort\":\"high\",\"temperature\":0.5},"
                "{\"stage\":\"escalation\",\"api\":\"chat\"}]}]}"};

static void the_command_asks_the_same(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, 4096);
    rerun_command(&run, "e.json", &out);
    assert_string_equal(buf_text(&out),
                        "ce-coord eval --suite internal,mine --only 'add,it'\\''s' --entrants "
                        "e.json --samples 3 --seed 42 --device cuda --limit 2 --arch sm_80 "
                        "--target 1.5");
}

static void settings_that_cannot_be_read_are_left_out(void **state)
{
    (void)state;
    const run_row old = {.device = "emu", .seed = 1, .samples = 1, .settings = "nonsense"};
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, 4096);
    rerun_command(&old, "e.json", &out);
    assert_string_equal(buf_text(&out),
                        "ce-coord eval --entrants e.json --samples 1 --seed 1 --device emu");
}

static void a_validation_is_done_again_as_one(void **state)
{
    (void)state;
    run_row validation = run;
    validation.kind = RUN_VALIDATE;
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, 4096);
    rerun_command(&validation, "e.json", &out);
    assert_string_equal(buf_text(&out), "ce-coord suite validate --suite internal,mine --seed 42 "
                                        "--device cuda add 'it'\\''s'");
}

static void entrants_are_as_a_file_tells_them(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, 4096);
    rerun_entrants(&run, &out);
    SCOPED(json_destroy) json *got = json_parse_tree(buf_text(&out), out.size, "got", NULL);
    static const char want[] =
        "{\"entrants\":[{\"name\":\"a b\",\"stages\":{\"codegen\":{\"model\":\"openai:x\","
        "\"effort\":\"high\",\"sampling\":{\"temperature\":0.5}},\"polish\":{\"model\":\"gold\"}},"
        "\"budgets\":{\"codegen\":4},\"escalation\":{\"model\":\"openai:y\",\"api\":\"chat\"}}]}";
    SCOPED(json_destroy) json *wanted = json_parse_tree(want, strlen(want), "want", NULL);
    assert_true(json_equal(got, wanted));
}

static void words_are_quoted_for_a_shell(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"plain-1.0_x", "plain-1.0_x"},
                                           {"", "''"},
                                           {"a b", "'a b'"},
                                           {"$(rm)", "'$(rm)'"},
                                           {"'", "''\\'''"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, 256);
        rerun_quote(&out, cases[i][0]);
        assert_string_equal(buf_text(&out), cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_asks_the_same),
        cmocka_unit_test(settings_that_cannot_be_read_are_left_out),
        cmocka_unit_test(a_validation_is_done_again_as_one),
        cmocka_unit_test(entrants_are_as_a_file_tells_them),
        cmocka_unit_test(words_are_quoted_for_a_shell),
    };
    return cmocka_run_group_tests_name("rerun", tests, NULL, NULL);
}
