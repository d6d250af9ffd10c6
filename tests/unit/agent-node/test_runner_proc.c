/* test_runner_proc - a real runner process in every kind of trouble
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent-node/runner_proc.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "mock_rig.h"

enum { ELEMENTS = 513, SALT = 3 };

static const char binary[] = CE_BINARY_DIR "/bin/ce-runner";

typedef struct rig {
    char folder[64];
    char *script; /* path of the fake script */
    contract *terms;
    contract_shape shape;
} rig;

static int set_up(void **state)
{
    rig *r = xcalloc(1, sizeof *r);
    snprintf(r->folder, sizeof r->folder, "/tmp/ce-runner-test-XXXXXX");
    if (mkdtemp(r->folder) == NULL)
        return -1;
    r->script = file_join(r->folder, "fake.json");
    r->terms = mock_rig_terms();
    r->shape.dims[0] = ELEMENTS;
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    rig *r = *state;
    contract_destroy(&r->terms);
    file_remove_tree(r->folder, NULL);
    free(r->script);
    free(r);
    return 0;
}

static runner_proc *start(const runner_options *o)
{
    err e = {0};
    runner_proc *p = runner_proc_start(o, &e);
    if (p == NULL)
        fail_msg("start: %s", e.text);
    return p;
}

static runner_proc *start_fake(rig *r, const char *script)
{
    runner_options o = {.binary = binary, .device = "fake", .problem = "add"};
    if (script != NULL) {
        assert_int_equal(file_write(r->script, script, strlen(script), NULL), 0);
        o.fake_script = r->script;
    }
    return start(&o);
}

static runner_verdict load(runner_proc *p, const char *entry)
{
    err e = {0};
    runner_verdict v = {0};
    SCOPED(scoped_free) char *text = mock_rig_plan(entry);
    runner_candidate c = {
        .cubin = "MOCK", .cubin_size = 5, .contract = mock_rig_contract, .plan = text};
    if (runner_proc_load(p, &c, &v, &e) < 0)
        fail_msg("load: %s", e.text);
    return v;
}

static int try_check(rig *r, runner_proc *p, int64_t deadline_ms, runner_verdict *v, err *e)
{
    runner_check c = {
        .terms = r->terms, .shape = &r->shape, .salt = SALT, .deadline_ms = deadline_ms};
    return runner_proc_check(p, &c, v, e);
}

static runner_verdict check(rig *r, runner_proc *p, int64_t deadline_ms)
{
    err e = {0};
    runner_verdict v = {0};
    if (try_check(r, p, deadline_ms, &v, &e) < 0)
        fail_msg("check: %s", e.text);
    return v;
}

/* ---- scripted ---- */

static const runner_block fifty = {.samples = 50, .keep = -1, .deadline_ms = 1000};

static runner_arm arm_request(const rig *r, int64_t slots)
{
    return (runner_arm){
        .terms = r->terms, .shape = &r->shape, .slots = slots, .salt = SALT, .deadline_ms = 1000};
}

static void without_a_script_all_is_well(void **state)
{
    rig *r = *state;
    err e = {0};
    SCOPED(runner_proc_destroy) runner_proc *p = start_fake(r, NULL);
    const runner_facts *f = runner_proc_facts(p);
    assert_string_equal(f->kind, "fake");
    assert_string_equal(f->arch, "sm_90a");
    assert_int_equal(f->sm_count, 132);
    assert_int_equal(load(p, "add").result, OUTCOME_OK);
    for (int i = 0; i < 3; i++) {
        runner_verdict v = check(r, p, 1000);
        assert_int_equal(v.result, OUTCOME_OK);
        assert_int_equal(v.elapsed_us, 10);
    }
    SCOPED(runner_timing_fini) runner_timing t = {0};
    runner_arm request = arm_request(r, 4);
    assert_int_equal(runner_proc_arm(p, &request, &t, &e), 0);
    assert_int_equal(t.verdict.result, OUTCOME_OK);
    assert_true(t.event_floor_ms > 0);
    assert_null(t.samples);
    runner_timing_fini(&t);
    assert_int_equal(runner_proc_block(p, &fifty, &t, &e), 0);
    assert_int_equal(t.verdict.result, OUTCOME_OK);
    assert_int_equal(t.sample_count, 50);
    assert_true(t.samples[49] > 0.0099 && t.samples[49] < 0.0101);
    assert_true(t.event_ms > 0.49 && t.event_ms <= t.host_ms);
    runner_verdict v = {0};
    assert_int_equal(runner_proc_disarm(p, &v, &e), 0);
    assert_int_equal(v.result, OUTCOME_OK);
    assert_int_equal(runner_proc_disarm(p, &v, &e), -1); /* nothing is armed any more */
    assert_int_equal(e.code, ERR_PROTOCOL);
}

static void a_scripted_outcome_comes_through_and_ends_the_runner(void **state)
{
    rig *r = *state;
    err e = {0};
    runner_verdict v = {0};
    SCOPED(runner_proc_destroy)
    runner_proc *p = start_fake(
        r, "{\"problems\":{\"add\":{\"check\":{\"outcome\":\"out_of_bounds\",\"detail\":\"write\","
           "\"text\":\"wrote past y\"}}}}");
    assert_int_equal(load(p, "add").result, OUTCOME_OK);
    v = check(r, p, 1000);
    assert_int_equal(v.result, OUTCOME_OUT_OF_BOUNDS);
    assert_string_equal(v.detail, "write");
    assert_string_equal(v.text, "wrote past y");
    assert_int_equal(try_check(r, p, 1000, &v, &e), -1);
    assert_int_equal(e.code, ERR_INTERNAL);
}

static void a_plan_that_does_not_fit_is_plan_invalid(void **state)
{
    rig *r = *state;
    err e = {0};
    runner_verdict v = {0};
    SCOPED(runner_proc_destroy) runner_proc *p = start_fake(r, NULL);
    runner_candidate c = {.cubin = "MOCK",
                          .cubin_size = 5,
                          .contract = mock_rig_contract,
                          .plan = "{\"kernels\":[{\"entry\":\"add\"}]}"};
    assert_int_equal(runner_proc_load(p, &c, &v, &e), 0);
    assert_int_equal(v.result, OUTCOME_PLAN_INVALID);
    assert_true(*v.detail == '/');
}

static void a_contract_that_is_none_is_our_fault(void **state)
{
    rig *r = *state;
    err e = {0};
    runner_verdict v = {0};
    SCOPED(runner_proc_destroy) runner_proc *p = start_fake(r, NULL);
    runner_candidate c = {.cubin = "MOCK", .cubin_size = 5, .contract = "{}", .plan = "{}"};
    assert_int_equal(runner_proc_load(p, &c, &v, &e), -1);
    assert_int_equal(e.code, ERR_CONFIG);
}

static void an_abort_in_the_candidates_turn_is_crashed(void **state)
{
    rig *r = *state;
    SCOPED(runner_proc_destroy) runner_proc *p = start_fake(r, "{\"default\":{\"crash\":true}}");
    assert_int_equal(load(p, "add").result, OUTCOME_OK);
    runner_verdict v = check(r, p, 1000);
    assert_int_equal(v.result, OUTCOME_CRASHED);
    assert_non_null(strstr(v.text, "SIGABRT"));
}

static void silence_in_the_candidates_turn_is_hung_and_killed(void **state)
{
    rig *r = *state;
    SCOPED(runner_proc_destroy) runner_proc *p = start_fake(r, "{\"default\":{\"hang\":true}}");
    assert_int_equal(load(p, "add").result, OUTCOME_OK);
    int64_t begin = clock_mono_ms();
    runner_verdict v = check(r, p, 300);
    int64_t took = clock_mono_ms() - begin;
    assert_int_equal(v.result, OUTCOME_HUNG);
    assert_true(took >= 300 && took < 8000);
}

static void a_malformed_script_is_told_with_its_place(void **state)
{
    rig *r = *state;
    err e = {0};
    static const char script[] = "{\"default\":{\"check\":{\"outcome\":\"fine\"}}}";
    assert_int_equal(file_write(r->script, script, strlen(script), NULL), 0);
    runner_options o = {.binary = binary, .device = "fake", .fake_script = r->script};
    assert_null(runner_proc_start(&o, &e));
    assert_int_equal(e.code, ERR_CONFIG);
    assert_non_null(strstr(e.text, "fake.json"));
    assert_non_null(strstr(e.text, "/default/check/outcome"));
}

/* ---- processes that are no runner ---- */

static void expect_no_start(rig *r, const char *body, err_code code)
{
    err e = {0};
    SCOPED(scoped_free) char *path = file_join(r->folder, "runner.sh");
    SCOPED(scoped_free) char *text = xasprintf("#!/bin/sh\n%s\n", body);
    assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
    assert_int_equal(chmod(path, 0755), 0);
    runner_options o = {.binary = path, .device = "fake"};
    runner_proc *p = runner_proc_start(&o, &e);
    assert_null(p);
    if (e.code != code)
        fail_msg("\"%s\": %s, not %s: %s", body, err_code_name(e.code), err_code_name(code),
                 e.text);
}

static void garbage_is_a_protocol_error(void **state)
{
    rig *r = *state;
    expect_no_start(r, "printf 'GET / HTTP/1.1\\r\\n\\r\\n' >&3; sleep 5", ERR_PROTOCOL);
    expect_no_start(r, "printf '\\000\\000\\000\\004abcd' >&3; sleep 5", ERR_PROTOCOL);
}

static void an_early_death_is_an_error_that_quotes_the_last_words(void **state)
{
    rig *r = *state;
    err e = {0};
    expect_no_start(r, "exit 3", ERR_SYSTEM);
    expect_no_start(r, "kill -SEGV $$", ERR_SYSTEM); /* nobody's candidate has run */
    SCOPED(scoped_free) char *path = file_join(r->folder, "runner.sh");
    static const char text[] = "#!/bin/sh\necho 'the driver is on fire' >&2\nexit 3\n";
    assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
    assert_int_equal(chmod(path, 0755), 0);
    runner_options o = {.binary = path, .device = "fake"};
    assert_null(runner_proc_start(&o, &e));
    assert_non_null(strstr(e.text, "exited with 3"));
    assert_non_null(strstr(e.text, "the driver is on fire"));
    assert_true(e.retry);
}

static void an_absent_binary_is_not_found(void **state)
{
    rig *r = *state;
    (void)r;
    err e = {0};
    runner_options o = {.binary = "/nonexistent/ce-runner", .device = "fake"};
    assert_null(runner_proc_start(&o, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

static void an_absent_device_is_unavailable(void **state)
{
    (void)state;
    err e = {0};
    runner_options o = {.binary = binary, .device = "cuda:7"};
    assert_null(runner_proc_start(&o, &e));
    assert_int_equal(e.code, ERR_UNAVAILABLE);
}

/* ---- killed from outside ---- */

static pid_t only_child(void)
{
    char path[64];
    long pid = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld", &pid), 1);
    fclose(f);
    return (pid_t)pid;
}

static void a_runner_killed_by_somebody_else_is_an_error(void **state)
{
    rig *r = *state;
    err e = {0};
    runner_verdict v = {0};
    SCOPED(runner_proc_destroy) runner_proc *p = start_fake(r, NULL);
    assert_int_equal(load(p, "add").result, OUTCOME_OK);
    kill(only_child(), SIGKILL);
    assert_int_equal(try_check(r, p, 1000, &v, &e), -1);
    assert_non_null(strstr(e.text, "SIGKILL"));
    assert_true(e.retry);
}

/* as_parent starts a runner, tells its pid through the shared page and dies without a word. */
static void as_parent(volatile pid_t *told)
{
    runner_options o = {.binary = binary, .device = "fake"};
    runner_proc *p = runner_proc_start(&o, NULL);
    *told = p != NULL ? only_child() : -1;
    raise(SIGKILL);
}

static bool is_gone(pid_t pid)
{
    char path[64];
    char line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return true;
    bool dead = fgets(line, sizeof line, f) == NULL || strstr(line, ") Z ") != NULL;
    fclose(f);
    return dead;
}

static void a_runner_dies_with_its_parent(void **state)
{
    (void)state;
    pid_t *told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    pid_t parent = fork();
    if (parent == 0)
        as_parent(told);
    int status = 0;
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_true(WIFSIGNALED(status));
    assert_true(*told > 0);
    int64_t end = clock_mono_ms() + 10000;
    while (!is_gone(*told) && clock_mono_ms() < end)
        usleep(2000);
    assert_true(is_gone(*told));
    munmap(told, 4096);
}

/* ---- the whole way on the mock driver ---- */

static void the_cuda_device_answers_through_the_process(void **state)
{
    rig *r = *state;
    err e = {0};
    runner_verdict v = {0};
    runner_options o = {.binary = binary, .device = "cuda:0"};
    SCOPED(runner_proc_destroy) runner_proc *p = start(&o);
    assert_string_equal(runner_proc_facts(p)->name, "mock GPU");
    assert_int_equal(load(p, "add").result, OUTCOME_OK);
    assert_int_equal(try_check(r, p, 1000, &v, &e), -1); /* no staging was given */
    assert_int_equal(e.code, ERR_PROTOCOL);
}

static void a_death_while_timed_is_an_outcome_too(void **state)
{
    rig *r = *state;
    err e = {0};
    SCOPED(runner_timing_fini) runner_timing t = {0};
    SCOPED(runner_proc_destroy)
    runner_proc *p = start_fake(r, "{\"default\":{\"time\":{\"crash\":true}}}");
    runner_arm request = arm_request(r, 2);
    assert_int_equal(load(p, "add").result, OUTCOME_OK);
    assert_int_equal(runner_proc_arm(p, &request, &t, &e), 0);
    runner_timing_fini(&t);
    assert_int_equal(runner_proc_block(p, &fifty, &t, &e), 0);
    assert_int_equal(t.verdict.result, OUTCOME_CRASHED);
    assert_null(t.samples);
}

static void staging_with_too_few_sets_is_our_fault(void **state)
{
    rig *r = *state;
    err e = {0};
    SCOPED(runner_timing_fini) runner_timing t = {0};
    SCOPED(runner_proc_destroy) runner_proc *p = start_fake(r, NULL);
    judge_span inputs[2] = {{0, 0}, {0, 0}};
    judge_span outputs[1] = {{0, 0}};
    judge_staging staging = {
        .inputs = inputs, .input_count = 2, .outputs = outputs, .output_count = 1};
    runner_arm request = arm_request(r, 2);
    request.staging = &staging;
    assert_int_equal(load(p, "add").result, OUTCOME_OK);
    assert_int_equal(runner_proc_arm(p, &request, &t, &e), -1);
    assert_int_equal(e.code, ERR_INTERNAL);
}

int main(int argc, char **argv)
{
    (void)argc;
    mock_rig_enter(argv);
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(without_a_script_all_is_well),
        CASE(a_scripted_outcome_comes_through_and_ends_the_runner),
        CASE(a_plan_that_does_not_fit_is_plan_invalid),
        CASE(a_contract_that_is_none_is_our_fault),
        CASE(an_abort_in_the_candidates_turn_is_crashed),
        CASE(silence_in_the_candidates_turn_is_hung_and_killed),
        CASE(a_malformed_script_is_told_with_its_place),
        CASE(garbage_is_a_protocol_error),
        CASE(an_early_death_is_an_error_that_quotes_the_last_words),
        CASE(an_absent_binary_is_not_found),
        CASE(an_absent_device_is_unavailable),
        CASE(a_runner_killed_by_somebody_else_is_an_error),
        CASE(a_runner_dies_with_its_parent),
        CASE(the_cuda_device_answers_through_the_process),
        CASE(a_death_while_timed_is_an_outcome_too),
        CASE(staging_with_too_few_sets_is_our_fault),
    };
    return cmocka_run_group_tests_name("runner_proc", tests, NULL, NULL);
}
