/* test_judge_process - a child that answers, is late, babbles or dies
 *
 * The "interpreter" is /bin/sh and the script plays the part: what is tested is the client.
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/judge_process.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"

static char script_path[] = "/tmp/ce-test-process-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(script_path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(script_path);
}

static judge_process *start(const char *script)
{
    assert_int_equal(file_write(script_path, script, strlen(script), NULL), 0);
    judge_process_options options = {.python = "/bin/sh",
                                     .script = script_path,
                                     .device = "cpu",
                                     .timing_lib = "none",
                                     .cache_dir = "/tmp"};
    err e = {0};
    judge_process *self = judge_process_start(&options, &e);
    if (self == NULL)
        fail_msg("%s", e.text);
    return self;
}

static json_doc *ask(judge_process *self, int64_t deadline_ms, err *e)
{
    json *request = json_new_object();
    json_set_str(request, "op", "test");
    json_doc *reply = judge_process_ask(self, &request, deadline_ms, e);
    assert_null(request);
    return reply;
}

static void questions_are_answered_one_after_the_other(void **state)
{
    (void)state;
    SCOPED(judge_process_destroy)
    judge_process *self = start("n=0; while read line <&3; do n=$((n+1)); echo noise >&2; "
                                "echo \"{\\\"id\\\":$n,\\\"ok\\\":true,\\\"n\\\":$n}\" >&3; done");
    for (int i = 1; i <= 3; i++) {
        SCOPED(json_doc_destroy) json_doc *reply = ask(self, 20000, NULL);
        assert_non_null(reply);
        assert_int_equal(json_int(json_get(json_doc_root(reply), "n"), 0), i);
    }
    assert_true(judge_process_alive(self));
}

static void a_refusal_becomes_an_err_and_may_end_the_process(void **state)
{
    (void)state;
    static const struct {
        const char *reply;
        err_code code;
        bool retry, alive;
        const char *text;
    } rows[] = {
        {"\"code\":\"config\",\"text\":\"r.py:3: bad\"", ERR_CONFIG, false, true, "r.py:3: bad"},
        {"\"code\":\"gpu\",\"text\":\"out of memory\",\"restart\":true", ERR_GPU, true, false,
         "judge: out of memory"},
        {"\"code\":\"unavailable\",\"text\":\"no CUDA\"", ERR_UNAVAILABLE, false, true,
         "judge: no CUDA"},
        {"\"code\":\"surprise\",\"text\":\"?\"", ERR_INTERNAL, false, true, "judge: ?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char script[256];
        snprintf(script, sizeof script,
                 "read line <&3; echo '{\"id\":1,\"ok\":false,%s}' >&3; read line <&3",
                 rows[i].reply);
        SCOPED(judge_process_destroy) judge_process *self = start(script);
        err e = {0};
        assert_null(ask(self, 20000, &e));
        assert_int_equal(e.code, rows[i].code);
        assert_int_equal(e.retry, rows[i].retry);
        assert_int_equal(judge_process_alive(self), rows[i].alive);
        assert_string_equal(e.text, rows[i].text);
    }
}

static void a_death_is_told_with_its_last_words_and_may_be_retried(void **state)
{
    (void)state;
    static const struct {
        const char *script, *text;
    } rows[] = {
        {"exit 3", "judge: the Python process exited with 3"},
        {"read line <&3; echo first >&2; echo ImportError: torch >&2; exit 1",
         "judge: the Python process exited with 1: ImportError: torch"},
        {"read line <&3; kill -9 $$", "judge: the Python process was killed by SIGKILL"},
        {"read line <&3; printf '{\"id\":1,' >&3; exit 0", "judge: the Python process exited"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SCOPED(judge_process_destroy) judge_process *self = start(rows[i].script);
        err e = {0};
        assert_null(ask(self, 20000, &e));
        assert_int_equal(e.code, ERR_UNAVAILABLE);
        assert_true(e.retry);
        assert_false(judge_process_alive(self));
        if (strncmp(e.text, rows[i].text, strlen(rows[i].text)) != 0)
            fail_msg("expected: %s\n     got: %s", rows[i].text, e.text);
    }
}

static void a_deadline_kills_the_process(void **state)
{
    (void)state;
    SCOPED(judge_process_destroy) judge_process *self = start("read line <&3; read line <&3");
    err e = {0};
    int64_t before = clock_mono_ms();
    assert_null(ask(self, 150, &e));
    assert_true(clock_mono_ms() - before >= 150);
    assert_int_equal(e.code, ERR_TIMEOUT);
    assert_true(e.retry);
    assert_string_equal(e.text, "judge: no answer within 150 ms");
    assert_false(judge_process_alive(self));
}

static void much_noise_on_stderr_does_not_block(void **state)
{
    (void)state;
    SCOPED(judge_process_destroy)
    judge_process *self = start("read line <&3; i=0; while [ $i -lt 20000 ]; do echo "
                                "0123456789012345678901234567890123456789 >&2; i=$((i+1)); done; "
                                "echo '{\"id\":1,\"ok\":true}' >&3; read line <&3");
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, 60000, NULL);
    assert_non_null(reply);
}

static void a_closed_stderr_is_no_death(void **state)
{
    (void)state;
    SCOPED(judge_process_destroy)
    judge_process *self = start("exec 2>&-; exec 1>&-; read line <&3; sleep 0.3; "
                                "echo '{\"id\":1,\"ok\":true}' >&3; read line <&3");
    SCOPED(json_doc_destroy) json_doc *reply = ask(self, 20000, NULL);
    assert_non_null(reply);
}

static void an_answer_that_is_none_ends_the_process(void **state)
{
    (void)state;
    static const char *const lines[] = {"hello", "{\"id\":7,\"ok\":true}", "[]", "{\"ok\":true}",
                                        "{\"id\":1,\"ok\":NaN}"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char script[128];
        snprintf(script, sizeof script, "read line <&3; echo '%s' >&3; read line <&3", lines[i]);
        SCOPED(judge_process_destroy) judge_process *self = start(script);
        err e = {0};
        assert_null(ask(self, 20000, &e));
        assert_int_equal(e.code, ERR_PROTOCOL);
        assert_false(judge_process_alive(self));
    }
}

static void a_missing_interpreter_is_told(void **state)
{
    (void)state;
    err e = {0};
    judge_process_options options = {"/nowhere/python3", "x", "cpu", "none", "/tmp"};
    assert_null(judge_process_start(&options, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, "/nowhere/python3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_are_answered_one_after_the_other),
        cmocka_unit_test(a_refusal_becomes_an_err_and_may_end_the_process),
        cmocka_unit_test(a_death_is_told_with_its_last_words_and_may_be_retried),
        cmocka_unit_test(a_deadline_kills_the_process),
        cmocka_unit_test(much_noise_on_stderr_does_not_block),
        cmocka_unit_test(a_closed_stderr_is_no_death),
        cmocka_unit_test(an_answer_that_is_none_ends_the_process),
        cmocka_unit_test(a_missing_interpreter_is_told),
    };
    return cmocka_run_group_tests_name("judge_process", tests, make_file, remove_file);
}
