/* test_plan_tree - the grammar of launch plans: what is accepted, and where each fault is seen
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "common/buf.h"
#include "suites/plan_tree.h"
#include "tests/unit/suites/sample.h"

/* A plan of one kernel, whose parts the macros fill in. */
#define KERNEL(grid, block, args) \
    "{'kernels':[{'entry':'k','grid':" grid ",'block':" block ",'args':" args "}]}"
#define ARGS(args) KERNEL("[1]", "[1]", "[" args "]")
#define SCRATCH(scratch) \
    "{'scratch':[" scratch "],'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[]}]}"

static plan *parse(const contract *c, const char *quoted, plan_fault *fault)
{
    SCOPED(scoped_free) char *text = sample_quote(quoted);
    return plan_parse(text, strlen(text), c, fault);
}

static void a_full_plan_is_read(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    plan_fault fault = {{0}, {0}};
    SCOPED(plan_destroy)
    plan *p = parse(
        c,
        "{'kernels':[{'entry':'a','grid':['rows',1,'2'],'block':[256],'shared':'cols * 2',"
        "'args':['x','y','part',{'i32':'cols'},{'u32':5},{'i64':'rows*cols'},{'u64':'0'},"
        "{'f32':'1e-5'},{'f64':2},{'f32':'eps'},{'f64':'eps'}]},"
        "{'entry':'b','grid':[1],'block':[1],'args':[]}],"
        "'scratch':[{'name':'part','dtype':'f32','count':'ceil_div(rows, 256)','init':'zero'},"
        "{'name':'more','dtype':'bool','count':3}],"
        "'variants':[{'when':'cols % 8 == 0 && cc >= 90 && !on_emu','kernels':"
        "[{'entry':'c','grid':['sm_count'],'block':[32,4],'args':['more']},"
        "{'entry':'a','grid':[1],'block':[1],'args':[]}]}]}",
        &fault);
    if (p == NULL)
        print_error("%s: %s\n", fault.pointer, fault.text);
    assert_non_null(p);
    assert_int_equal(p->kernels.count, 2);
    assert_int_equal(p->node_count, 6);
    const plan_kernel *a = &p->kernels.items[0].kernels[0];
    assert_int_equal(a->grid_count, 3);
    assert_non_null(a->shared);
    assert_int_equal(a->arg_count, 11);
    assert_int_equal(a->args[0].kind, PLAN_ARG_TENSOR);
    assert_int_equal(a->args[1].index, 2);
    assert_int_equal(a->args[2].kind, PLAN_ARG_SCRATCH);
    assert_int_equal(a->args[4].type, PLAN_U32);
    assert_true(a->args[9].literal == 1e-5);
    assert_true(p->scratch[0].zero);
    assert_false(p->scratch[1].zero);
    assert_string_equal(p->variants[0].kernels.items[1].kernels[0].pointer,
                        "/variants/0/kernels/1");
    size_t count = 0;
    const char *const *entries = plan_entries(p, &count);
    assert_int_equal(count, 3);
    assert_string_equal(entries[0], "a");
    assert_string_equal(entries[1], "b");
    assert_string_equal(entries[2], "c");
}

static void a_repeat_has_its_kernels_and_a_variable(void **state)
{
    (void)state;
    plan_fault fault = {{0}, {0}};
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(plan_destroy)
    plan *p = parse(c,
                    "{'kernels':[{'repeat':'rows','index':'t','kernels':["
                    "{'entry':'a','grid':['t + 1'],'block':[1],'args':[{'view':'x','offset':'t'}]},"
                    "{'entry':'b','grid':[1],'block':[1],'args':[],'cooperative':true}]},"
                    "{'repeat':3,'index':'t','kernels':["
                    "{'entry':'a','grid':[1],'block':[1],'args':[{'i64':'t'}]}]}]}",
                    &fault);
    if (p == NULL)
        print_error("%s: %s\n", fault.pointer, fault.text);
    assert_non_null(p);
    assert_int_equal(p->kernels.count, 2);
    assert_int_equal(p->node_count, 5);
    const plan_node *first = &p->kernels.items[0];
    assert_non_null(first->repeat);
    assert_string_equal(first->index, "t");
    assert_string_equal(first->pointer, "/kernels/0");
    assert_int_equal(first->count, 2);
    assert_string_equal(first->kernels[1].pointer, "/kernels/0/kernels/1");
    assert_true(first->kernels[1].cooperative);
    assert_false(first->kernels[0].cooperative);
    assert_non_null(first->kernels[0].args[0].offset);
    assert_int_equal(first->kernels[0].args[0].kind, PLAN_ARG_TENSOR);
}

typedef struct row {
    const char *text;
    const char *pointer;
    const char *cause;
} row;

static void check(const contract *c, const row *r)
{
    plan_fault fault = {{0}, {0}};
    SCOPED(plan_destroy) plan *p = parse(c, r->text, &fault);
    if (p != NULL || strcmp(fault.pointer, r->pointer) != 0 || strstr(fault.text, r->cause) == NULL)
        print_error("%s\n  got %s '%s', wanted %s '%s'\n", r->text, fault.pointer, fault.text,
                    r->pointer, r->cause);
    assert_null(p);
    assert_string_equal(fault.pointer, r->pointer);
    assert_non_null(strstr(fault.text, r->cause));
}

#define SIMPLE      "{'entry':'k','grid':[1],'block':[1],'args':[]}"
#define REPEATED(x) "{'kernels':[{" x "}]}"
#define ONE(x)      "{'kernels':[{'entry':'k','grid':[1],'block':[1]," x "}]}"

static void faults_of_structure_have_a_pointer(void **state)
{
    (void)state;
    static const row rows[] = {
        {"", "", "launch plan"},
        {"{'kernels':[", "", "launch plan"},
        {"[]", "", "found array"},
        {"3", "", "an object with kernels"},
        {"{}", "", "'kernels' is missing"},
        {"{'kernels':[]}", "/kernels", "0 entries"},
        {"{'kernels':{}}", "/kernels", "expected an array"},
        {"{'kernels':[5]}", "/kernels/0", "entry, grid, block and args"},
        {"{'kernel':[]}", "/kernel", "did you mean 'kernels'"},
        {REPEATED("'index':'t','kernels':[" SIMPLE "]"), "/kernels/0/index", "unknown key"},
        {REPEATED("'repeat':2,'index':'t','kernels':[]"), "/kernels/0/kernels", "0 entries"},
        {REPEATED("'repeat':2,'kernels':[" SIMPLE "]"), "/kernels/0", "'index' is missing"},
        {REPEATED("'repeat':2,'index':'t'"), "/kernels/0", "'kernels' is missing"},
        {REPEATED("'repeat':2.5,'index':'t','kernels':[" SIMPLE "]"), "/kernels/0/repeat",
         "an integer"},
        {REPEATED("'repeat':'t','index':'t','kernels':[" SIMPLE "]"), "/kernels/0/repeat",
         "unknown variable t"},
        {REPEATED("'repeat':2,'index':'rows','kernels':[" SIMPLE "]"), "/kernels/0/index",
         "already taken"},
        {REPEATED("'repeat':2,'index':'x','kernels':[" SIMPLE "]"), "/kernels/0/index",
         "already taken"},
        {REPEATED("'repeat':2,'index':'sm_count','kernels':[" SIMPLE "]"), "/kernels/0/index",
         "already taken"},
        {REPEATED("'repeat':2,'index':'2t','kernels':[" SIMPLE "]"), "/kernels/0/index",
         "is no name"},
        {REPEATED("'repeat':2,'index':'t','kernels':[{'repeat':2,'index':'u','kernels':[" SIMPLE
                  "]}]"),
         "/kernels/0/kernels/0", "holds kernels, not repeats"},
        {REPEATED("'repeat':2,'index':'t','entry':'k','kernels':[" SIMPLE "]"), "/kernels/0/entry",
         "unknown key"},
        {"{'kernels':[{'entry':'k','grid':['t'],'block':[1],'args':[]}]}", "/kernels/0/grid/0",
         "unknown variable t"},
        {"{'kernels':[{'repeat':2,'index':'t','kernels':[" SIMPLE
         "]},{'entry':'k','grid':['t'],'block':[1],'args':[]}]}",
         "/kernels/1/grid/0", "unknown variable t"},
        {ONE("'cooperative':1,'args':[]"), "/kernels/0/cooperative", "true or false"},
        {ONE("'args':[{'view':'x'}]"), "/kernels/0/args/0", "'offset' is missing"},
        {ONE("'args':[{'view':'x','offset':1.5}]"), "/kernels/0/args/0/offset", "an integer"},
        {ONE("'args':[{'view':'nobody','offset':1}]"), "/kernels/0/args/0/view",
         "no tensor or scratch is called 'nobody'"},
        {ONE("'args':[{'view':'rows','offset':1}]"), "/kernels/0/args/0/view", "is a number"},
        {ONE("'args':[{'view':'x','offset':1,'i32':2}]"), "/kernels/0/args/0/i32", "unknown key"},
        {ONE("'args':[{'offset':1}]"), "/kernels/0/args/0/offset", "unknown key"},
        {"{'kernels':[{'entry':'k','grid':[1],'block':[1]}]}", "/kernels/0", "'args' is missing"},
        {"{'kernels':[{'entry':'k','block':[1],'args':[]}]}", "/kernels/0", "'grid' is missing"},
        {"{'kernels':[{'grid':[1],'block':[1],'args':[]}]}", "/kernels/0", "'entry' is missing"},
        {"{'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[],'stream':0}]}",
         "/kernels/0/stream", "unknown key"},
        {"{'kernels':[{'entry':7,'grid':[1],'block':[1],'args':[]}]}", "/kernels/0/entry",
         "found integer"},
        {"{'kernels':[{'entry':'ns::k','grid':[1],'block':[1],'args':[]}]}", "/kernels/0/entry",
         "no kernel name"},
        {"{'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[]}],'variants':{}}", "/variants",
         "expected an array"},
        {"{'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[]}],'variants':[{'kernels':[]}]}",
         "/variants/0", "'when' is missing"},
        {"{'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[]}],"
         "'variants':[{'when':1,'kernels':[]}]}",
         "/variants/0/kernels", "0 entries"},
        {"{'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[]}],"
         "'variants':[{'when':1,'kernels':[{'entry':'k','grid':[1],'block':['z'],'args':[]}]}]}",
         "/variants/0/kernels/0/block/0", "unknown variable z"},
        {"{'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[],'entry':'k'}]}", "", "entry"},
    };
    SCOPED(contract_destroy) contract *c = sample_contract();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(c, &rows[i]);
}

static void faults_of_numbers_have_a_pointer(void **state)
{
    (void)state;
    static const row rows[] = {
        {KERNEL("[]", "[1]", "[]"), "/kernels/0/grid", "1 to 3"},
        {KERNEL("[1,1,1,1]", "[1]", "[]"), "/kernels/0/grid", "4 entries"},
        {KERNEL("'rows'", "[1]", "[]"), "/kernels/0/grid", "expected an array"},
        {KERNEL("[1,'rowz']", "[1]", "[]"), "/kernels/0/grid/1", "rows, cols, sm_count"},
        {KERNEL("['x']", "[1]", "[]"), "/kernels/0/grid/0", "unknown variable x"},
        {KERNEL("['']", "[1]", "[]"), "/kernels/0/grid/0", "column 1"},
        {KERNEL("[1.5]", "[1]", "[]"), "/kernels/0/grid/0", "found real"},
        {KERNEL("[256.0]", "[1]", "[]"), "/kernels/0/grid/0", "found real"},
        {KERNEL("[true]", "[1]", "[]"), "/kernels/0/grid/0", "found bool"},
        {KERNEL("[1]", "['256 256']", "[]"), "/kernels/0/block/0", "column 5"},
        {KERNEL("[1]", "['eps']", "[]"), "/kernels/0/block/0", "eps"},
        {"{'kernels':[{'entry':'k','grid':[1],'block':[1],'shared':1e3,'args':[]}]}",
         "/kernels/0/shared", "found real"},
    };
    SCOPED(contract_destroy) contract *c = sample_contract();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(c, &rows[i]);
}

static void faults_of_arguments_tell_what_to_write(void **state)
{
    (void)state;
    static const row rows[] = {
        {ARGS("'z'"), "/kernels/0/args/0", "there are: x, weight, y"},
        {ARGS("'x','rows'"), "/kernels/0/args/1", "{\"i32\": \"rows\"}"},
        {ARGS("'cc'"), "/kernels/0/args/0", "{\"i32\": \"cc\"}"},
        {ARGS("'eps'"), "/kernels/0/args/0", "{\"f32\": \"eps\"}"},
        {ARGS("5"), "/kernels/0/args/0", "typed value"},
        {ARGS("null"), "/kernels/0/args/0", "typed value"},
        {ARGS("{}"), "/kernels/0/args/0", "exactly one type"},
        {ARGS("{'i32':1,'i64':1}"), "/kernels/0/args/0", "exactly one type"},
        {ARGS("{'int':1}"), "/kernels/0/args/0/int", "unknown key"},
        {ARGS("{'i32':1.0}"), "/kernels/0/args/0/i32", "found real"},
        {ARGS("{'i32':'1.0'}"), "/kernels/0/args/0/i32", "column"},
        {ARGS("{'i32':[1]}"), "/kernels/0/args/0/i32", "found array"},
        {ARGS("{'f32':'rows'}"), "/kernels/0/args/0/f32", "neither a number"},
        {ARGS("{'f32':'1e-5f'}"), "/kernels/0/args/0/f32", "(eps)"},
        {ARGS("{'f32':''}"), "/kernels/0/args/0/f32", "neither a number"},
        {ARGS("{'f32':'inf'}"), "/kernels/0/args/0/f32", "'inf'"},
        {ARGS("{'f32':'nan'}"), "/kernels/0/args/0/f32", "'nan'"},
        {ARGS("{'f32':1e39}"), "/kernels/0/args/0/f32", "does not fit f32"},
        {ARGS("{'f32':false}"), "/kernels/0/args/0/f32", "found bool"},
    };
    SCOPED(contract_destroy) contract *c = sample_contract();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(c, &rows[i]);
}

static void faults_of_scratch_tell_what_to_write(void **state)
{
    (void)state;
    static const row rows[] = {
        {SCRATCH("1"), "/scratch/0", "name, dtype and count"},
        {SCRATCH("{'dtype':'f32','count':1}"), "/scratch/0", "'name' is missing"},
        {SCRATCH("{'name':'s','count':1}"), "/scratch/0", "'dtype' is missing"},
        {SCRATCH("{'name':'s','dtype':'f32'}"), "/scratch/0", "'count' is missing"},
        {SCRATCH("{'name':'s','dtype':'float','count':1}"), "/scratch/0/dtype", "use f16, bf16"},
        {SCRATCH("{'name':'s','dtype':'f32','count':'n'}"), "/scratch/0/count", "variable n"},
        {SCRATCH("{'name':'s','dtype':'f32','count':1,'init':'one'}"), "/scratch/0/init",
         "\"none\" or \"zero\""},
        {SCRATCH("{'name':'s','dtype':'f32','count':1,'init':0}"), "/scratch/0/init", "integer"},
        {SCRATCH("{'name':'1s','dtype':'f32','count':1}"), "/scratch/0/name", "no name"},
        {SCRATCH("{'name':'x','dtype':'f32','count':1}"), "/scratch/0/name", "already taken"},
        {SCRATCH("{'name':'cols','dtype':'f32','count':1}"), "/scratch/0/name", "already taken"},
        {SCRATCH("{'name':'eps','dtype':'f32','count':1}"), "/scratch/0/name", "already taken"},
        {SCRATCH("{'name':'on_emu','dtype':'f32','count':1}"), "/scratch/0/name", "already taken"},
        {SCRATCH("{'name':'s','dtype':'f32','count':1},{'name':'s','dtype':'f32','count':1}"),
         "/scratch/1/name", "already taken"},
        {SCRATCH("{'name':'s','dtype':'f32','count':1,'align':16}"), "/scratch/0/align",
         "unknown key"},
    };
    SCOPED(contract_destroy) contract *c = sample_contract();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(c, &rows[i]);
}

/* plan_of is a plan with so many kernels at the top and in each of so many variants. */
static char *plan_of(size_t top, size_t variants, size_t each)
{
    static const char kernel[] = "{\"entry\":\"k\",\"grid\":[1],\"block\":[1],\"args\":[]}";
    buf out;
    buf_init(&out, 4 * 1024 * 1024);
    buf_puts(&out, "{\"kernels\":[");
    for (size_t i = 0; i < top; i++)
        buf_printf(&out, "%s%s", i > 0 ? "," : "", kernel);
    buf_puts(&out, "],\"variants\":[");
    for (size_t v = 0; v < variants; v++) {
        buf_printf(&out, "%s{\"when\":0,\"kernels\":[", v > 0 ? "," : "");
        for (size_t i = 0; i < each; i++)
            buf_printf(&out, "%s%s", i > 0 ? "," : "", kernel);
        buf_puts(&out, "]}");
    }
    buf_puts(&out, "]}");
    return buf_take(&out);
}

static void limits_of_counts_hold_at_the_edge(void **state)
{
    (void)state;
    static const struct {
        size_t top, variants, each;
        const char *pointer; /* NULL: accepted */
    } rows[] = {
        {PLAN_NODES_MAX, 0, 0, NULL},       {PLAN_NODES_MAX + 1, 0, 0, "/kernels"},
        {PLAN_NODES_MAX - 64, 32, 2, NULL}, {PLAN_NODES_MAX - 63, 32, 2, "/variants/31/kernels/1"},
        {1, PLAN_VARIANTS_MAX, 1, NULL},    {1, PLAN_VARIANTS_MAX + 1, 1, "/variants"},
    };
    SCOPED(contract_destroy) contract *c = sample_contract();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        plan_fault fault = {{0}, {0}};
        SCOPED(scoped_free) char *text = plan_of(rows[i].top, rows[i].variants, rows[i].each);
        SCOPED(plan_destroy) plan *p = plan_parse(text, strlen(text), c, &fault);
        assert_int_equal(p != NULL, rows[i].pointer == NULL);
        if (rows[i].pointer != NULL)
            assert_string_equal(fault.pointer, rows[i].pointer);
    }
}

static void too_many_arguments_are_refused(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    for (size_t count = PLAN_ARGS_MAX; count <= PLAN_ARGS_MAX + 1; count++) {
        SCOPED(buf_fini) buf text;
        buf_init(&text, 65536);
        buf_puts(&text, "{'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[");
        for (size_t i = 0; i < count; i++)
            buf_printf(&text, "%s'x'", i > 0 ? "," : "");
        buf_puts(&text, "]}]}");
        plan_fault fault = {{0}, {0}};
        SCOPED(plan_destroy) plan *p = parse(c, buf_text(&text), &fault);
        assert_int_equal(p != NULL, count <= PLAN_ARGS_MAX);
        if (p == NULL)
            assert_string_equal(fault.pointer, "/kernels/0/args");
    }
}

static void a_plan_of_megabytes_is_refused_unread(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    size_t size = PLAN_TEXT_MAX + 1;
    SCOPED(scoped_free) char *text = xmalloc(size);
    memset(text, ' ', size);
    plan_fault fault = {{0}, {0}};
    assert_null(plan_parse(text, size, c, &fault));
    assert_non_null(strstr(fault.text, "longer"));
}

static void long_foreign_text_is_cut_without_breaking_a_character(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(buf_fini) buf text;
    buf_init(&text, 65536);
    buf_puts(&text, "{'");
    for (int i = 0; i < 500; i++)
        buf_puts(&text, "\xc3\xa9");
    buf_puts(&text, "':1}");
    plan_fault fault = {{0}, {0}};
    assert_null(parse(c, buf_text(&text), &fault));
    assert_int_equal(fault.pointer[0], '/');
    assert_int_equal((strlen(fault.pointer) - 1) % 2, 0);
    assert_true(strlen(fault.pointer) < sizeof fault.pointer);
}

static void a_caller_that_wants_no_reason_may_pass_none(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    assert_null(parse(c, "{}", NULL));
    plan *none = NULL;
    plan_destroy(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_plan_is_read),
        cmocka_unit_test(a_repeat_has_its_kernels_and_a_variable),
        cmocka_unit_test(faults_of_structure_have_a_pointer),
        cmocka_unit_test(faults_of_numbers_have_a_pointer),
        cmocka_unit_test(faults_of_arguments_tell_what_to_write),
        cmocka_unit_test(faults_of_scratch_tell_what_to_write),
        cmocka_unit_test(limits_of_counts_hold_at_the_edge),
        cmocka_unit_test(too_many_arguments_are_refused),
        cmocka_unit_test(a_plan_of_megabytes_is_refused_unread),
        cmocka_unit_test(long_foreign_text_is_cut_without_breaking_a_character),
        cmocka_unit_test(a_caller_that_wants_no_reason_may_pass_none),
    };
    return cmocka_run_group_tests_name("plan_tree", tests, NULL, NULL);
}
