/* test_prompt - what a model is told, and what it is not
 *
 * SPDX-License-Identifier: MIT */
#include "tests/unit/agent-node/rig_test.h"

#include <inttypes.h>

#include "agent-node/stages/prompt.h"
#include "agent-node/trial.h"
#include "common/file.h"

enum { GUIDE_MAX = 1024 * 1024 };

typedef struct bench {
    rig *rig;
    task_spec spec;
    rig_work work;
} bench;

static int set_up(void **state)
{
    bench *b = xcalloc(1, sizeof(*b));
    b->rig = rig_create(NULL);
    rig_spec(b->rig, "rms_norm_fp16", "gold", &b->spec);
    b->spec.seed = INT64_C(918273645546372819);
    rig_pipeline(b->rig, &b->spec, &b->work);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;
    rig_pipeline_fini(&b->work);
    task_spec_fini(&b->spec);
    rig_destroy(&b->rig);
    free(b);
    return 0;
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) {
        fail_msg("'%s' must not be in: %.3000s", part, text);
    }
}

static void the_rules_are_the_guide_that_people_read(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf guide;
    err e = {0};
    buf_init(&guide, GUIDE_MAX);
    assert_ok(file_read(CE_SOURCE_DIR "/suites/plan_guide.md", &guide, &e), e);
    SCOPED(scoped_free) char *system = prompt_system();
    assert_has(system, buf_text(&guide));
}

static void the_interview_asks_for_every_member(void **state)
{
    (void)state;
    static const char *const members[] = {"name",    "semantics", "inputs",
                                          "outputs", "hazards",   "plan_of_attack"};
    SCOPED(scoped_free) char *system = prompt_interview_system();
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        assert_has(system, members[i]);
    }
    assert_has(system, "```json");
}

static void the_problem_tells_task_contract_reference_and_device(void **state)
{
    const bench *b = *state;
    const pipeline *p = &b->work.p;
    SCOPED(scoped_free) char *text = prompt_problem(p);
    assert_has(text, p->prompt);
    assert_has(text, p->reference);
    assert_has(text, "\"problem\": \"rms_norm_fp16\"");
    assert_has(text, "\"weight\"");
    assert_has(text, "\"eps\"");
    assert_has(text, "\"benchmark\"");
    assert_has(text, "sm_90a");
    assert_has(text, "132 multiprocessors");
    assert_has(text, "232448 bytes of shared memory");
    assert_lacks(text, "Specification you gave");
}

/* How a candidate is judged is not its business: value families, seeds, salts, our own kernel. */
static void what_is_hidden_stays_hidden(void **state)
{
    const bench *b = *state;
    const pipeline *p = &b->work.p;
    SCOPED(scoped_free) char *system = prompt_system();
    SCOPED(scoped_free) char *problem = prompt_problem(p);
    static const char *const purposes[] = {"hidden", "hidden shapes", "salt",    "pair",
                                           "time",   "time salt",     "baseline"};
    static const char *const secrets[] = {"\"values\"", "\"families\"", "918273645546372819"};
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        assert_lacks(problem, secrets[i]);
        assert_lacks(system, secrets[i]);
    }
    for (size_t i = 0; i < p->terms->families.count; i++) {
        SCOPED(scoped_free) char *quoted = xasprintf("\"%s\"", p->terms->families.names[i]);
        assert_lacks(problem, quoted);
    }
    for (size_t i = 0; i < sizeof(purposes) / sizeof(purposes[0]); i++) {
        char seed[32];
        snprintf(seed, sizeof(seed), "%" PRId64, trial_seed(p->spec, purposes[i], 0));
        assert_lacks(problem, seed);
    }
    assert_lacks(problem, p->gold_source);
    assert_lacks(problem, "__global__");
}

static void the_spec_a_model_gave_is_shown_to_it(void **state)
{
    bench *b = *state;
    b->work.p.kernel_spec = xstrdup("{\"name\":\"the norm\"}");
    SCOPED(scoped_free) char *text = prompt_problem(&b->work.p);
    assert_has(text, "Specification you gave");
    assert_has(text, "the norm");
}

static void a_repair_shows_source_plan_and_finding(void **state)
{
    const bench *b = *state;
    const pipeline *p = &b->work.p;
    SCOPED(scoped_free) char *text = prompt_candidate(p, p->best, "row 3 is 100% wrong, %s");
    assert_has(text, p->best->source);
    assert_has(text, p->best->plan_text);
    assert_has(text, "row 3 is 100% wrong, %s"); /* a finding is no format */
    assert_has(text, p->reference);
    assert_lacks(text, "\"values\"");
}

static void polish_asks_for_comments_alone(void **state)
{
    const bench *b = *state;
    const pipeline *p = &b->work.p;
    SCOPED(scoped_free) char *text = prompt_polish(p, p->best);
    assert_has(text, p->best->source);
    assert_has(text, p->best->plan_text);
    assert_has(text, "machine code");
}

#define PROMPT_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_are_the_guide_that_people_read),
        cmocka_unit_test(the_interview_asks_for_every_member),
        PROMPT_TEST(the_problem_tells_task_contract_reference_and_device),
        PROMPT_TEST(what_is_hidden_stays_hidden),
        PROMPT_TEST(the_spec_a_model_gave_is_shown_to_it),
        PROMPT_TEST(a_repair_shows_source_plan_and_finding),
        PROMPT_TEST(polish_asks_for_comments_alone)};
    return cmocka_run_group_tests_name("prompt", tests, NULL, NULL);
}
