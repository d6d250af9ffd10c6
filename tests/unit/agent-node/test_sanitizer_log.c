/* test_sanitizer_log - findings, clean runs, and everything that must not read as clean
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/sanitizer_log.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

static sanitizer_log read_text(const char *tool, const char *text)
{
    sanitizer_log log;
    sanitizer_log_read(tool, text, strlen(text), &log);
    return log;
}

static sanitizer_log read_sample(const char *tool, const char *name)
{
    err e = {0};
    SCOPED(buf_fini) buf text;
    SCOPED(scoped_free)
    char *path = xasprintf("%s/tests/fuzz/corpus/sanitizer_log/%s", CE_SOURCE_DIR, name);
    buf_init(&text, 64 * 1024);
    if (file_read(path, &text, &e) != 0)
        fail_msg("%s", e.text);
    return read_text(tool, buf_text(&text));
}

static void a_finding_is_an_outcome_that_says_where(void **state)
{
    (void)state;
    static const struct {
        const char *sample, *tool;
        outcome result;
        const char *detail, *parts[3];
    } rows[] = {
        {"memcheck_oob",
         "memcheck",
         OUTCOME_OUT_OF_BOUNDS,
         "write",
         {"memcheck: Invalid __global__ write of size 4 bytes", "kernel.cu:6", "1 bytes after"}},
        {"memcheck_misaligned",
         "memcheck",
         OUTCOME_OUT_OF_BOUNDS,
         "misaligned",
         {"Invalid __global__ read", "thread (65,0,0)", "is misaligned"}},
        {"initcheck",
         "initcheck",
         OUTCOME_UNINITIALISED,
         "",
         {"initcheck: Uninitialized __global__ memory read", "kernel.cu:41", "block (1,0,0)"}},
        {"racecheck",
         "racecheck",
         OUTCOME_RACE,
         "shared",
         {"racecheck: Error: Race reported", "kernel.cu:41", "kernel.cu:51"}},
        {"synccheck",
         "synccheck",
         OUTCOME_RACE,
         "barrier",
         {"synccheck: Barrier error detected", "kernel.cu:12", "thread (128,0,0)"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sanitizer_log log = read_sample(rows[i].tool, rows[i].sample);
        assert_int_equal(log.state, SANITIZER_LOG_FINDING);
        assert_int_equal(log.verdict.result, rows[i].result);
        assert_string_equal(log.verdict.detail, rows[i].detail);
        for (size_t k = 0; k < 3; k++)
            if (strstr(log.verdict.text, rows[i].parts[k]) == NULL)
                fail_msg("no '%s' in: %s", rows[i].parts[k], log.verdict.text);
    }
}

static void a_summary_of_zero_is_clean_and_warnings_are_no_finding(void **state)
{
    (void)state;
    static const char *const samples[] = {"clean", "clean_race", "racecheck_warnings"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        assert_int_equal(read_sample("racecheck", samples[i]).state, SANITIZER_LOG_CLEAN);
    sanitizer_log log =
        read_text("memcheck", "the program's own words\n========= COMPUTE-SANITIZER\n"
                              "ERROR SUMMARY: 7 errors\r\n"
                              "========= ERROR SUMMARY: 0 errors\r\n");
    assert_int_equal(log.state, SANITIZER_LOG_CLEAN);
}

static void what_did_not_look_is_not_clean(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "without a summary"},
        {"========= COMPUTE-SANITIZER\n", "without a summary"},
        {"unrecognised option '--padding'\n", "without a summary"},
        {"========= ERROR SUMMARY: many errors\n", "without a summary"},
        {"========= ERROR SUMMARY: 2 errors\n", "2 findings that ce cannot read"},
        {"========= Lane user stack overflow\n========= ERROR SUMMARY: 1 error\n",
         "cannot read: Lane user stack overflow"},
        {"========= Internal Sanitizer Error: x\n========= ERROR SUMMARY: 0 errors\n", "Internal"},
        {"========= RACECHECK SUMMARY: 0 hazards\n", "without a summary"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sanitizer_log log = read_text("memcheck", rows[i].text);
        assert_int_equal(log.state, SANITIZER_LOG_UNUSABLE);
        if (strstr(log.why, rows[i].why) == NULL)
            fail_msg("no '%s' in: %s", rows[i].why, log.why);
    }
    sanitizer_log refused = read_sample("memcheck", "not_supported");
    assert_int_equal(refused.state, SANITIZER_LOG_UNUSABLE);
    assert_non_null(strstr(refused.why, "Device not supported"));
    assert_int_equal(read_sample("memcheck", "never_attached").state, SANITIZER_LOG_UNUSABLE);
}

static void the_first_finding_stands_and_its_text_is_one_printable_line(void **state)
{
    (void)state;
    sanitizer_log log =
        read_text("memcheck", "========= Invalid __shared__ atomic of size 4 bytes\n"
                              "=========     at na\xc3\xafve\x01+0x10\n"
                              "=========\n=========     at another\n"
                              "========= Invalid __global__ read of size 8 bytes\n"
                              "=========     Access to 0x1 is misaligned\n");
    assert_int_equal(log.state,
                     SANITIZER_LOG_FINDING); /* the summary is lost, the finding is not */
    assert_string_equal(log.verdict.detail, "write");
    assert_string_equal(log.verdict.text,
                        "memcheck: Invalid __shared__ atomic of size 4 bytes, at na  ve +0x10");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_is_an_outcome_that_says_where),
        cmocka_unit_test(a_summary_of_zero_is_clean_and_warnings_are_no_finding),
        cmocka_unit_test(what_did_not_look_is_not_clean),
        cmocka_unit_test(the_first_finding_stands_and_its_text_is_one_printable_line),
    };
    return cmocka_run_group_tests_name("sanitizer_log", tests, NULL, NULL);
}
