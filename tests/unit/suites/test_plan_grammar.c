/* test_plan_grammar - the table says what plan_parse takes
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "suites/plan_grammar.h"
#include "suites/plan_tree.h"
#include "suites/suite.h"
#include "tests/unit/suites/sample.h"

#define KERNEL                                                                      \
    "{'entry':'k','grid':['rows',1],'block':[32],'shared':0,'args':['x',{'i32':5}," \
    "{'u32':'rows'},{'i64':1},{'u64':2},{'f32':'eps'},{'f64':1e-5},"                \
    "{'view':'x','offset':'rows'}],'cooperative':true}"
#define FULL                                                                 \
    "{'kernels':[" KERNEL ",{'repeat':'rows','index':'t','kernels':[" KERNEL \
    "]}],'scratch':[{'name':'s','dtype':'f32','count':1,'init':'zero'}],"    \
    "'variants':[{'when':'rows>1','kernels':[" KERNEL "]}]}"

static json *tree(const char *quoted)
{
    SCOPED(scoped_free) char *text = sample_quote(quoted);
    json *value = json_parse_tree(text, strlen(text), "plan", NULL);
    assert_non_null(value);
    return value;
}

static bool parses(const json *value)
{
    contract *c = sample_contract();
    plan_fault fault;
    SCOPED(scoped_free) char *text = json_dump(value);
    SCOPED(plan_destroy) plan *p = plan_parse(text, strlen(text), c, &fault);
    contract_destroy(&c);
    return p != NULL;
}

static bool fits(const json *value)
{
    json *copy = json_copy(value);
    SCOPED(json_doc_destroy) json_doc *doc = json_doc_of(&copy, "plan");
    json_cursor root = json_root(doc);
    return grammar_check(&plan_grammar, &root, NULL) == 0;
}

/* The object of the full plan that a node describes. */
static json *part(json *full, const char *list)
{
    const json *of = list[0] == '\0' ? full : json_at(json_get(full, list), 0);
    return (json *)(uintptr_t)of; /* a test's own tree */
}

static void a_member_is_needed_by_both_or_by_none(void **state)
{
    (void)state;
    static const struct {
        const char *list; /* "": the plan itself */
        const grammar_node *node;
    } objects[] = {{"", &plan_grammar},
                   {"kernels", &plan_grammar_kernel},
                   {"scratch", &plan_grammar_scratch},
                   {"variants", &plan_grammar_variant}};
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        for (const grammar_member *m = objects[i].node->members; m->key != NULL; m++) {
            SCOPED(json_destroy) json *full = tree(FULL);
            assert_true(parses(full) && fits(full));
            json_remove(part(full, objects[i].list), m->key);
            assert_true(fits(full) == (m->otherwise != NULL));
            if (parses(full) != fits(full))
                fail_msg("%s/%s", objects[i].list, m->key);
            json_set_int(part(full, objects[i].list), "surprise", 1);
            assert_false(fits(full) || parses(full));
        }
    }
}

static void the_words_are_those_that_are_read(void **state)
{
    (void)state;
    const grammar_member *m = plan_grammar_scratch.members;
    while (strcmp(m->key, "dtype") != 0)
        m++;
    const char *const *known = dtype_names();
    for (size_t i = 0; known[i] != NULL || m->value->words[i] != NULL; i++)
        assert_string_equal(m->value->words[i], known[i]);
    for (int i = 0; i < PLAN_TYPE_COUNT; i++) {
        SCOPED(scoped_free)
        char *text =
            xasprintf("{'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[{'%s':1}]}]}",
                      plan_type_name((plan_type)i));
        SCOPED(json_destroy) json *value = tree(text);
        assert_true(fits(value) && parses(value));
    }
}

static void every_gold_plan_fits_and_so_does_its_normal_form(void **state)
{
    (void)state;
    SCOPED(suite_destroy) suite *all = suite_load(CE_SOURCE_DIR "/suites", "internal", NULL);
    assert_non_null(all);
    for (size_t i = 0; i < all->problem_count; i++) {
        const problem *p = &all->problems[i];
        SCOPED(json_destroy)
        json *value = json_parse_tree(p->gold_plan, strlen(p->gold_plan), p->id, NULL);
        SCOPED(json_destroy) json *normal = grammar_normal(&plan_grammar, value);
        SCOPED(scoped_free) char *text = json_dump(normal);
        plan_fault fault;
        if (!fits(value) || !fits(normal))
            fail_msg("%s does not fit", p->id);
        SCOPED(plan_destroy) plan *read = plan_parse(text, strlen(text), p->terms, &fault);
        if (read == NULL)
            fail_msg("%s: %s: %s", p->id, fault.pointer, fault.text);
        assert_true(plan_grammar_same(text, p->gold_plan));
    }
}

static void plans_are_compared_by_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {{"{'kernels':[{'entry':'k','grid':[1],'block':[32],'args':[]}]}",
                  "{'scratch':[],'kernels':[{'args':[],'entry':'k','grid':['1'],'block':['32'],"
                  "'shared':'0'}],'variants':[]}",
                  true},
                 {"{'kernels':[{'entry':'k','grid':[1],'block':[32],'args':[]}]}",
                  "{'kernels':[{'entry':'k','grid':[1],'block':[64],'args':[]}]}", false},
                 {"{'kernels':[]}", "no plan", false},
                 {"no plan", "no plan", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SCOPED(scoped_free) char *a = sample_quote(cases[i].a);
        SCOPED(scoped_free) char *b = sample_quote(cases[i].b);
        assert_true(plan_grammar_same(a, b) == cases[i].same);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_needed_by_both_or_by_none),
        cmocka_unit_test(the_words_are_those_that_are_read),
        cmocka_unit_test(every_gold_plan_fits_and_so_does_its_normal_form),
        cmocka_unit_test(plans_are_compared_by_what_they_say),
    };
    return cmocka_run_group_tests_name("plan_grammar", tests, NULL, NULL);
}
