/* plan_grammar - the form of a launch plan, as one table
 *
 * SPDX-License-Identifier: MIT */
#include "suites/plan_grammar.h"

#include <string.h>

#include "common/scoped.h"
#include "suites/plan.h"

static const grammar_node name = {.kind = GRAMMAR_TEXT};
static const grammar_node integer = {
    .kind = GRAMMAR_NUMBER,
    .help = "an integer or an expression over the dims, such as ceil_div(rows, 256)"};

/* ---- arguments ---- */

static const grammar_node pointer = {.kind = GRAMMAR_TEXT,
                                     .help = "name of a tensor or scratch buffer"};
static const grammar_node real = {
    .kind = GRAMMAR_NUMBER, .help = "a number such as 1e-5, or the name of a contract scalar"};

/* {"i32": …}: an object with one member. */
#define VALUE(type, node)                                                        \
    static const grammar_member type##_member[] = {{#type, &(node), NULL}, {0}}; \
    static const grammar_node type##_value = {.kind = GRAMMAR_OBJECT, .members = type##_member}
VALUE(i32, integer);
VALUE(u32, integer);
VALUE(i64, integer);
VALUE(u64, integer);
VALUE(f32, real);
VALUE(f64, real);

static const grammar_node offset = {.kind = GRAMMAR_NUMBER,
                                    .help = "elements from the start of the buffer, inside it"};
static const grammar_member view_members[] = {
    {"view", &pointer, NULL}, {"offset", &offset, NULL}, {0}};
const grammar_node plan_grammar_view = {.kind = GRAMMAR_OBJECT, .members = view_members};

static const grammar_node *const arg_options[] = {&pointer,   &i32_value,         &u32_value,
                                                  &i64_value, &u64_value,         &f32_value,
                                                  &f64_value, &plan_grammar_view, NULL};
static const grammar_node arg = {
    .kind = GRAMMAR_ANY_OF,
    .options = arg_options,
    .help =
        "a tensor or scratch name, a view such as {\"view\": \"x\", \"offset\": \"t * 8\"}, or a "
        "typed value such as {\"i32\": 5}"};
static const grammar_node args = {.kind = GRAMMAR_LIST,
                                  .items = &arg,
                                  .max = PLAN_ARGS_MAX,
                                  .help = "in the order of the kernel's parameters"};

/* ---- kernels, scratch, variants ---- */

static const grammar_node axes = {
    .kind = GRAMMAR_LIST, .items = &integer, .min = 1, .max = 3, .help = "1 to 3 sizes, x first"};
static const grammar_node shared = {.kind = GRAMMAR_NUMBER,
                                    .help = "dynamic shared memory in bytes, 0 for none"};

static const grammar_node cooperative = {
    .kind = GRAMMAR_TRUTH,
    .help = "true: all blocks are on the device at once, so that they can wait for each other"};

static const grammar_member kernel_members[] = {{"entry", &name, NULL},
                                                {"grid", &axes, NULL},
                                                {"block", &axes, NULL},
                                                {"shared", &shared, "\"0\""},
                                                {"cooperative", &cooperative, "false"},
                                                {"args", &args, NULL},
                                                {0}};
const grammar_node plan_grammar_kernel = {.kind = GRAMMAR_OBJECT, .members = kernel_members};

static const grammar_node repeat = {.kind = GRAMMAR_NUMBER,
                                    .help = "how many times, an integer or an expression"};
static const grammar_node index_name = {
    .kind = GRAMMAR_TEXT,
    .help = "a variable for the expressions inside: 0 the first time, 1 the second, and so on"};
static const grammar_node repeated = {.kind = GRAMMAR_LIST,
                                      .items = &plan_grammar_kernel,
                                      .min = 1,
                                      .max = PLAN_NODES_MAX,
                                      .help = "launched in this order, again and again"};
static const grammar_member repeat_members[] = {
    {"repeat", &repeat, NULL}, {"index", &index_name, NULL}, {"kernels", &repeated, NULL}, {0}};
const grammar_node plan_grammar_repeat = {.kind = GRAMMAR_OBJECT, .members = repeat_members};

static const grammar_node *const node_options[] = {&plan_grammar_kernel, &plan_grammar_repeat,
                                                   NULL};
static const grammar_node node = {
    .kind = GRAMMAR_ANY_OF, .options = node_options, .help = "a kernel, or a repeat of kernels"};
static const grammar_node kernels = {.kind = GRAMMAR_LIST,
                                     .items = &node,
                                     .min = 1,
                                     .max = PLAN_NODES_MAX,
                                     .help = "launched in this order"};

static const char *const types[] = {"f16", "bf16", "f32", "f64",  "i8",
                                    "u8",  "i32",  "i64", "bool", NULL};
static const char *const inits[] = {"none", "zero", NULL};
static const grammar_node type = {.kind = GRAMMAR_WORD, .words = types};
static const grammar_node init = {.kind = GRAMMAR_WORD, .words = inits};
static const grammar_member scratch_members[] = {{"name", &name, NULL},
                                                 {"dtype", &type, NULL},
                                                 {"count", &integer, NULL},
                                                 {"init", &init, "\"none\""},
                                                 {0}};
const grammar_node plan_grammar_scratch = {.kind = GRAMMAR_OBJECT, .members = scratch_members};
static const grammar_node scratch = {.kind = GRAMMAR_LIST,
                                     .items = &plan_grammar_scratch,
                                     .max = PLAN_SCRATCH_MAX,
                                     .help = "device memory for the kernels; empty for none"};

static const grammar_node when = {
    .kind = GRAMMAR_NUMBER, .help = "an expression over the dims that is not 0 where it holds"};
static const grammar_member variant_members[] = {
    {"when", &when, NULL}, {"kernels", &kernels, NULL}, {0}};
const grammar_node plan_grammar_variant = {.kind = GRAMMAR_OBJECT, .members = variant_members};
static const grammar_node variants = {
    .kind = GRAMMAR_LIST,
    .items = &plan_grammar_variant,
    .max = PLAN_VARIANTS_MAX,
    .help = "the first whose `when` is not 0 replaces the kernels; empty for none"};

static const grammar_member plan_members[] = {
    {"kernels", &kernels, NULL}, {"scratch", &scratch, "[]"}, {"variants", &variants, "[]"}, {0}};
const grammar_node plan_grammar = {.kind = GRAMMAR_OBJECT, .members = plan_members};

/* ---- comparing ---- */

static json *normal_form(const char *text)
{
    SCOPED(json_destroy) json *value = json_parse_tree(text, strlen(text), "plan", NULL);
    return value != NULL ? grammar_normal(&plan_grammar, value) : NULL;
}

bool plan_grammar_same(const char *a, const char *b)
{
    SCOPED(json_destroy) json *first = normal_form(a);
    SCOPED(json_destroy) json *second = normal_form(b);
    return first != NULL && second != NULL && json_equal(first, second);
}
