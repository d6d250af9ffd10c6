/* test_plan - expansion of launch plans at a shape and a device
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "suites/plan.h"
#include "tests/unit/suites/sample.h"

#define KERNEL(grid, block, rest) \
    "{'kernels':[{'entry':'k','grid':[" grid "],'block':[" block "]," rest "}]}"
#define ARGS(args) KERNEL("1", "1", "'args':[" args "]")

static const plan_device device = {
    .sm_count = 132,
    .cc = 90,
    .grid_max = {INT32_MAX, 65535, 65535},
    .block_max = {1024, 1024, 64},
    .threads_per_block_max = 1024,
    .shared_per_block_max = 49152,
    .memory_bytes = 1000000,
};

static const contract_shape shape = {{33, 1000}};

static plan *parse(const contract *c, const char *quoted)
{
    SCOPED(scoped_free) char *text = sample_quote(quoted);
    plan_fault fault = {{0}, {0}};
    plan *p = plan_parse(text, strlen(text), c, &fault);
    if (p == NULL)
        print_error("%s\n  %s: %s\n", quoted, fault.pointer, fault.text);
    assert_non_null(p);
    return p;
}

static void expand(const contract *c, const plan *p, const contract_shape *at, plan_steps *out)
{
    plan_fault fault = {{0}, {0}};
    int rc = plan_expand(p, c, at, &device, out, &fault);
    if (rc != 0)
        print_error("%s: %s\n", fault.pointer, fault.text);
    assert_int_equal(rc, 0);
}

static void a_step_has_every_number(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(plan_destroy)
    plan *p = parse(
        c, "{'kernels':[{'entry':'k','grid':['rows','ceil_div(cols,256)'],'block':[32,'2*2',2],"
           "'shared':'cols*4','args':['y','x','s',{'i32':'-cols'},{'u64':'rows*cols'},"
           "{'f32':'1.5'},{'f64':'eps'},'z','none']},"
           "{'entry':'l','grid':['sm_count'],'block':['cc + on_emu'],'args':[],"
           "'cooperative':true}],"
           "'scratch':[{'name':'s','dtype':'f64','count':'rows'},"
           "{'name':'z','dtype':'i32','count':3,'init':'zero'},"
           "{'name':'none','dtype':'i32','count':0,'init':'zero'}]}");
    SCOPED(plan_steps_fini) plan_steps steps = {0};
    expand(c, p, &shape, &steps);
    assert_int_equal(steps.scratch_count, 3);
    assert_int_equal(steps.scratch[0].bytes, 264);
    assert_int_equal(steps.scratch[1].bytes, 12);
    assert_int_equal(steps.scratch[2].bytes, 0);
    assert_int_equal(steps.step_count, 3);
    assert_int_equal(steps.steps[0].kind, PLAN_STEP_ZERO);
    assert_int_equal(steps.steps[0].scratch, 1);
    assert_string_equal(steps.steps[0].pointer, "/scratch/1");
    const plan_step *k = &steps.steps[1];
    assert_int_equal(k->kind, PLAN_STEP_LAUNCH);
    assert_string_equal(k->entry, "k");
    assert_string_equal(k->pointer, "/kernels/0");
    const uint32_t grid[] = {33, 4, 1}, block[] = {32, 4, 2};
    assert_memory_equal(k->grid, grid, sizeof grid);
    assert_memory_equal(k->block, block, sizeof block);
    assert_int_equal(k->shared, 4000);
    assert_int_equal(k->arg_count, 9);
    assert_false(k->cooperative);
    assert_int_equal(k->args[0].kind, PLAN_ARG_TENSOR);
    assert_int_equal(k->args[0].index, 2);
    assert_int_equal(k->args[2].kind, PLAN_ARG_SCRATCH);
    const plan_step *l = &steps.steps[2];
    assert_int_equal(l->grid[0], 132);
    assert_int_equal(l->block[0], 90);
    assert_int_equal(l->shared, 0);
    assert_true(l->cooperative);
}

#define REPEAT(times, kernel) \
    "{'kernels':[{'repeat':" times ",'index':'t','kernels':[" kernel "]}]}"
#define ROUND(args) "{'entry':'k','grid':['t + 1'],'block':[32],'args':[" args "]}"

static int32_t i32_of(const plan_arg *arg)
{
    int32_t value;
    memcpy(&value, arg->bytes, sizeof value);
    return value;
}

static void a_repeat_gives_a_step_for_every_kernel_of_every_round(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(plan_destroy)
    plan *p = parse(c, "{'kernels':[{'entry':'before','grid':[1],'block':[1],'args':[]},"
                       "{'repeat':'rows - 30','index':'t','kernels':["
                       "{'entry':'a','grid':['t + 1'],'block':['32 * (t + 1)'],'shared':'t * 4',"
                       "'args':[{'i32':'t'},{'view':'x','offset':'t * cols'}]},"
                       "{'entry':'b','grid':[1],'block':[1],'args':[{'i32':'-t'}]}]},"
                       "{'repeat':0,'index':'t','kernels':["
                       "{'entry':'never','grid':[0],'block':[0],'args':[]}]},"
                       "{'entry':'after','grid':[1],'block':[1],'args':[]}]}");
    SCOPED(plan_steps_fini) plan_steps steps = {0};
    expand(c, p, &shape, &steps);
    assert_int_equal(steps.step_count, 8);
    assert_string_equal(steps.steps[0].entry, "before");
    assert_string_equal(steps.steps[7].entry, "after");
    for (uint32_t t = 0; t < 3; t++) {
        const plan_step *a = &steps.steps[1 + 2 * t], *b = &steps.steps[2 + 2 * t];
        assert_string_equal(a->entry, "a");
        assert_string_equal(a->pointer, "/kernels/1/kernels/0");
        assert_string_equal(b->pointer, "/kernels/1/kernels/1");
        assert_int_equal(a->grid[0], t + 1);
        assert_int_equal(a->block[0], 32 * (t + 1));
        assert_int_equal(a->shared, 4 * t);
        assert_int_equal(i32_of(&a->args[0]), t);
        assert_int_equal(i32_of(&b->args[0]), -(int32_t)t);
        assert_int_equal(a->args[1].kind, PLAN_ARG_TENSOR);
        assert_int_equal(a->args[1].offset, (uint64_t)t * 1000 * 2);
    }
    size_t count = 0;
    plan_entries(p, &count);
    assert_int_equal(count, 5);
}

/* A buffer is cleared right before the first kernel that gets it; buffers whose lives do not overlap share. */
static void scratch_is_cleared_and_placed_by_its_life(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(plan_destroy)
    plan *p = parse(c, "{'scratch':[{'name':'s','dtype':'f32','count':10},"
                       "{'name':'u','dtype':'f32','count':10},"
                       "{'name':'z','dtype':'f32','count':20,'init':'zero'},"
                       "{'name':'idle','dtype':'f32','count':5,'init':'zero'}],"
                       "'kernels':[{'entry':'a','grid':[1],'block':[1],'args':['s']},"
                       "{'entry':'b','grid':[1],'block':[1],'args':['s','u']},"
                       "{'entry':'c','grid':[1],'block':[1],'args':['u',"
                       "{'view':'z','offset':19}]}]}");
    SCOPED(plan_steps_fini) plan_steps steps = {0};
    expand(c, p, &shape, &steps);
    assert_int_equal(steps.step_count, 4);
    assert_int_equal(steps.steps[2].kind, PLAN_STEP_ZERO);
    assert_int_equal(steps.steps[2].scratch, 2);
    assert_int_equal(steps.steps[3].args[1].offset, 76);
    assert_int_equal(steps.place_count, 2);
    assert_int_equal(steps.scratch[0].place, steps.scratch[2].place);
    assert_int_not_equal(steps.scratch[1].place, steps.scratch[2].place);
    assert_true(steps.scratch[2].inherits);
    assert_false(steps.scratch[0].inherits || steps.scratch[1].inherits);
    assert_int_equal(steps.scratch[2].first, 2);
    assert_int_equal(steps.scratch[2].last, 3);
    assert_int_equal(steps.scratch[1].last, 3);
    assert_int_equal(steps.place_bytes[0] + steps.place_bytes[1], 120);
}

/* 2,000 rounds with 200,000 bytes each fit into 25 % of a million, since one is dead when the next lives. */
static void what_is_not_alive_together_may_be_larger_than_memory(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(plan_destroy)
    plan *p = parse(c, "{'scratch':[{'name':'s','dtype':'u8','count':200000},"
                       "{'name':'u','dtype':'u8','count':200000}],"
                       "'kernels':[{'entry':'a','grid':[1],'block':[1],'args':['s']},"
                       "{'entry':'b','grid':[1],'block':[1],'args':['u']}]}");
    SCOPED(plan_steps_fini) plan_steps steps = {0};
    expand(c, p, &shape, &steps);
    assert_int_equal(steps.place_count, 1);
    assert_int_equal(steps.place_bytes[0], 200000);
}

static void values_are_little_endian_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *arg;
        size_t size;
        uint8_t bytes[8];
    } rows[] = {
        {"{'i32':'-1000'}", 4, {0x18, 0xfc, 0xff, 0xff}},
        {"{'i32':2147483647}", 4, {0xff, 0xff, 0xff, 0x7f}},
        {"{'i32':'-2147483648'}", 4, {0, 0, 0, 0x80}},
        {"{'u32':4294967295}", 4, {0xff, 0xff, 0xff, 0xff}},
        {"{'i64':'-1'}", 8, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
        {"{'u64':9223372036854775807}", 8, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
        {"{'f32':1}", 4, {0, 0, 0x80, 0x3f}},
        {"{'f32':'-0.5'}", 4, {0, 0, 0, 0xbf}},
        {"{'f32':'eps'}", 4, {0xac, 0xc5, 0x27, 0x37}},
        {"{'f64':'eps'}", 8, {0xf1, 0x68, 0xe3, 0x88, 0xb5, 0xf8, 0xe4, 0x3e}},
        {"{'f64':1e300}", 8, {0x9c, 0x75, 0x00, 0x88, 0x3c, 0xe4, 0x37, 0x7e}},
    };
    SCOPED(contract_destroy) contract *c = sample_contract();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(scoped_free) char *text = xasprintf(ARGS("%s"), rows[i].arg);
        SCOPED(plan_destroy) plan *p = parse(c, text);
        SCOPED(plan_steps_fini) plan_steps steps = {0};
        expand(c, p, &shape, &steps);
        const plan_arg *arg = &steps.steps[0].args[0];
        assert_int_equal(arg->kind, PLAN_ARG_VALUE);
        assert_int_equal(arg->size, rows[i].size);
        assert_memory_equal(arg->bytes, rows[i].bytes, rows[i].size);
    }
}

static void faults_at_a_shape_have_a_pointer_and_the_shape(void **state)
{
    (void)state;
    static const struct {
        const char *text, *pointer, *cause;
    } rows[] = {
        {KERNEL("0", "1", "'args':[]"), "/kernels/0/grid/0", "must be 1 to 2147483647"},
        {KERNEL("1,'rows-33'", "1", "'args':[]"), "/kernels/0/grid/1", "size is 0"},
        {KERNEL("1,65536", "1", "'args':[]"), "/kernels/0/grid/1", "1 to 65535"},
        {KERNEL("2147483648", "1", "'args':[]"), "/kernels/0/grid/0", "2147483648"},
        {KERNEL("'-rows'", "1", "'args':[]"), "/kernels/0/grid/0", "size is -33"},
        {KERNEL("1", "1025", "'args':[]"), "/kernels/0/block/0", "1 to 1024"},
        {KERNEL("1", "1,1,65", "'args':[]"), "/kernels/0/block/2", "1 to 64"},
        {KERNEL("1", "32,33", "'args':[]"), "/kernels/0/block", "1056 threads"},
        {KERNEL("1", "0", "'args':[]"), "/kernels/0/block/0", "size is 0"},
        {KERNEL("1", "1", "'shared':49153,'args':[]"), "/kernels/0/shared", "49153 bytes"},
        {KERNEL("1", "1", "'shared':'-1','args':[]"), "/kernels/0/shared", "-1 bytes"},
        {KERNEL("'rows/(cols-1000)'", "1", "'args':[]"), "/kernels/0/grid/0", "division by zero"},
        {KERNEL("'rows%(cols-1000)'", "1", "'args':[]"), "/kernels/0/grid/0", "division by zero"},
        {KERNEL("'9223372036854775807+rows'", "1", "'args':[]"), "/kernels/0/grid/0", "64 bits"},
        {ARGS("{'i32':2147483648}"), "/kernels/0/args/0/i32", "does not fit i32"},
        {ARGS("'x',{'i32':'-2147483649'}"), "/kernels/0/args/1/i32", "does not fit i32"},
        {ARGS("{'u32':4294967296}"), "/kernels/0/args/0/u32", "does not fit u32"},
        {ARGS("{'u32':'-1'}"), "/kernels/0/args/0/u32", "-1 does not fit"},
        {ARGS("{'u64':'-1'}"), "/kernels/0/args/0/u64", "-1 does not fit"},
        {ARGS("{'i64':'cols*9223372036854775807'}"), "/kernels/0/args/0/i64", "64 bits"},
        {"{'scratch':[{'name':'s','dtype':'f32','count':'-1'}],"
         "'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[]}]}",
         "/scratch/0/count", "negative"},
        {"{'scratch':[{'name':'s','dtype':'f32','count':62500},{'name':'t','dtype':'u8','count':1}]"
         ","
         "'kernels':[{'entry':'k','grid':[1],'block':[1],'args':['s','t']}]}",
         "/scratch/1/count", "25 %"},
        {"{'scratch':[{'name':'s','dtype':'f64','count':9223372036854775807}],"
         "'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[]}]}",
         "/scratch/0/count", "25 %"},
        {"{'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[]}],'variants':[{'when':0,"
         "'kernels':[{'entry':'k','grid':[0],'block':[1],'args':[]}]},{'when':'1/(rows-33)',"
         "'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[]}]}]}",
         "/variants/1/when", "division by zero"},
        {"{'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[]}],'variants':[{'when':'rows',"
         "'kernels':[{'entry':'k','grid':[0],'block':[1],'args':[]}]}]}",
         "/variants/0/kernels/0/grid/0", "size is 0"},
        {REPEAT("'rows-34'", ROUND("")), "/kernels/0/repeat", "-1 times"},
        {REPEAT("16385", ROUND("")), "/kernels/0/repeat", "16385 times; 0 to 16384"},
        {REPEAT("9223372036854775807", ROUND("")), "/kernels/0/repeat", "0 to 16384"},
        {REPEAT("'9223372036854775807 + rows'", ROUND("")), "/kernels/0/repeat", "64 bits"},
        {REPEAT("8193", ROUND("") "," ROUND("")), "/kernels/0/kernels/0", "more than 16384"},
        {ARGS("{'view':'x','offset':33000}"), "/kernels/0/args/0/offset",
         "element 33000 of x, which has 33000"},
        {ARGS("{'view':'x','offset':'-1'}"), "/kernels/0/args/0/offset", "element -1 of x"},
        {ARGS("'y',{'view':'x','offset':'rows * 9223372036854775807'}"), "/kernels/0/args/1/offset",
         "64 bits"},
        {"{'scratch':[{'name':'s','dtype':'f32','count':4}],'kernels':[{'entry':'k','grid':[1],"
         "'block':[1],'args':[{'view':'s','offset':4}]}]}",
         "/kernels/0/args/0/offset", "element 4 of s, which has 4"},
    };
    SCOPED(contract_destroy) contract *c = sample_contract();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(plan_destroy) plan *p = parse(c, rows[i].text);
        plan_fault fault = {{0}, {0}};
        plan_steps steps = {.step_count = 77};
        int rc = plan_expand(p, c, &shape, &device, &steps, &fault);
        if (rc == 0 || strcmp(fault.pointer, rows[i].pointer) != 0 ||
            strstr(fault.text, rows[i].cause) == NULL)
            print_error("%s\n  got %s '%s'\n", rows[i].text, fault.pointer, fault.text);
        assert_int_equal(rc, -1);
        assert_int_equal(steps.step_count, 77);
        assert_string_equal(fault.pointer, rows[i].pointer);
        assert_non_null(strstr(fault.text, rows[i].cause));
        assert_non_null(strstr(fault.text, "(at rows=33 cols=1000"));
    }
}

#define TWO_SCRATCH                                                                              \
    "{'scratch':[{'name':'s','dtype':'f32','count':62500},{'name':'t','dtype':'u8','count':0}]," \
    "'kernels':[{'entry':'k','grid':[1],'block':[1],'args':[]}]}"

static void a_fault_inside_a_repeat_tells_the_round(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(plan_destroy)
    plan *p = parse(c, REPEAT("100", ROUND("{'view':'x','offset':'t * cols'}")));
    plan_fault fault = {{0}, {0}};
    plan_steps steps = {0};
    assert_int_equal(plan_expand(p, c, &shape, &device, &steps, &fault), -1);
    assert_string_equal(fault.pointer, "/kernels/0/kernels/0/args/0/offset");
    assert_non_null(strstr(fault.text, "(at rows=33 cols=1000, t=33)"));
}

static void limits_are_allowed_exactly(void **state)
{
    (void)state;
    static const char *const rows[] = {
        KERNEL("2147483647,65535,65535", "1024", "'args':[]"),
        KERNEL("1", "1,16,64", "'shared':49152,'args':[]"),
        TWO_SCRATCH,
    };
    SCOPED(contract_destroy) contract *c = sample_contract();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(plan_destroy) plan *p = parse(c, rows[i]);
        SCOPED(plan_steps_fini) plan_steps steps = {0};
        expand(c, p, &shape, &steps);
        assert_int_equal(steps.step_count, 1);
    }
}

static void the_most_launches_are_allowed(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(plan_destroy) plan *p = parse(c, REPEAT("8192", ROUND("{'i32':'t'}") "," ROUND("")));
    SCOPED(plan_steps_fini) plan_steps steps = {0};
    expand(c, p, &shape, &steps);
    assert_int_equal(steps.step_count, PLAN_LAUNCHES_MAX);
    assert_int_equal(i32_of(&steps.steps[PLAN_LAUNCHES_MAX - 2].args[0]), 8191);
}

static void the_first_variant_that_holds_replaces_the_kernels(void **state)
{
    (void)state;
    static const char text[] = "{'kernels':[{'entry':'plain','grid':[1],'block':[1],'args':['s']}],"
                               "'scratch':[{'name':'s','dtype':'u8','count':1,'init':'zero'}],"
                               "'variants':[{'when':'cols % 8 == 0 && cols <= 64','kernels':"
                               "[{'entry':'small','grid':[1],'block':[1],'args':['s']}]},"
                               "{'when':'cols % 8 == 0','kernels':["
                               "{'entry':'wide','grid':[1],'block':[1],'args':['s']},"
                               "{'entry':'wide2','grid':[1],'block':[1],'args':['s']}]}]}";
    static const struct {
        int64_t cols;
        const char *entry;
        size_t steps;
    } rows[] = {
        {7, "plain", 2}, {8, "small", 2}, {64, "small", 2}, {72, "wide", 3}, {65, "plain", 2}};
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(plan_destroy) plan *p = parse(c, text);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        contract_shape at = {{2, rows[i].cols}};
        SCOPED(plan_steps_fini) plan_steps steps = {0};
        expand(c, p, &at, &steps);
        assert_int_equal(steps.step_count, rows[i].steps);
        assert_int_equal(steps.steps[0].kind, PLAN_STEP_ZERO);
        assert_string_equal(steps.steps[1].entry, rows[i].entry);
    }
}

static void an_empty_output_means_no_steps_whatever_the_plan_says(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(plan_destroy) plan *p = parse(c, KERNEL("'cols / rows'", "1", "'args':[]"));
    static const contract_shape empty[] = {{{0, 128}}, {{5, 0}}};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        SCOPED(plan_steps_fini) plan_steps steps = {0};
        expand(c, p, &empty[i], &steps);
        assert_int_equal(steps.step_count, 0);
        assert_int_equal(steps.scratch_count, 0);
    }
}

static void releasing_twice_is_fine(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(plan_destroy) plan *p = parse(c, KERNEL("1", "1", "'args':[]"));
    plan_steps steps = {0};
    expand(c, p, &shape, &steps);
    plan_steps_fini(&steps);
    plan_steps_fini(&steps);
    assert_int_equal(steps.step_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_has_every_number),
        cmocka_unit_test(a_repeat_gives_a_step_for_every_kernel_of_every_round),
        cmocka_unit_test(scratch_is_cleared_and_placed_by_its_life),
        cmocka_unit_test(what_is_not_alive_together_may_be_larger_than_memory),
        cmocka_unit_test(values_are_little_endian_bytes),
        cmocka_unit_test(faults_at_a_shape_have_a_pointer_and_the_shape),
        cmocka_unit_test(a_fault_inside_a_repeat_tells_the_round),
        cmocka_unit_test(limits_are_allowed_exactly),
        cmocka_unit_test(the_most_launches_are_allowed),
        cmocka_unit_test(the_first_variant_that_holds_replaces_the_kernels),
        cmocka_unit_test(an_empty_output_means_no_steps_whatever_the_plan_says),
        cmocka_unit_test(releasing_twice_is_fine),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
