/* test_judge_torch - the real Python judge on the CPU
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent-node/judge.h"
#include "agent-node/judge_torch.h"
#include "common/scoped.h"
#include "tests/unit/judge/contracts.h"
#include "suites/suite.h"
#include "suites/cases.h"

static const char python[] = "/usr/bin/python3";
static const char softmax[] = "import torch\n"
                              "def reference(x):\n"
                              "    return torch.softmax(x, dim=-1)\n";

static judge *start_with(int64_t deadline_ms)
{
    err e = {0};
    judge *self = judge_start(
        &(judge_options){.python = python, .device = "cpu", .deadline_ms = deadline_ms}, &e);
    if (self == NULL)
        fail_msg("%s", e.text);
    return self;
}

static void open_ok(judge *self, const contract *terms, const char *reference)
{
    err e = {0};
    if (judge_open(self, terms, reference, "suites/test/reference.py", &e) < 0)
        fail_msg("%s", e.text);
}

static judge_staging draw_ok(judge *self, const contract_shape *shape, int64_t slots)
{
    err e = {0};
    judge_staging staging = {0};
    judge_draw_request request = {shape, 42, "normal", slots};
    if (judge_draw(self, &request, &staging, &e) < 0)
        fail_msg("%s", e.text);
    return staging;
}

static char *map(const judge_staging *staging)
{
    int fd = shm_open(staging->shm, O_RDWR, 0);
    assert_true(fd >= 0);
    char *memory =
        mmap(NULL, (size_t)staging->total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

static void the_facts_tell_what_it_runs_on(void **state)
{
    const judge_facts *facts = judge_get_facts(*state);
    assert_string_equal(facts->device, "cpu");
    assert_true(facts->simulated);
    assert_true(strlen(facts->torch) > 0);
    assert_int_equal(facts->l2_bytes, 0);
}

static void the_contract_of_a_good_reference_holds(void **state)
{
    SCOPED(contract_destroy) contract *terms = contract_of("softmax", "f16");
    SCOPED(judge_contract_report_fini) judge_contract_report report = {0};
    err e = {0};
    open_ok(*state, terms, softmax);
    if (judge_contract(*state, &report, &e) < 0)
        fail_msg("%s", e.text);
    SCOPED(cases_fini) cases all = {0};
    cases_build(terms, true, &all);
    size_t fresh = 0;
    for (size_t i = 0; i < all.count; i++)
        fresh += !all.shapes[i].again;
    assert_true(fresh > 5);
    assert_int_equal(report.shapes_run, terms->shape_count + fresh);
    assert_int_equal(report.shapes_skipped, 1); /* the benchmark shape is too large for a CPU */
    assert_non_null(strstr(report.json, "\"shape\":\"rows=5 cols=33\""));
}

static void what_a_reference_does_wrong_is_told_with_file_and_line(void **state)
{
    static const struct {
        const char *reference, *text;
    } rows[] = {
        {"import torch\ndef reference(x):\n    return x @ torch.ones(2, 2, dtype=x.dtype)\n",
         "suites/test/reference.py:3: reference raised RuntimeError: "},
        {"def reference(x):\n    return x.float()\n",
         "suites/test/reference.py:1: output y has dtype f32, the contract says f16 ("},
        {"\ndef reference(x):\n    return x.sum(-1)\n",
         "suites/test/reference.py:2: output y has shape "},
        {"def reference(x):\n    return x, x\n",
         "suites/test/reference.py:1: reference returned 2 outputs, the contract says 1"},
        {"import torch\ndef reference(x):\n    return torch.rand_like(x)\n",
         "suites/test/reference.py:2: output y differs between two runs"},
        {"def reference(x):\n    return x / (x - x)\n",
         "suites/test/reference.py:1: output y is not finite on normal inputs ("},
        {"def reference(x):\n    raise SystemExit(3)\n", "judge: SystemExit: 3"},
    };
    SCOPED(contract_destroy) contract *terms = contract_of("bad", "f16");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        judge_contract_report report = {0};
        err e = {0};
        open_ok(*state, terms, rows[i].reference);
        assert_int_equal(judge_contract(*state, &report, &e), -1);
        if (strncmp(e.text, rows[i].text, strlen(rows[i].text)) != 0)
            fail_msg("expected: %s…\n     got: %s", rows[i].text, e.text);
        assert_int_equal(e.code, i < 6 ? ERR_CONFIG : ERR_INTERNAL);
        assert_false(e.retry);
    }
}

static void a_reference_that_does_not_load_is_told_at_open(void **state)
{
    SCOPED(contract_destroy) contract *terms = contract_of("bad", "f16");
    err e = {0};
    assert_int_equal(judge_open(*state, terms, "def reference(x)\n    return x\n", "a/b.py", &e),
                     -1);
    assert_int_equal(e.code, ERR_CONFIG);
    assert_memory_equal(e.text, "a/b.py:1: ", 10);
    judge_contract_report report = {0};
    assert_int_equal(judge_contract(*state, &report, &e), -1);
    assert_string_equal(e.text, "judge: no problem is open");
}

static void outputs_left_in_shared_memory_are_judged(void **state)
{
    SCOPED(contract_destroy) contract *terms = contract_of("copy", "f32");
    open_ok(*state, terms, "def reference(x):\n    return x.clone()\n");
    SCOPED(judge_staging_fini) judge_staging s = draw_ok(*state, &terms->shapes[2], 3);
    assert_int_equal(s.input_count, 3);
    assert_int_equal(s.inputs[0].bytes, 5 * 33 * 4);
    assert_int_equal(s.total_bytes % (2 << 20), 0);
    char *memory = map(&s);
    const char *first = memory + s.inputs[0].offset, *last = memory + s.inputs[2].offset;
    assert_memory_not_equal(first, last, (size_t)s.inputs[0].bytes);

    SCOPED(judge_comparison_fini) judge_comparison right = {0}, other = {0}, stale = {0};
    memcpy(memory + s.outputs[0].offset, last, (size_t)s.outputs[0].bytes);
    assert_int_equal(judge_compare(*state, 2, 5, &right, NULL), 0);
    assert_true(right.equal);
    assert_non_null(strstr(right.report_json, "\"protocol\":\"ce-correct-1\""));

    memcpy(memory + s.outputs[0].offset, first, (size_t)s.outputs[0].bytes);
    assert_int_equal(judge_compare(*state, 2, 5, &other, NULL), 0);
    assert_false(other.equal);
    assert_string_equal(other.detail, "element");

    /* An answer is judged once: nobody wrote since. */
    assert_int_equal(judge_compare(*state, 0, 5, &stale, NULL), 0);
    assert_false(stale.equal);
    munmap(memory, (size_t)s.total_bytes);
}

static void a_slot_that_was_not_drawn_is_refused(void **state)
{
    SCOPED(contract_destroy) contract *terms = contract_of("softmax", "f16");
    open_ok(*state, terms, softmax);
    SCOPED(judge_staging_fini) judge_staging s = draw_ok(*state, &terms->shapes[2], 2);
    assert_int_equal(s.slots, 2);
    judge_comparison out = {0};
    err e = {0};
    assert_int_equal(judge_compare(*state, 2, 0, &out, &e), -1);
    assert_int_equal(e.code, ERR_INTERNAL);
    assert_int_equal(judge_compare(*state, -1, 0, &out, &e), -1);
}

static void an_unknown_family_is_refused(void **state)
{
    SCOPED(contract_destroy) contract *terms = contract_of("softmax", "f16");
    open_ok(*state, terms, softmax);
    judge_staging s = {0};
    err e = {0};
    judge_draw_request request = {&terms->shapes[2], 1, "gaussian", 1};
    assert_int_equal(judge_draw(*state, &request, &s, &e), -1);
    assert_int_equal(e.code, ERR_CONFIG);
    assert_non_null(strstr(e.text, "gaussian"));
}

static void baselines_need_a_gpu(void **state)
{
    SCOPED(contract_destroy) contract *terms = contract_of("softmax", "f16");
    open_ok(*state, terms, softmax);
    judge_baseline b = {0};
    err e = {0};
    judge_baseline_request request = {.shape = &terms->shapes[2], .slots = 2, .samples = 10};
    assert_int_equal(judge_baseline_run(*state, &request, &b, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_false(e.retry);
}

typedef struct assassin {
    pid_t pid;
    int started; /* readable when the request has begun */
} assassin;

static void *kill_in_the_middle(void *arg)
{
    const assassin *a = arg;
    char byte;
    if (read(a->started, &byte, 1) == 1)
        kill(a->pid, SIGKILL);
    return NULL;
}

/* The reference opens this FIFO, which tells the assassin that the request is running. */
static void a_judge_killed_in_mid_request_is_replaced_by_the_next_call(void **state)
{
    (void)state;
    char folder[] = "/tmp/ce-test-judge-XXXXXX", fifo[64], reference[512];
    assert_non_null(mkdtemp(folder));
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    snprintf(reference, sizeof reference,
             "import os, time\n"
             "def reference(x):\n"
             "    if os.path.exists('%s'):\n"
             "        open('%s', 'w').write('!')\n"
             "        time.sleep(60)\n"
             "    return x.clone()\n",
             fifo, fifo);
    SCOPED(judge_destroy) judge *self = start_with(0);
    SCOPED(contract_destroy) contract *terms = contract_of("slow", "f32");
    open_ok(self, terms, reference);
    SCOPED(judge_staging_fini) judge_staging s = draw_ok(self, &terms->shapes[1], 1);
    pid_t first = judge_torch_pid(self);
    assassin a = {first, open(fifo, O_RDWR)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, kill_in_the_middle, &a), 0);
    judge_comparison out = {0};
    err e = {0};
    assert_int_equal(judge_compare(self, 0, 0, &out, &e), -1);
    pthread_join(thread, NULL);
    close(a.started);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_true(e.retry);
    assert_non_null(strstr(e.text, "SIGKILL"));
    assert_int_equal(shm_open(s.shm, O_RDWR, 0), -1); /* its memory is not left behind */

    unlink(fifo);
    rmdir(folder);
    assert_int_equal(judge_compare(self, 0, 0, &out, &e), -1); /* what was drawn is gone */
    assert_true(e.retry);
    SCOPED(judge_staging_fini) judge_staging again = draw_ok(self, &terms->shapes[1], 1);
    assert_string_not_equal(again.shm, s.shm);
    assert_true(judge_torch_pid(self) > 0 && judge_torch_pid(self) != first);
    SCOPED(judge_comparison_fini) judge_comparison late = {0};
    assert_int_equal(judge_compare(self, 0, 0, &late, &e), 0);
    assert_false(late.equal);
}

static void a_request_past_its_deadline_is_given_up(void **state)
{
    (void)state;
    SCOPED(judge_destroy) judge *self = start_with(8000);
    SCOPED(contract_destroy) contract *terms = contract_of("slow", "f32");
    open_ok(self, terms, "import time\ndef reference(x):\n    time.sleep(600)\n    return x\n");
    judge_contract_report report = {0};
    err e = {0};
    assert_int_equal(judge_contract(self, &report, &e), -1);
    assert_int_equal(e.code, ERR_TIMEOUT);
    assert_true(e.retry);
    open_ok(self, terms, softmax);
    SCOPED(judge_contract_report_fini) judge_contract_report good = {0};
    assert_int_equal(judge_contract(self, &good, &e), 0);
}

static void an_interpreter_without_torch_is_told(void **state)
{
    (void)state;
    err e = {0};
    assert_null(judge_start(&(judge_options){.python = "/bin/false", .device = "cpu"}, &e));
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "exited with 1"));
    assert_null(
        judge_start(&(judge_options){.python = python, .device = "cpu", .folder = "/nowhere"}, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

static void a_device_that_is_not_there_is_told(void **state)
{
    (void)state;
    err e = {0};
    judge *self = judge_start(&(judge_options){.python = python, .device = "cuda:63"}, &e);
    assert_null(self);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_false(e.retry);
}

/* The internal suite's references keep their contracts here too. */
static void the_internal_suite_keeps_its_contracts(void **state)
{
    err e = {0};
    SCOPED(suite_destroy) suite *s = suite_load(CE_SOURCE_DIR "/suites", "internal", &e);
    if (s == NULL)
        fail_msg("%s", e.text);
    assert_true(s->problem_count >= 8);
    for (size_t i = 0; i < s->problem_count; i++) {
        const problem *p = &s->problems[i];
        SCOPED(judge_contract_report_fini) judge_contract_report report = {0};
        if (judge_open(*state, p->terms, p->reference, p->id, &e) < 0 ||
            judge_contract(*state, &report, &e) < 0)
            fail_msg("%s: %s", p->id, e.text);
        assert_true(report.shapes_run >= 3);
        for (size_t f = 0; f < p->terms->families.count; f++) {
            judge_staging staging = {0};
            judge_draw_request request = {&p->terms->shapes[2], 9, p->terms->families.names[f], 2};
            if (judge_draw(*state, &request, &staging, &e) < 0)
                fail_msg("%s: %s", p->id, e.text);
            judge_staging_fini(&staging);
        }
    }
}

static int start_judge(void **state)
{
    *state = start_with(0);
    return 0;
}

static int end_judge(void **state)
{
    judge *self = *state;
    judge_destroy(&self);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_facts_tell_what_it_runs_on),
        cmocka_unit_test(the_contract_of_a_good_reference_holds),
        cmocka_unit_test(what_a_reference_does_wrong_is_told_with_file_and_line),
        cmocka_unit_test(a_reference_that_does_not_load_is_told_at_open),
        cmocka_unit_test(outputs_left_in_shared_memory_are_judged),
        cmocka_unit_test(a_slot_that_was_not_drawn_is_refused),
        cmocka_unit_test(an_unknown_family_is_refused),
        cmocka_unit_test(baselines_need_a_gpu),
        cmocka_unit_test(a_judge_killed_in_mid_request_is_replaced_by_the_next_call),
        cmocka_unit_test(a_request_past_its_deadline_is_given_up),
        cmocka_unit_test(an_interpreter_without_torch_is_told),
        cmocka_unit_test(a_device_that_is_not_there_is_told),
        cmocka_unit_test(the_internal_suite_keeps_its_contracts),
    };
    SCOPED(scoped_free) char *found = judge_find_python(python, NULL);
    if (found == NULL)
        return 77; /* no torch on this machine */
    return cmocka_run_group_tests_name("judge_torch", tests, start_judge, end_judge);
}
