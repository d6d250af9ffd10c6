/* test_mutants - the list of wrong kernels: read strictly; those of the shipped suite compile, pass the
 * gate and have plans that hold at every shape
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "agent-node/compile.h"
#include "suites/plan.h"
#include "suites/suite.h"
#include "tests/unit/suites/folder.h"

enum { MUTANTS_A_PROBLEM = 5, BUILDERS = 2 };

/* ---- the list ---- */

static const char good_list[] =
    "- {name: zeros, expect: wrong, detail: element, why: y is 0}\n"
    "- {name: past, expect: [out_of_bounds, wrong], why: too far}\n"
    "- {name: large, expect: hung, emu: not_detectable, why: endless}\n";

static char *create(void)
{
    char *root = folder_create();
    folder_text(root, "small/twice/mutants/mutants.yaml", good_list);
    folder_text(root, "small/twice/mutants/zeros.cu", "// zeros\n");
    folder_text(root, "small/twice/mutants/past.cu", "// past\n");
    folder_text(root, "small/twice/mutants/past.json",
                "{\"kernels\":[{\"entry\":\"p\",\"grid\":[1],\"block\":[64],\"args\":[\"y\"]}]}\n");
    folder_text(root, "small/twice/mutants/large.cu", "// large\n");
    return root;
}

static int load(const char *root, problem *out, err *e)
{
    SCOPED(scoped_free) char *folder = file_join(root, "small/twice");
    return problem_load(folder, out, e);
}

static void a_list_is_read_in_its_order(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = create();
    SCOPED(problem_fini) problem p = {0};
    assert_int_equal(load(root, &p, NULL), 0);
    assert_int_equal(p.wrong.count, 3);
    const mutant *zeros = &p.wrong.items[0], *past = &p.wrong.items[1];
    assert_string_equal(zeros->name, "zeros");
    assert_string_equal(zeros->source, "// zeros\n");
    assert_string_equal(zeros->plan, FOLDER_PLAN);
    assert_string_equal(zeros->cuda.detail, "element");
    assert_string_equal(zeros->why, "y is 0");
    assert_false(zeros->emu_blind);
    assert_non_null(strstr(past->plan, "\"p\""));
    assert_int_equal(past->cuda.count, 2);
    assert_null(past->cuda.detail);
    assert_true(p.wrong.items[2].emu_blind);
}

static void an_outcome_must_be_expected_with_its_detail(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = create();
    SCOPED(problem_fini) problem p = {0};
    assert_int_equal(load(root, &p, NULL), 0);
    const mutant *zeros = &p.wrong.items[0], *past = &p.wrong.items[1];
    assert_true(mutant_expects(&zeros->cuda, OUTCOME_WRONG, "element"));
    assert_false(mutant_expects(&zeros->cuda, OUTCOME_WRONG, "unwritten"));
    assert_false(mutant_expects(&zeros->cuda, OUTCOME_WRONG, NULL));
    assert_false(mutant_expects(&zeros->cuda, OUTCOME_OK, "element"));
    assert_true(mutant_expects(&past->cuda, OUTCOME_WRONG, "unwritten"));
    assert_true(mutant_expects(&past->cuda, OUTCOME_OUT_OF_BOUNDS, NULL));
    assert_false(mutant_expects(&past->cuda, OUTCOME_HUNG, NULL));
}

static void a_problem_may_have_no_mutants(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    SCOPED(problem_fini) problem p = {0};
    assert_int_equal(load(root, &p, NULL), 0);
    assert_int_equal(p.wrong.count, 0);
}

static void mutants_count_in_no_hash(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = folder_create();
    SCOPED(folder_destroy) char *with = create();
    SCOPED(suite_destroy) suite *a = suite_load(root, "small", NULL);
    SCOPED(suite_destroy) suite *b = suite_load(with, "small", NULL);
    assert_true(a != NULL && b != NULL);
    assert_int_equal(b->problems[0].wrong.count, 3);
    assert_true(hash_equal(&a->content, &b->content));
}

/* refuses writes one file of the folder (text NULL: removes it) and wants the error to hold both. */
static void refuses(const char *file, const char *text, err_code code, const char *first,
                    const char *second)
{
    SCOPED(folder_destroy) char *root = create();
    SCOPED(scoped_free) char *name = xasprintf("small/twice/%s", file);
    SCOPED(scoped_free) char *path = file_join(root, name);
    if (text != NULL)
        folder_text(root, name, text);
    else
        assert_int_equal(unlink(path), 0);
    err e = {0};
    suite *s = suite_load(root, "small", &e);
    if (s != NULL || strstr(e.text, first) == NULL || strstr(e.text, second) == NULL)
        print_error("%s: '%s' lacks '%s' or '%s'\n", file, e.text, first, second);
    assert_null(s);
    assert_int_equal(e.code, code);
    assert_non_null(strstr(e.text, first));
    assert_non_null(strstr(e.text, second));
}

static void what_is_listed_but_missing_is_refused(void **state)
{
    (void)state;
    refuses("mutants/zeros.cu", NULL, ERR_CONFIG, "mutants.yaml:1: /0", "no ");
    refuses("mutants/mutants.yaml", NULL, ERR_NOT_FOUND, "mutants.yaml", "small/twice");
}

static void what_is_there_but_not_listed_is_refused(void **state)
{
    (void)state;
    static const char *const files[] = {"other.cu", "other.json", "zeros.cuh", "zeros",
                                        "zeros.cu.txt"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        SCOPED(scoped_free) char *path = xasprintf("mutants/%s", files[i]);
        refuses(path, "{}\n", ERR_CONFIG, "belongs to no listed kernel", files[i]);
    }
}

static void a_mutant_without_any_plan_is_refused(void **state)
{
    (void)state;
    SCOPED(folder_destroy) char *root = create();
    SCOPED(scoped_free) char *source = file_join(root, "small/twice/gold.cu");
    SCOPED(scoped_free) char *launch = file_join(root, "small/twice/gold.json");
    assert_int_equal(unlink(source), 0);
    assert_int_equal(unlink(launch), 0);
    problem p = {.id = NULL};
    err e = {0};
    assert_int_equal(load(root, &p, &e), -1);
    assert_non_null(strstr(e.text, "zeros needs a plan"));
}

static void faults_of_the_list_have_file_line_and_pointer(void **state)
{
    (void)state;
    static const struct {
        const char *list, *place, *cause;
    } rows[] = {
        {"{}\n", "mutants.yaml:1", "array"},
        {"[]\n", "mutants.yaml:1", "empty"},
        {"- zeros\n", "mutants.yaml:1: /0", "object"},
        {"- {expect: wrong, why: w}\n", "mutants.yaml:1: /0", "\"name\" is missing"},
        {"- {name: zeros, why: w}\n", "mutants.yaml:1: /0", "\"expect\" is missing"},
        {"- {name: zeros, expect: wrong}\n", "mutants.yaml:1: /0", "\"why\" is missing"},
        {"- {name: zeros, expect: wrong, why: w, speed: 1}\n", "/0/speed", "unknown key"},
        {"- {name: ../zeros, expect: wrong, why: w}\n", "/0/name", "name"},
        {"- {name: zeros, expect: ok, why: w}\n", "/0/expect", "'ok' is no outcome"},
        {"- {name: zeros, expect: not_run, why: w}\n", "/0/expect", "'not_run' is no outcome"},
        {"- {name: zeros, expect: bad, why: w}\n", "/0/expect", "'bad' is no outcome"},
        {"- {name: zeros, expect: 1, why: w}\n", "/0/expect", "array"},
        {"- {name: zeros, expect: [], why: w}\n", "/0/expect", "at least one"},
        {"- {name: zeros, expect: [hung, hung], why: w}\n", "/0/expect/1", "twice"},
        {"- {name: zeros, expect: [hung, wrong], detail: d, why: w}\n", "/0/detail",
         "2 are expected"},
        {"- {name: zeros, expect: wrong, detail: '', why: w}\n", "/0/detail", "1 to 63"},
        {"- {name: zeros, expect: wrong, why: ''}\n", "/0/why", "one line"},
        {"- {name: zeros, expect: wrong, why: \"a\\nb\"}\n", "/0/why", "one line"},
        {"- {name: zeros, expect: wrong, emu: ok, why: w}\n", "/0/emu", "'ok' is no outcome"},
        {"- {name: zeros, expect: wrong, why: w}\n- {name: zeros, expect: hung, why: w}\n",
         "mutants.yaml:2: /1/name", "twice"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refuses("mutants/mutants.yaml", rows[i].list, ERR_CONFIG, rows[i].place, rows[i].cause);
}

static void faults_of_its_files_name_them(void **state)
{
    (void)state;
    refuses("mutants/zeros.cu", " \n", ERR_CONFIG, "mutants/zeros.cu", "empty");
    refuses("mutants/past.json", "{\"kernels\":[]}\n", ERR_CONFIG, "mutants/past.json: /kernels",
            "");
    refuses("mutants/past.json", "{\n", ERR_CONFIG, "mutants/past.json", "launch plan");
}

/* ---- those of the shipped suite ---- */

static const plan_device devices[] = {
    {132, 90, false, {INT32_MAX, 65535, 65535}, {1024, 1024, 64}, 1024, 49152, INT64_C(1) << 37},
    {108, 80, false, {INT32_MAX, 65535, 65535}, {1024, 1024, 64}, 1024, 49152, INT64_C(40) << 30},
    {16, 80, true, {INT32_MAX, 65535, 65535}, {1024, 1024, 64}, 1024, 49152, INT64_C(4) << 30},
};

static suite *shipped(void)
{
    err e = {0};
    suite *s = suite_load(CE_SOURCE_DIR "/suites", "internal", &e);
    if (s == NULL)
        fail_msg("%s", e.text);
    return s;
}

static void every_problem_has_at_least_five(void **state)
{
    (void)state;
    SCOPED(suite_destroy) suite *s = shipped();
    for (size_t i = 0; i < s->problem_count; i++) {
        const problem *p = &s->problems[i];
        assert_in_range(p->wrong.count, MUTANTS_A_PROBLEM, MUTANTS_MAX);
        for (size_t k = 0; k < p->wrong.count; k++)
            assert_string_not_equal(p->wrong.items[k].source, p->gold_source);
    }
}

static void expand(const problem *p, const mutant *m, const plan *launch,
                   const contract_shape *shape)
{
    for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++) {
        SCOPED(plan_steps_fini) plan_steps steps = {0};
        plan_fault fault = {{0}, {0}};
        if (plan_expand(launch, p->terms, shape, &devices[d], &steps, &fault) < 0)
            fail_msg("%s/%s: %s: %s", p->id, m->name, fault.pointer, fault.text);
        int64_t elements = 0;
        size_t output = p->terms->input_count;
        assert_int_equal(contract_elements(p->terms, output, shape, &elements, NULL), 0);
        assert_int_equal(steps.step_count > 0, elements > 0);
    }
}

static void every_plan_holds_at_every_shape_on_every_device(void **state)
{
    (void)state;
    SCOPED(suite_destroy) suite *s = shipped();
    for (size_t i = 0; i < s->problem_count; i++) {
        const problem *p = &s->problems[i];
        for (size_t k = 0; k < p->wrong.count; k++) {
            const mutant *m = &p->wrong.items[k];
            SCOPED(plan_destroy)
            plan *launch = plan_parse(m->plan, strlen(m->plan), p->terms, NULL);
            assert_non_null(launch);
            for (size_t j = 0; j < p->terms->shape_count; j++)
                expand(p, m, launch, &p->terms->shapes[j]);
            expand(p, m, launch, &p->terms->benchmark);
        }
    }
}

/* One build: a mutant for an architecture. */
typedef struct build {
    const problem *p;
    const mutant *m;
    const char *arch;
    char complaint[400]; /* "": it is eligible */
} build;

typedef struct yard {
    compile_pool *pool;
    build *builds;
    size_t count;
    atomic_size_t next;
} yard;

static void compile(compile_pool *pool, build *b)
{
    err e = {.text = ""};
    size_t count = 0;
    SCOPED(plan_destroy)
    plan *launch = plan_parse(b->m->plan, strlen(b->m->plan), b->p->terms, NULL);
    const char *const *entries = plan_entries(launch, &count);
    compile_request request = {
        .arch = b->arch, .source = b->m->source, .entries = entries, .entry_count = count};
    SCOPED(compile_result_fini) compile_result r = {0};
    if (compile_pool_run(pool, &request, &r, &e) != 0)
        snprintf(b->complaint, sizeof b->complaint, "%s", e.text);
    else if (r.result != OUTCOME_OK)
        snprintf(b->complaint, sizeof b->complaint, "%s %s: %s", outcome_name(r.result), r.detail,
                 r.text);
}

static void *work(void *arg)
{
    yard *y = arg;
    for (size_t i; (i = atomic_fetch_add(&y->next, 1)) < y->count;)
        compile(y->pool, &y->builds[i]);
    return NULL;
}

static build *list_builds(const suite *s, size_t *count)
{
    static const char *const archs[] = {"sm_90a", "compute_80"};
    build *out = NULL;
    *count = 0;
    for (size_t i = 0; i < s->problem_count; i++)
        for (size_t k = 0; k < s->problems[i].wrong.count; k++)
            for (size_t a = 0; a < sizeof archs / sizeof archs[0]; a++) {
                out = xreallocarray(out, *count + 1, sizeof *out);
                out[(*count)++] = (build){
                    .p = &s->problems[i], .m = &s->problems[i].wrong.items[k], .arch = archs[a]};
            }
    return out;
}

static void every_mutant_compiles_and_passes_the_gate(void **state)
{
    (void)state;
    err e = {.text = ""};
    compile_options options = {.binary = CE_BINARY_DIR "/bin/ce-compiler", .children = BUILDERS};
    yard y = {.pool = compile_pool_create(&options, &e)};
    if (y.pool == NULL && e.code == ERR_UNAVAILABLE) {
        print_message("%s\n", e.text);
        skip();
    }
    if (y.pool == NULL)
        fail_msg("%s", e.text);
    SCOPED(suite_destroy) suite *s = shipped();
    y.builds = list_builds(s, &y.count);
    pthread_t threads[BUILDERS];
    for (size_t i = 0; i < BUILDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &y), 0);
    for (size_t i = 0; i < BUILDERS; i++)
        pthread_join(threads[i], NULL);
    compile_pool_destroy(&y.pool);
    size_t bad = 0;
    for (size_t i = 0; i < y.count; i++) {
        const build *b = &y.builds[i];
        if (b->complaint[0] == '\0')
            continue;
        print_error("%s/%s for %s: %s\n", b->p->id, b->m->name, b->arch, b->complaint);
        bad++;
    }
    free(y.builds);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_read_in_its_order),
        cmocka_unit_test(an_outcome_must_be_expected_with_its_detail),
        cmocka_unit_test(a_problem_may_have_no_mutants),
        cmocka_unit_test(mutants_count_in_no_hash),
        cmocka_unit_test(what_is_listed_but_missing_is_refused),
        cmocka_unit_test(what_is_there_but_not_listed_is_refused),
        cmocka_unit_test(a_mutant_without_any_plan_is_refused),
        cmocka_unit_test(faults_of_the_list_have_file_line_and_pointer),
        cmocka_unit_test(faults_of_its_files_name_them),
        cmocka_unit_test(every_problem_has_at_least_five),
        cmocka_unit_test(every_plan_holds_at_every_shape_on_every_device),
        cmocka_unit_test(every_mutant_compiles_and_passes_the_gate),
    };
    return cmocka_run_group_tests_name("mutants", tests, NULL, NULL);
}
