/* plan_tree - a launch plan as written: parsed and checked, not yet evaluated
 *
 * The text is a model's: every complaint is a plan_fault with the JSON pointer and a sentence that
 * tells what to write instead. Scratch is read before the kernels, whatever the order in the text,
 * because arguments name it.
 *
 * SPDX-License-Identifier: MIT */
#include "suites/plan_tree.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "suites/plan_grammar.h"

enum { BUILTIN_NAMES = 3, NAMES_SHOWN_MAX = 120 };

typedef struct reader {
    plan *p;
    const contract *c;
    /* Variables, NULL-ended; inside a repeat its index is the last one. */
    const char *names[CONTRACT_DIMS_MAX + CONTRACT_SCALARS_MAX + BUILTIN_NAMES + 2];
    plan_fault *fault;
} reader;

static const char *const type_names[] = {
    [PLAN_I32] = "i32", [PLAN_U32] = "u32", [PLAN_I64] = "i64",       [PLAN_U64] = "u64",
    [PLAN_F32] = "f32", [PLAN_F64] = "f64", [PLAN_TYPE_COUNT] = NULL,
};

const char *plan_type_name(plan_type type)
{
    return type_names[type];
}

/* ---- complaints ---- */

static int fault_vset(plan_fault *fault, const char *pointer, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static int fault_vset(plan_fault *fault, const char *pointer, const char *format, va_list args)
{
    if (fault == NULL)
        return -1;
    snprintf(fault->pointer, sizeof fault->pointer, "%s", pointer);
    vsnprintf(fault->text, sizeof fault->text, format, args);
    fault->pointer[str_utf8_valid(fault->pointer, strlen(fault->pointer))] = '\0';
    fault->text[str_utf8_valid(fault->text, strlen(fault->text))] = '\0';
    return -1;
}

int plan_fault_set(plan_fault *fault, const char *pointer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fault_vset(fault, pointer, format, args);
    va_end(args);
    return -1;
}

static int fail(const reader *r, const json_cursor *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(const reader *r, const json_cursor *at, const char *format, ...)
{
    char pointer[sizeof r->fault->pointer];
    json_pointer(at, pointer, sizeof pointer);
    va_list args;
    va_start(args, format);
    fault_vset(r->fault, pointer, format, args);
    va_end(args);
    return -1;
}

static int fail_type(const reader *r, const json_cursor *at, const char *expected)
{
    return fail(r, at, "expected %s, found %s", expected, json_type_name(json_typeof(at->value)));
}

/* ---- steps into the document ---- */

static int want_known(const reader *r, const json_cursor *at, const char *const *known,
                      const char *expected)
{
    if (json_typeof(at->value) != JSON_TYPE_OBJECT)
        return fail_type(r, at, expected);
    for (json_iter it = {0}; json_next(at->value, &it);) {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], it.key) != 0)
            i++;
        if (known[i] != NULL)
            continue;
        json_cursor member = {.doc = at->doc, .up = at, .value = it.value, .key = it.key};
        const char *near = str_nearest(it.key, known);
        return fail(r, &member, "unknown key%s%s%s: see the launch plan's grammar",
                    near == NULL ? "" : " (did you mean '", near == NULL ? "" : near,
                    near == NULL ? "" : "'?)");
    }
    return 0;
}

static int want_keys(const reader *r, const json_cursor *at, const grammar_node *object,
                     const char *expected)
{
    const char *known[GRAMMAR_MEMBERS_MAX + 1];
    grammar_keys(object, known);
    return want_known(r, at, known, expected);
}

static int want_member(const reader *r, const json_cursor *at, const char *key, json_cursor *out)
{
    return json_maybe(at, key, out) ? 0 : fail(r, at, "'%s' is missing", key);
}

static int want_list(const reader *r, const json_cursor *at, size_t min, size_t max, size_t *n)
{
    if (json_typeof(at->value) != JSON_TYPE_ARRAY)
        return fail_type(r, at, "an array");
    *n = json_size(at->value);
    if (*n < min || *n > max)
        return fail(r, at, "has %zu entries; %zu to %zu are allowed", *n, min, max);
    return 0;
}

static int want_text(const reader *r, const json_cursor *at, const char *expected, const char **out)
{
    if (json_typeof(at->value) != JSON_TYPE_STRING)
        return fail_type(r, at, expected);
    *out = json_str(at->value, "");
    return 0;
}

static void show_name(buf *out, const char *name)
{
    buf_printf(out, "%s%s", out->size == 0 ? "" : ", ", name);
}

static int fail_expr(const reader *r, const json_cursor *at, const char *why)
{
    SCOPED(buf_fini) buf known;
    buf_init(&known, NAMES_SHOWN_MAX);
    for (size_t i = 0; r->names[i] != NULL; i++)
        show_name(&known, r->names[i]);
    return fail(r, at, "%.100s; an expression may use %s", why, buf_text(&known));
}

/* want_expr takes an expression string or an integer. */
static int want_expr(const reader *r, const json_cursor *at, expr **out)
{
    json_type type = json_typeof(at->value);
    if (type == JSON_TYPE_INT) {
        *out = expr_const(json_int(at->value, 0));
        return 0;
    }
    if (type != JSON_TYPE_STRING)
        return fail_type(r, at, "an integer or an expression in a string");
    err e;
    *out = expr_parse(json_str(at->value, ""), r->names, &e);
    return *out == NULL ? fail_expr(r, at, e.text) : 0;
}

/* count_node keeps the plan's size within its limit. */
static int count_node(const reader *r, const json_cursor *at)
{
    if (++r->p->node_count > PLAN_NODES_MAX)
        return fail(r, at,
                    "the plan has more than %d kernels, repeats and scratch buffers as written",
                    PLAN_NODES_MAX);
    return 0;
}

/* ---- names ---- */

static int find_scratch(const plan *p, const char *name)
{
    for (size_t i = 0; i < p->scratch_count; i++)
        if (strcmp(p->scratch[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool is_variable(const reader *r, const char *name)
{
    for (size_t i = 0; r->names[i] != NULL; i++)
        if (strcmp(r->names[i], name) == 0)
            return true;
    return false;
}

/* fail_name tells what a pointer argument may be called. */
static int fail_name(const reader *r, const json_cursor *at, const char *name)
{
    if (is_variable(r, name))
        return fail(r, at, "'%.63s' is a number, not a buffer: write {\"i32\": \"%.63s\"}", name,
                    name);
    int scalar = contract_find_scalar(r->c, name);
    if (scalar >= 0)
        return fail(r, at, "'%.63s' is a scalar, not a buffer: write {\"%s\": \"%.63s\"}", name,
                    dtype_name(r->c->scalars[scalar].type), name);
    SCOPED(buf_fini) buf known;
    buf_init(&known, NAMES_SHOWN_MAX);
    for (size_t i = 0; i < r->c->input_count + r->c->output_count; i++)
        show_name(&known, r->c->tensors[i].name);
    for (size_t i = 0; i < r->p->scratch_count; i++)
        show_name(&known, r->p->scratch[i].name);
    return fail(r, at, "no tensor or scratch is called '%.63s'; there are: %s", name,
                buf_text(&known));
}

/* ---- arguments ---- */

static int fail_literal(const reader *r, const json_cursor *at, const char *text)
{
    SCOPED(buf_fini) buf known;
    buf_init(&known, NAMES_SHOWN_MAX);
    for (size_t i = 0; i < r->c->scalar_count; i++)
        show_name(&known, r->c->scalars[i].name);
    return fail(r, at, "'%.40s' is neither a number such as \"1e-5\" nor a contract scalar (%s)",
                text, known.size == 0 ? "there is none" : buf_text(&known));
}

static int read_literal(const reader *r, const json_cursor *at, double *out)
{
    json_type type = json_typeof(at->value);
    if (type == JSON_TYPE_INT || type == JSON_TYPE_REAL) {
        *out = json_real(at->value, 0);
        return 0;
    }
    if (type != JSON_TYPE_STRING)
        return fail_type(r, at, "a number, a number in a string, or a contract scalar's name");
    const char *text = json_str(at->value, "");
    int scalar = contract_find_scalar(r->c, text);
    if (scalar >= 0) {
        *out = r->c->scalars[scalar].value;
        return 0;
    }
    return str_to_f64(text, out) ? 0 : fail_literal(r, at, text);
}

static int read_float(const reader *r, const json_cursor *at, plan_param *out)
{
    if (read_literal(r, at, &out->literal) < 0)
        return -1;
    if (!isfinite(out->literal) || (out->type == PLAN_F32 && fabs(out->literal) > (double)FLT_MAX))
        return fail(r, at, "the number does not fit %s", plan_type_name(out->type));
    return 0;
}

static int read_value(const reader *r, const json_cursor *at, plan_param *out)
{
    if (want_known(r, at, type_names, "an object such as {\"i32\": \"cols\"}") < 0)
        return -1;
    if (json_size(at->value) != 1)
        return fail(r, at, "a value has exactly one type: write it as {\"i32\": \"cols\"}");
    json_cursor value;
    out->kind = PLAN_ARG_VALUE;
    while (!json_maybe(at, type_names[out->type], &value))
        out->type++;
    if (out->type == PLAN_F32 || out->type == PLAN_F64)
        return read_float(r, &value, out);
    return want_expr(r, &value, &out->value);
}

static int read_buffer(const reader *r, const json_cursor *at, plan_param *out)
{
    const char *name = json_str(at->value, "");
    int index = contract_find_tensor(r->c, name);
    out->kind = PLAN_ARG_TENSOR;
    if (index < 0) {
        index = find_scratch(r->p, name);
        out->kind = PLAN_ARG_SCRATCH;
    }
    if (index < 0)
        return fail_name(r, at, name);
    out->index = (size_t)index;
    return 0;
}

static int read_view(const reader *r, const json_cursor *at, plan_param *out)
{
    json_cursor name, offset;
    const char *text = "";
    if (want_keys(r, at, &plan_grammar_view,
                  "a view: an object with view and offset, in elements") < 0 ||
        want_member(r, at, "view", &name) < 0 ||
        want_text(r, &name, "the name of a tensor or scratch buffer", &text) < 0 ||
        read_buffer(r, &name, out) < 0 || want_member(r, at, "offset", &offset) < 0)
        return -1;
    return want_expr(r, &offset, &out->offset);
}

static int read_arg(const reader *r, const json_cursor *at, plan_param *out)
{
    json_cursor view;
    json_type type = json_typeof(at->value);
    if (type == JSON_TYPE_OBJECT)
        return json_maybe(at, "view", &view) ? read_view(r, at, out) : read_value(r, at, out);
    if (type != JSON_TYPE_STRING)
        return fail_type(r, at,
                         "a tensor or scratch name, a view, or a typed value such as {\"i32\": 5}");
    return read_buffer(r, at, out);
}

/* ---- kernels ---- */

static int read_args(const reader *r, const json_cursor *kernel, plan_kernel *out)
{
    json_cursor list, at;
    size_t n = 0;
    if (want_member(r, kernel, "args", &list) < 0 || want_list(r, &list, 0, PLAN_ARGS_MAX, &n) < 0)
        return -1;
    out->args = xcalloc(n + 1, sizeof *out->args);
    out->arg_count = n;
    for (size_t i = 0; i < n; i++) {
        json_element(&list, i, &at);
        if (read_arg(r, &at, &out->args[i]) < 0)
            return -1;
    }
    return 0;
}

static int read_axes(const reader *r, const json_cursor *kernel, const char *key, expr *out[3],
                     size_t *count)
{
    json_cursor list, at;
    size_t n = 0;
    if (want_member(r, kernel, key, &list) < 0 || want_list(r, &list, 1, 3, &n) < 0)
        return -1;
    *count = n;
    for (size_t i = 0; i < n; i++) {
        json_element(&list, i, &at);
        if (want_expr(r, &at, &out[i]) < 0)
            return -1;
    }
    return 0;
}

static int read_entry(const reader *r, const json_cursor *kernel, char **out)
{
    json_cursor at;
    const char *name = "";
    if (want_member(r, kernel, "entry", &at) < 0 ||
        want_text(r, &at, "the kernel's name in a string", &name) < 0)
        return -1;
    if (!str_is_name(name, PLAN_ENTRY_MAX))
        return fail(r, &at,
                    "'%.63s' is no kernel name: letters, digits and _, at most %d, as in "
                    "extern \"C\" __global__ void name(…)",
                    name, PLAN_ENTRY_MAX);
    *out = xstrdup(name);
    return 0;
}

static int read_cooperative(const reader *r, const json_cursor *kernel, bool *out)
{
    json_cursor at;
    if (!json_maybe(kernel, "cooperative", &at))
        return 0;
    if (json_typeof(at.value) != JSON_TYPE_BOOL)
        return fail_type(r, &at, "true or false");
    *out = json_bool(at.value, false);
    return 0;
}

static int read_kernel(const reader *r, const json_cursor *at, plan_kernel *out)
{
    json_cursor shared, inner;
    json_pointer(at, out->pointer, sizeof out->pointer);
    if (json_typeof(at->value) == JSON_TYPE_OBJECT && json_maybe(at, "repeat", &inner))
        return fail(r, at,
                    "a repeat holds kernels, not repeats: make one longer repeat and use t / n and "
                    "t %% n");
    if (want_keys(r, at, &plan_grammar_kernel,
                  "a kernel: an object with entry, grid, block and args") < 0 ||
        count_node(r, at) < 0 || read_entry(r, at, &out->entry) < 0 ||
        read_axes(r, at, "grid", out->grid, &out->grid_count) < 0 ||
        read_axes(r, at, "block", out->block, &out->block_count) < 0 ||
        read_cooperative(r, at, &out->cooperative) < 0 || read_args(r, at, out) < 0)
        return -1;
    return json_maybe(at, "shared", &shared) ? want_expr(r, &shared, &out->shared) : 0;
}

/* ---- repeats ---- */

static bool is_taken(const reader *r, const char *name)
{
    return contract_find_tensor(r->c, name) >= 0 || contract_find_scalar(r->c, name) >= 0 ||
           is_variable(r, name) || find_scratch(r->p, name) >= 0;
}

static int read_index(const reader *r, const json_cursor *repeat, char **out)
{
    json_cursor at;
    const char *name = "";
    if (want_member(r, repeat, "index", &at) < 0 ||
        want_text(r, &at, "a variable's name in a string", &name) < 0)
        return -1;
    if (!str_is_name(name, CONTRACT_NAME_MAX))
        return fail(r, &at, "'%.63s' is no name: letters, digits and _, at most %d", name,
                    CONTRACT_NAME_MAX);
    if (is_taken(r, name))
        return fail(r, &at, "'%s' is already taken: give the index another name", name);
    *out = xstrdup(name);
    return 0;
}

static int read_repeated(const reader *r, const json_cursor *repeat, plan_node *out)
{
    json_cursor list, at;
    size_t n = 0;
    if (want_member(r, repeat, "kernels", &list) < 0 ||
        want_list(r, &list, 1, PLAN_NODES_MAX, &n) < 0)
        return -1;
    out->kernels = xcalloc(n, sizeof *out->kernels);
    for (size_t i = 0; i < n; i++) {
        out->count = i + 1;
        json_element(&list, i, &at);
        if (read_kernel(r, &at, &out->kernels[i]) < 0)
            return -1;
    }
    return 0;
}

static int read_repeat(const reader *r, const json_cursor *at, plan_node *out)
{
    json_cursor times;
    reader inside = *r;
    size_t n = 0;
    if (want_keys(r, at, &plan_grammar_repeat,
                  "a repeat: an object with repeat, index and kernels") < 0 ||
        count_node(r, at) < 0 || want_member(r, at, "repeat", &times) < 0 ||
        want_expr(r, &times, &out->repeat) < 0 || read_index(r, at, &out->index) < 0)
        return -1;
    while (inside.names[n] != NULL)
        n++;
    inside.names[n] = out->index;
    return read_repeated(&inside, at, out);
}

static int read_node(const reader *r, const json_cursor *at, plan_node *out)
{
    json_cursor times;
    json_pointer(at, out->pointer, sizeof out->pointer);
    if (json_typeof(at->value) == JSON_TYPE_OBJECT && json_maybe(at, "repeat", &times))
        return read_repeat(r, at, out);
    out->kernels = xcalloc(1, sizeof *out->kernels);
    out->count = 1;
    return read_kernel(r, at, &out->kernels[0]);
}

static int read_kernels(const reader *r, const json_cursor *parent, plan_kernels *out)
{
    json_cursor list, at;
    size_t n = 0;
    if (want_member(r, parent, "kernels", &list) < 0 ||
        want_list(r, &list, 1, PLAN_NODES_MAX, &n) < 0)
        return -1;
    out->items = xcalloc(n, sizeof *out->items);
    for (size_t i = 0; i < n; i++) {
        out->count = i + 1;
        json_element(&list, i, &at);
        if (read_node(r, &at, &out->items[i]) < 0)
            return -1;
    }
    return 0;
}

/* ---- scratch and variants ---- */

static int read_scratch_name(const reader *r, const json_cursor *item, char **out)
{
    json_cursor at;
    const char *name = "";
    if (want_member(r, item, "name", &at) < 0 || want_text(r, &at, "a name in a string", &name) < 0)
        return -1;
    if (!str_is_name(name, CONTRACT_NAME_MAX))
        return fail(r, &at, "'%.63s' is no name: letters, digits and _, at most %d", name,
                    CONTRACT_NAME_MAX);
    if (is_taken(r, name))
        return fail(r, &at, "'%s' is already taken: give the scratch another name", name);
    *out = xstrdup(name);
    return 0;
}

static int read_scratch_type(const reader *r, const json_cursor *item, dtype *out)
{
    json_cursor at;
    const char *name = "";
    if (want_member(r, item, "dtype", &at) < 0 ||
        want_text(r, &at, "a dtype in a string", &name) < 0)
        return -1;
    return dtype_parse(name, out) ? 0
                                  : fail(r, &at,
                                         "'%.20s' is no dtype: use f16, bf16, f32, f64, i8, u8, "
                                         "i32, i64 or bool",
                                         name);
}

static int read_scratch_init(const reader *r, const json_cursor *item, bool *zero)
{
    json_cursor at;
    const char *text = "";
    if (!json_maybe(item, "init", &at))
        return 0;
    if (want_text(r, &at, "\"none\" or \"zero\"", &text) < 0)
        return -1;
    *zero = strcmp(text, "zero") == 0;
    if (!*zero && strcmp(text, "none") != 0)
        return fail(r, &at, "'%.20s' is unknown: init is \"none\" or \"zero\"", text);
    return 0;
}

static int read_scratch_item(const reader *r, const json_cursor *at, plan_scratch *out)
{
    json_cursor count;
    json_pointer(at, out->pointer, sizeof out->pointer);
    if (want_keys(r, at, &plan_grammar_scratch,
                  "a scratch buffer: an object with name, dtype and count") < 0 ||
        count_node(r, at) < 0 || read_scratch_type(r, at, &out->type) < 0 ||
        want_member(r, at, "count", &count) < 0 || want_expr(r, &count, &out->count) < 0 ||
        read_scratch_init(r, at, &out->zero) < 0)
        return -1;
    return read_scratch_name(r, at, &out->name);
}

static void scratch_fini(plan_scratch *scratch)
{
    free(scratch->name);
    expr_destroy(&scratch->count);
}

static int read_scratch(const reader *r, const json_cursor *root)
{
    json_cursor list, at;
    size_t n = 0;
    if (!json_maybe(root, "scratch", &list))
        return 0;
    if (want_list(r, &list, 0, PLAN_SCRATCH_MAX, &n) < 0)
        return -1;
    r->p->scratch = xcalloc(n + 1, sizeof *r->p->scratch);
    for (size_t i = 0; i < n; i++) {
        plan_scratch scratch = {0};
        json_element(&list, i, &at);
        if (read_scratch_item(r, &at, &scratch) < 0) {
            scratch_fini(&scratch);
            return -1;
        }
        r->p->scratch[r->p->scratch_count++] = scratch;
    }
    return 0;
}

static int read_variant(const reader *r, const json_cursor *at, plan_variant *out)
{
    json_cursor when;
    if (want_keys(r, at, &plan_grammar_variant, "a variant: an object with when and kernels") < 0 ||
        want_member(r, at, "when", &when) < 0 || want_expr(r, &when, &out->when) < 0)
        return -1;
    return read_kernels(r, at, &out->kernels);
}

static int read_variants(const reader *r, const json_cursor *root)
{
    json_cursor list, at;
    size_t n = 0;
    if (!json_maybe(root, "variants", &list))
        return 0;
    if (want_list(r, &list, 0, PLAN_VARIANTS_MAX, &n) < 0)
        return -1;
    r->p->variants = xcalloc(n + 1, sizeof *r->p->variants);
    for (size_t i = 0; i < n; i++) {
        r->p->variant_count = i + 1;
        json_element(&list, i, &at);
        if (read_variant(r, &at, &r->p->variants[i]) < 0)
            return -1;
    }
    return 0;
}

/* ---- the whole ---- */

static void collect_entry(plan *p, const char *entry)
{
    for (size_t i = 0; i < p->entry_count; i++)
        if (strcmp(p->entries[i], entry) == 0)
            return;
    p->entries[p->entry_count++] = entry;
}

static void collect(plan *p, const plan_kernels *kernels)
{
    for (size_t i = 0; i < kernels->count; i++)
        for (size_t k = 0; k < kernels->items[i].count; k++)
            collect_entry(p, kernels->items[i].kernels[k].entry);
}

static void collect_entries(plan *p)
{
    p->entries = xcalloc(p->node_count + 1, sizeof *p->entries);
    collect(p, &p->kernels);
    for (size_t i = 0; i < p->variant_count; i++)
        collect(p, &p->variants[i].kernels);
}

static int read_plan(const reader *r, const json_cursor *root)
{
    if (want_keys(r, root, &plan_grammar, "a launch plan: an object with kernels") < 0 ||
        read_scratch(r, root) < 0 || read_kernels(r, root, &r->p->kernels) < 0 ||
        read_variants(r, root) < 0)
        return -1;
    collect_entries(r->p);
    return 0;
}

bool plan_scalar_counts(const contract_scalar *scalar)
{
    return scalar->type != DTYPE_F16 && scalar->type != DTYPE_BF16 && scalar->type != DTYPE_F32 &&
           scalar->type != DTYPE_F64;
}

static void reader_names(reader *r)
{
    static const char *const builtin[BUILTIN_NAMES] = {"sm_count", "cc", "on_emu"};
    size_t n = 0;
    for (size_t i = 0; i < r->c->dim_count; i++)
        r->names[n++] = r->c->dims[i].name;
    for (size_t i = 0; i < BUILTIN_NAMES; i++)
        r->names[n++] = builtin[i];
    for (size_t i = 0; i < r->c->scalar_count; i++)
        if (plan_scalar_counts(&r->c->scalars[i]))
            r->names[n++] = r->c->scalars[i].name;
}

plan *plan_parse(const char *text, size_t size, const contract *c, plan_fault *fault)
{
    if (size > PLAN_TEXT_MAX) {
        plan_fault_set(fault, "", "the plan is longer than %d bytes", PLAN_TEXT_MAX);
        return NULL;
    }
    err e;
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, size, "launch plan", &e);
    if (doc == NULL) {
        plan_fault_set(fault, "", "%s", e.text);
        return NULL;
    }
    SCOPED(plan_destroy) plan *self = xcalloc(1, sizeof *self);
    reader r = {.p = self, .c = c, .fault = fault};
    reader_names(&r);
    json_cursor root = json_root(doc);
    return read_plan(&r, &root) < 0 ? NULL : TAKE(self);
}

static void kernel_fini(plan_kernel *kernel)
{
    for (size_t axis = 0; axis < 3; axis++) {
        expr_destroy(&kernel->grid[axis]);
        expr_destroy(&kernel->block[axis]);
    }
    for (size_t j = 0; j < kernel->arg_count; j++) {
        expr_destroy(&kernel->args[j].value);
        expr_destroy(&kernel->args[j].offset);
    }
    expr_destroy(&kernel->shared);
    free(kernel->args);
    free(kernel->entry);
}

static void kernels_fini(plan_kernels *kernels)
{
    for (size_t i = 0; i < kernels->count; i++) {
        plan_node *node = &kernels->items[i];
        for (size_t k = 0; k < node->count; k++)
            kernel_fini(&node->kernels[k]);
        expr_destroy(&node->repeat);
        free(node->index);
        free(node->kernels);
    }
    free(kernels->items);
}

void plan_destroy(plan **self)
{
    plan *p = TAKE(*self);
    if (p == NULL)
        return;
    kernels_fini(&p->kernels);
    for (size_t i = 0; i < p->variant_count; i++) {
        expr_destroy(&p->variants[i].when);
        kernels_fini(&p->variants[i].kernels);
    }
    for (size_t i = 0; i < p->scratch_count; i++)
        scratch_fini(&p->scratch[i]);
    free(p->variants);
    free(p->scratch);
    free(p->entries);
    free(p);
}

const char *const *plan_entries(const plan *self, size_t *count)
{
    *count = self->entry_count;
    return self->entries;
}
