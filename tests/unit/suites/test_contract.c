/* test_contract - reading, writing and evaluating contracts
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>

#include "common/yaml.h"
#include "tests/unit/suites/sample.h"

static void the_canonical_text_reads_back_to_the_same_text_and_hash(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    SCOPED(scoped_free) char *text = contract_text(c);
    SCOPED(contract_destroy) contract *again = contract_parse(text, strlen(text), "again", NULL);
    assert_non_null(again);
    SCOPED(scoped_free) char *second = contract_text(again);
    assert_string_equal(text, second);
    hash a = contract_hash(c), b = contract_hash(again), plain = hash_of_text(text);
    assert_true(hash_equal(&a, &b));
    assert_true(hash_equal(&a, &plain));
}

static void fields_are_where_they_belong(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    assert_string_equal(c->problem, "sample");
    assert_int_equal(c->dim_count, 2);
    assert_string_equal(c->dims[1].name, "cols");
    assert_int_equal(c->dims[1].min, 1);
    assert_int_equal(c->input_count, 2);
    assert_int_equal(c->output_count, 1);
    assert_int_equal(contract_find_tensor(c, "weight"), 1);
    assert_int_equal(contract_find_tensor(c, "y"), 2);
    assert_int_equal(contract_find_tensor(c, "eps"), -1);
    assert_int_equal(contract_find_scalar(c, "eps"), 0);
    assert_int_equal(contract_find_scalar(c, "x"), -1);
    assert_true(c->scalars[0].value == 1e-5);
    assert_int_equal(c->tensors[0].rank, 2);
    assert_int_equal(c->shape_count, 2);
    assert_int_equal(c->benchmark.dims[0], 4096);
    assert_string_equal(c->families.names[1], "zeros");
    assert_false(c->order_free);
}

static void yaml_and_json_give_the_same_contract(void **state)
{
    (void)state;
    static const char text[] = "dims: {rows: [0, 65536], cols: [1, 16384]}\n"
                               "inputs:\n"
                               "  x: {dtype: f16, shape: [rows, cols]}\n"
                               "  weight: {dtype: f16, shape: [cols]}\n"
                               "scalars: {eps: {dtype: f32, value: 1.0e-5}}\n"
                               "outputs:\n"
                               "  y: {dtype: f16, shape: [rows, cols]}\n"
                               "reduction: cols\n"
                               "values: [normal, zeros]\n"
                               "shapes: [{rows: 0, cols: 128}, {cols: 7, rows: 3}]\n"
                               "benchmark: {rows: 4096, cols: 4096}\n";
    SCOPED(json_doc_destroy) json_doc *doc = yaml_parse(text, strlen(text), "p.yaml", NULL);
    assert_non_null(doc);
    json_cursor root = json_root(doc);
    SCOPED(contract_destroy) contract *a = contract_read_problem(&root, "sample", NULL);
    SCOPED(contract_destroy) contract *b = sample_contract();
    assert_non_null(a);
    SCOPED(scoped_free) char *from_yaml = contract_text(a);
    SCOPED(scoped_free) char *from_json = contract_text(b);
    assert_string_equal(from_yaml, from_json);
}

static const char with_domain[] =
    "{'problem':'p','dims':[{'name':'n','min':0,'max':99},{'name':'k','min':1,'max':9}],"
    "'inputs':[{'name':'x','dtype':'i32','shape':['n'],'range':['-k','k - 1'],'order':'sorted',"
    "'families':['uniform','constant']}],'scalars':[],"
    "'outputs':[{'name':'y','dtype':'i32','shape':['n']}],"
    "'reduction':'1','values':['uniform'],'order_free':false,"
    "'shapes':[{'n':0,'k':3}],'benchmark':{'n':7,'k':3}}";

static void what_an_input_says_of_its_values_is_kept(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *text = sample_quote(with_domain);
    SCOPED(contract_destroy) contract *c = contract_parse(text, strlen(text), "c", NULL);
    assert_non_null(c);
    SCOPED(scoped_free) char *written = contract_text(c);
    SCOPED(contract_destroy) contract *again = contract_parse(written, strlen(written), "c", NULL);
    assert_non_null(again);
    SCOPED(scoped_free) char *second = contract_text(again);
    assert_string_equal(written, second);
    assert_non_null(strstr(written, "\"range\":[\"-k\",\"k - 1\"]"));
    SCOPED(json_destroy) json *told = contract_told_json(c);
    const json *input = json_at(json_get(told, "inputs"), 0);
    assert_null(json_get(told, "values"));
    assert_null(json_get(input, "families"));
    assert_non_null(json_get(input, "range"));
    assert_true(c->tensors[0].ascending);
    assert_int_equal(c->tensors[0].families.count, 2);
    assert_true(family_list_has(&c->tensors[0].families, "constant"));
    int64_t range[2] = {0};
    bool has = false;
    assert_int_equal(contract_range(c, 0, &c->benchmark, &has, range, NULL), 0);
    assert_true(has);
    assert_int_equal(range[0], -3);
    assert_int_equal(range[1], 2);
    assert_int_equal(contract_range(c, 1, &c->benchmark, &has, range, NULL), 0);
    assert_false(has);
}

static void check_refusal(const char *text, const char *const *pieces, size_t count)
{
    err e = {0};
    contract *c = contract_parse(text, strlen(text), "c.json", &e);
    if (c != NULL)
        print_error("accepted: %s\n", text);
    assert_null(c);
    assert_int_equal(e.code, ERR_CONFIG);
    for (size_t i = 0; i < count; i++) {
        if (strstr(e.text, pieces[i]) == NULL)
            print_error("'%s' lacks '%s'\n", e.text, pieces[i]);
        assert_non_null(strstr(e.text, pieces[i]));
    }
}

/* replace_once is text with its first `from` replaced by `to`. */
static char *replace_once(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    return xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static void every_fault_names_file_pointer_and_cause(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to; /* one change to the sample */
        const char *pointer, *cause;
    } rows[] = {
        {"'problem':'sample'", "'problem':'a b'", "/problem", "name"},
        {"'problem':'sample',", "'problem':'sample','extra':1,", "/extra", "unknown key"},
        {"'problem':'sample',", "", "c.json", "problem"},
        {"{'name':'rows','min':0", "{'name':'sm_count','min':0", "/dims/0/name", "meaning"},
        {"{'name':'rows','min':0", "{'name':'cols','min':0", "/dims/1/name", "already"},
        {"'min':0,'max':65536", "'min':-1,'max':65536", "/dims/0/min", "-1"},
        {"'min':0,'max':65536", "'min':9,'max':8", "/dims/0/max", "8"},
        {"'min':0,'max':65536", "'min':0,'max':1e3", "/dims/0/max", "integer"},
        {"'name':'weight'", "'name':'x'", "/inputs/1/name", "already"},
        {"'name':'weight'", "'name':'rows'", "/inputs/1/name", "already"},
        {"'name':'weight','dtype':'f16'", "'name':'weight','dtype':'f8'", "/inputs/1/dtype", "f8"},
        {"'shape':['cols']", "'shape':['colz']", "/inputs/1/shape/0", "colz"},
        {"'shape':['cols']", "'shape':['cols-129']", "/shapes/0", "negative"},
        {"'shape':['cols']", "'shape':['cols/rows']", "/shapes/0", "division by zero"},
        {"'shape':['cols']", "'shape':'cols'", "/inputs/1/shape", "array"},
        {"'shape':['cols']", "'shape':[1,1,1,1,1,1,1,1,1]", "/inputs/1/shape", "9"},
        {"'shape':['cols']", "'shape':[4611686018427387904,'cols']", "/shapes/0", "overflow"},
        {"'shape':['cols']", "'shape':[4611686018427387904]", "/shapes/0", "bytes overflows"},
        {"'name':'eps'", "'name':'y'", "/scalars/0/name", "already"},
        {"'dtype':'f32','value':1e-5", "'dtype':'f16','value':1", "/scalars/0/value", "f32, f64"},
        {"'dtype':'f32','value':1e-5", "'dtype':'f32','value':1e39", "/scalars/0/value", "fit"},
        {"'dtype':'f32','value':1e-5", "'dtype':'i32','value':2147483648", "/scalars/0/value",
         "2147483648"},
        {"'dtype':'f32','value':1e-5", "'dtype':'i64','value':1.5", "/scalars/0/value", "integer"},
        {"'shape':['cols']", "'shape':['cols'],'range':[0,1]", "/inputs/1/range", "not for f16"},
        {"'shape':['cols']", "'shape':['cols'],'order':'up'", "/inputs/1/order", "up"},
        {"'shape':['cols']", "'shape':['cols'],'families':['sums']", "/inputs/1/families/0",
         "sums"},
        {"'shape':['rows','cols']}],'reduction'", "'shape':['rows'],'order':'sorted'}],'reduction'",
         "/outputs/0/order", "unknown key"},
        {"'dtype':'f16','shape':['cols']", "'dtype':'u8','shape':['cols'],'range':[0]",
         "/inputs/1/range", "[lowest, highest]"},
        {"'dtype':'f16','shape':['cols']", "'dtype':'u8','shape':['cols'],'range':[0,'k']",
         "/inputs/1/range/1", "k"},
        {"'dtype':'f16','shape':['cols']", "'dtype':'u8','shape':['cols'],'range':[0,'cols']",
         "/benchmark", "cannot hold"},
        {"'dtype':'f16','shape':['cols']", "'dtype':'u8','shape':['cols'],'range':['rows',2]",
         "/shapes/1", "no value"},
        {"'reduction':'cols'", "'reduction':'cols *'", "/reduction", "column"},
        {"'reduction':'cols'", "'reduction':'cols','operations':'2 * k'", "/operations", "k"},
        {"['normal','zeros']", "[]", "/values", "at least one"},
        {"['normal','zeros']", "['normal','gaussian']", "/values/1", "gaussian"},
        {"['normal','zeros']", "['normal','normal']", "/values/1", "twice"},
        {"'order_free':false", "'order_free':0", "/order_free", "true or false"},
        {"[{'rows':0,'cols':128},{'rows':3,'cols':7}]", "[]", "/shapes", "at least one"},
        {"{'rows':3,'cols':7}", "{'rows':3}", "/shapes/1", "cols"},
        {"{'rows':3,'cols':7}", "{'rows':3,'cols':7,'k':1}", "/shapes/1/k", "unknown key"},
        {"{'rows':3,'cols':7}", "{'rows':3,'cols':16385}", "/shapes/1/cols", "outside its range"},
        {"{'rows':3,'cols':7}", "{'rows':-3,'cols':7}", "/shapes/1/rows", "-3"},
        {"'benchmark':{'rows':4096,'cols':4096}", "'benchmark':{'rows':4096}", "/benchmark",
         "cols"},
        {"'outputs':[{'name':'y','dtype':'f16','shape':['rows','cols']}]", "'outputs':[]", "c.json",
         "at least one output"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(scoped_free) char *changed = replace_once(SAMPLE_CONTRACT, rows[i].from, rows[i].to);
        SCOPED(scoped_free) char *text = sample_quote(changed);
        const char *const pieces[] = {"c.json", rows[i].pointer, rows[i].cause};
        check_refusal(text, pieces, 3);
    }
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *text = sample_quote(SAMPLE_CONTRACT);
    for (size_t size = 0; size < strlen(text); size++) {
        err e = {0};
        assert_null(contract_parse(text, size, "cut", &e));
        assert_int_equal(e.code, ERR_CONFIG);
    }
}

static void scalars_and_order_free_may_be_left_out(void **state)
{
    (void)state;
    SCOPED(scoped_free) char *bare = replace_once(SAMPLE_CONTRACT, SAMPLE_SCALARS, "");
    SCOPED(scoped_free) char *barer = replace_once(bare, "'order_free':false,", "");
    SCOPED(scoped_free) char *text = sample_quote(barer);
    SCOPED(contract_destroy) contract *c = contract_parse(text, strlen(text), "c", NULL);
    assert_non_null(c);
    assert_int_equal(c->scalar_count, 0);
    assert_false(c->order_free);
}

static void a_rank_0_tensor_has_one_element(void **state)
{
    (void)state;
    SCOPED(scoped_free)
    char *changed =
        replace_once(SAMPLE_CONTRACT, "'name':'y','dtype':'f16','shape':['rows','cols']",
                     "'name':'y','dtype':'f16','shape':[]");
    SCOPED(scoped_free) char *text = sample_quote(changed);
    SCOPED(contract_destroy) contract *c = contract_parse(text, strlen(text), "c", NULL);
    assert_non_null(c);
    int64_t count = 0;
    assert_int_equal(contract_elements(c, 2, &c->shapes[0], &count, NULL), 0);
    assert_int_equal(count, 1);
}

static void sizes_follow_the_shape(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    static const struct {
        int64_t rows, cols, elements, reduction;
    } rows[] = {
        {0, 128, 0, 128}, {3, 7, 21, 7}, {65536, 16384, INT64_C(1) << 30, 16384}, {5, 0, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        contract_shape shape = {{rows[i].rows, rows[i].cols}};
        int64_t count = -1, length = -1, sizes[CONTRACT_RANK_MAX];
        assert_int_equal(contract_elements(c, 0, &shape, &count, NULL), 0);
        assert_int_equal(count, rows[i].elements);
        assert_int_equal(contract_tensor_shape(c, 2, &shape, sizes, NULL), 0);
        assert_int_equal(sizes[0], rows[i].rows);
        assert_int_equal(sizes[1], rows[i].cols);
        assert_int_equal(contract_reduction(c, &shape, &length, NULL), 0);
        assert_int_equal(length, rows[i].reduction);
    }
}

static void needs_are_told_or_none(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *none = sample_contract();
    SCOPED(json_destroy) json *tree = contract_to_json(none);
    assert_true(need_is_none(&none->needs));
    assert_null(json_get(tree, "memory"));
    assert_null(json_get(tree, "capability"));
    json_set_int(tree, "memory", INT64_C(60) << 30);
    json_set_int(tree, "capability", 90);
    SCOPED(scoped_free) char *text = json_dump(tree);
    SCOPED(contract_destroy) contract *c = contract_parse(text, strlen(text), "c", NULL);
    assert_non_null(c);
    assert_int_equal(c->needs.memory, INT64_C(60) << 30);
    assert_int_equal(c->needs.capability, 90);
    SCOPED(scoped_free) char *again = contract_text(c);
    assert_string_equal(again, text);
}

static void operations_are_told_or_none(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *none = sample_contract();
    int64_t count = -1;
    contract_shape shape = {{3, 7}};
    assert_int_equal(contract_operations(none, &shape, &count, NULL), 0);
    assert_int_equal(count, 0);
    SCOPED(json_destroy) json *tree = contract_to_json(none);
    assert_null(json_get(tree, "operations"));
    json_set_str(tree, "operations", "2 * rows * cols");
    SCOPED(scoped_free) char *text = json_dump(tree);
    err e = {0};
    SCOPED(contract_destroy) contract *c = contract_parse(text, strlen(text), "test", &e);
    if (c == NULL)
        fail_msg("%s", e.text);
    assert_int_equal(contract_operations(c, &shape, &count, NULL), 0);
    assert_int_equal(count, 42);
    SCOPED(json_destroy) json *again = contract_to_json(c);
    SCOPED(scoped_free) char *same = json_dump(again);
    assert_string_equal(same, text);
}

static void a_size_that_overflows_is_told_and_leaves_the_output_alone(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    contract_shape huge = {{INT64_C(1) << 40, INT64_C(1) << 40}};
    int64_t count = 77;
    err e = {0};
    assert_int_equal(contract_elements(c, 0, &huge, &count, &e), -1);
    assert_int_equal(count, 77);
    assert_int_equal(e.code, ERR_CONFIG);
    assert_non_null(strstr(e.text, "'x'"));
    assert_non_null(strstr(e.text, "rows=1099511627776"));
}

static void shapes_read_back_and_have_labels(void **state)
{
    (void)state;
    SCOPED(contract_destroy) contract *c = sample_contract();
    json *object = contract_shape_json(c, &c->shapes[1]);
    SCOPED(json_doc_destroy) json_doc *doc = json_doc_of(&object, "shape");
    json_cursor root = json_root(doc);
    contract_shape shape = {{0}};
    assert_int_equal(contract_shape_read(c, &root, &shape, NULL), 0);
    assert_int_equal(shape.dims[0], 3);
    assert_int_equal(shape.dims[1], 7);
    SCOPED(scoped_free) char *label = contract_shape_label(c, &shape);
    assert_string_equal(label, "rows=3 cols=7");
    expr_var vars[CONTRACT_DIMS_MAX];
    contract_vars(c, &shape, vars);
    assert_string_equal(vars[1].name, "cols");
    assert_int_equal(vars[1].value, 7);
}

static void destroying_twice_or_nothing_is_fine(void **state)
{
    (void)state;
    contract *c = sample_contract();
    contract_destroy(&c);
    assert_null(c);
    contract_destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_canonical_text_reads_back_to_the_same_text_and_hash),
        cmocka_unit_test(fields_are_where_they_belong),
        cmocka_unit_test(yaml_and_json_give_the_same_contract),
        cmocka_unit_test(what_an_input_says_of_its_values_is_kept),
        cmocka_unit_test(every_fault_names_file_pointer_and_cause),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(scalars_and_order_free_may_be_left_out),
        cmocka_unit_test(a_rank_0_tensor_has_one_element),
        cmocka_unit_test(sizes_follow_the_shape),
        cmocka_unit_test(operations_are_told_or_none),
        cmocka_unit_test(needs_are_told_or_none),
        cmocka_unit_test(a_size_that_overflows_is_told_and_leaves_the_output_alone),
        cmocka_unit_test(shapes_read_back_and_have_labels),
        cmocka_unit_test(destroying_twice_or_nothing_is_fine),
    };
    return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}
