/* contract - what a problem promises and what it is judged by
 *
 * Two forms carry the same terms: canonical JSON (lists of objects with a "name") and problem.yaml
 * (mappings whose order counts). One reader walks both: `mapping` tells where a name is found.
 * Everything that can be wrong is found while reading: each declared shape is evaluated for each
 * tensor, so that later an expression fails only at shapes nobody declared.
 *
 * SPDX-License-Identifier: MIT */
#include "suites/contract.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

enum { LABEL_MAX = 4096 };

typedef struct reader {
    contract *c;
    bool mapping; /* problem.yaml's form */
} reader;

/* One thing of a list and the name it goes by. */
typedef struct named {
    json_cursor at;
    const char *name;
} named;

typedef struct names {
    const char *list[CONTRACT_DIMS_MAX + 1]; /* NULL-ended */
} names;

/* Names that mean something else in an expression. */
static const char *const reserved[] = {"sm_count", "cc",  "on_emu",    "ceil_div",
                                       "min",      "max", "next_pow2", NULL};

static names dim_names(const contract *c)
{
    names out = {{NULL}};
    for (size_t i = 0; i < c->dim_count; i++)
        out.list[i] = c->dims[i].name;
    return out;
}

/* ---- reading: names ---- */

static bool name_reserved(const char *name)
{
    for (size_t i = 0; reserved[i] != NULL; i++)
        if (strcmp(reserved[i], name) == 0)
            return true;
    return false;
}

static bool name_taken(const contract *c, const char *name)
{
    for (size_t i = 0; i < c->dim_count; i++)
        if (strcmp(c->dims[i].name, name) == 0)
            return true;
    return contract_find_tensor(c, name) >= 0 || contract_find_scalar(c, name) >= 0;
}

static int check_name(const reader *r, const json_cursor *at, const char *name, err *e)
{
    if (!str_is_name(name, CONTRACT_NAME_MAX))
        return json_fail(at, e, "'%.80s' is no name: use letters, digits and _, at most %d", name,
                         CONTRACT_NAME_MAX);
    if (name_reserved(name))
        return json_fail(at, e, "'%s' has a meaning in expressions: choose another name", name);
    if (name_taken(r->c, name))
        return json_fail(at, e, "'%s' is already the name of a dim, tensor or scalar", name);
    return 0;
}

/* list_open tells how many named things the list has, in either form. */
static int list_open(const reader *r, const json_cursor *list, size_t max, size_t *n, err *e)
{
    return r->mapping ? json_want_object(list, max, n, e) : json_want_array(list, max, n, e);
}

/* list_item steps to thing i and finds its name. keys starts with "name", which a mapping lacks;
 * NULL keys: the caller reads a mapping's value itself. */
static int list_item(const reader *r, const json_cursor *list, size_t i, const char *const *keys,
                     named *out, err *e)
{
    json_cursor at;
    if (r->mapping) {
        json_entry(list, i, &out->at);
        out->name = out->at.key;
        if (keys != NULL && json_only_keys(&out->at, keys + 1, e) < 0)
            return -1;
        return check_name(r, &out->at, out->name, e);
    }
    json_element(list, i, &out->at);
    if (json_only_keys(&out->at, keys, e) < 0 || json_member(&out->at, "name", &at, e) < 0 ||
        json_want_name(&at, &out->name, e) < 0)
        return -1;
    return check_name(r, &at, out->name, e);
}

/* ---- reading: parts ---- */

static int read_bounds(const json_cursor *min, const json_cursor *max, contract_dim *out, err *e)
{
    if (json_want_int(min, 0, CONTRACT_DIM_LIMIT, &out->min, e) < 0)
        return -1;
    return json_want_int(max, out->min, CONTRACT_DIM_LIMIT, &out->max, e);
}

static int read_range(const reader *r, const json_cursor *item, contract_dim *out, err *e)
{
    json_cursor min, max;
    if (!r->mapping) {
        if (json_member(item, "min", &min, e) < 0 || json_member(item, "max", &max, e) < 0)
            return -1;
        return read_bounds(&min, &max, out, e);
    }
    size_t n;
    if (json_want_array(item, 2, &n, e) < 0)
        return -1;
    if (n != 2)
        return json_fail(item, e, "write the range as [min, max]");
    json_element(item, 0, &min);
    json_element(item, 1, &max);
    return read_bounds(&min, &max, out, e);
}

static int read_dims(const reader *r, const json_cursor *root, err *e)
{
    static const char *const keys[] = {"name", "min", "max", NULL};
    json_cursor list;
    size_t n;
    if (json_member(root, "dims", &list, e) < 0 ||
        list_open(r, &list, CONTRACT_DIMS_MAX, &n, e) < 0)
        return -1;
    r->c->dims = xcalloc(n + 1, sizeof *r->c->dims);
    for (size_t i = 0; i < n; i++) {
        named item;
        contract_dim dim = {0};
        if (list_item(r, &list, i, r->mapping ? NULL : keys, &item, e) < 0 ||
            read_range(r, &item.at, &dim, e) < 0)
            return -1;
        dim.name = xstrdup(item.name);
        r->c->dims[r->c->dim_count++] = dim;
    }
    return 0;
}

/* read_expr takes an expression over the dims, or a plain integer. */
static int read_expr(const reader *r, const json_cursor *at, expr **out, char **text, err *e)
{
    SCOPED(scoped_free) char *number = NULL;
    const char *source;
    if (json_typeof(at->value) == JSON_TYPE_INT) {
        number = xasprintf("%" PRId64, json_int(at->value, 0));
        source = number;
    } else if (json_want_str(at, &source, e) < 0) {
        return -1;
    }
    names dims = dim_names(r->c);
    err inner;
    expr *parsed = expr_parse(source, dims.list, &inner);
    if (parsed == NULL)
        return json_fail(at, e, "%s", inner.text);
    *out = parsed;
    *text = xstrdup(source);
    return 0;
}

static int read_dtype(const json_cursor *item, dtype *out, err *e)
{
    json_cursor at;
    int choice;
    if (json_member(item, "dtype", &at, e) < 0 ||
        json_want_choice(&at, dtype_names(), &choice, e) < 0)
        return -1;
    *out = (dtype)choice;
    return 0;
}

static int read_tensor_shape(const reader *r, const json_cursor *item, contract_tensor *out, err *e)
{
    json_cursor list, at;
    size_t n;
    if (json_member(item, "shape", &list, e) < 0 ||
        json_want_array(&list, CONTRACT_RANK_MAX, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        json_element(&list, i, &at);
        if (read_expr(r, &at, &out->shape[i], &out->shape_text[i], e) < 0)
            return -1;
        out->rank = i + 1;
    }
    return 0;
}

static bool is_whole(dtype type)
{
    return type == DTYPE_I8 || type == DTYPE_U8 || type == DTYPE_I32 || type == DTYPE_I64;
}

static int read_value_range(const reader *r, const json_cursor *at, contract_tensor *out, err *e)
{
    json_cursor low, high;
    size_t n;
    if (json_want_array(at, 2, &n, e) < 0)
        return -1;
    if (n != 2)
        return json_fail(at, e, "write the range as [lowest, highest]");
    if (!is_whole(out->type))
        return json_fail(at, e, "a range is for integers, not for %s", dtype_name(out->type));
    json_element(at, 0, &low);
    json_element(at, 1, &high);
    if (read_expr(r, &low, &out->low.value, &out->low.text, e) < 0)
        return -1;
    return read_expr(r, &high, &out->high.value, &out->high.text, e);
}

/* read_domain reads what an input says about its values. */
static int read_domain(const reader *r, const json_cursor *item, contract_tensor *out, err *e)
{
    static const char *const orders[] = {"sorted", NULL};
    json_cursor at;
    int choice;
    if (json_maybe(item, "range", &at) && read_value_range(r, &at, out, e) < 0)
        return -1;
    if (json_maybe(item, "order", &at)) {
        if (json_want_choice(&at, orders, &choice, e) < 0)
            return -1;
        out->ascending = true;
    }
    return json_maybe(item, "families", &at) ? family_read(&at, &out->families, e) : 0;
}

/* read_tensors appends the tensors of one list; *count of them. */
static int read_tensors(const reader *r, const json_cursor *root, const char *key, size_t *count,
                        err *e)
{
    static const char *const input[] = {"name",  "dtype",    "shape", "range",
                                        "order", "families", NULL};
    static const char *const output[] = {"name", "dtype", "shape", NULL};
    const char *const *keys = count == &r->c->input_count ? input : output;
    json_cursor list;
    size_t n, have = r->c->input_count + r->c->output_count;
    if (json_member(root, key, &list, e) < 0 ||
        list_open(r, &list, CONTRACT_TENSORS_MAX - have, &n, e) < 0)
        return -1;
    r->c->tensors = xreallocarray(r->c->tensors, have + n + 1, sizeof *r->c->tensors);
    for (size_t i = 0; i < n; i++) {
        named item;
        if (list_item(r, &list, i, keys, &item, e) < 0)
            return -1;
        contract_tensor *tensor = &r->c->tensors[have + i];
        *tensor = (contract_tensor){.name = xstrdup(item.name)};
        *count += 1;
        if (read_dtype(&item.at, &tensor->type, e) < 0 ||
            read_tensor_shape(r, &item.at, tensor, e) < 0 ||
            read_domain(r, &item.at, tensor, e) < 0)
            return -1;
    }
    return 0;
}

static int read_scalar_value(const json_cursor *at, dtype type, double *out, err *e)
{
    const int64_t exact = INT64_C(1) << 53;
    int64_t whole;
    switch (type) {
    case DTYPE_I32:
    case DTYPE_I64:
        if (json_want_int(at, type == DTYPE_I32 ? INT32_MIN : -exact,
                          type == DTYPE_I32 ? INT32_MAX : exact, &whole, e) < 0)
            return -1;
        *out = (double)whole;
        return 0;
    case DTYPE_F32:
    case DTYPE_F64:
        if (json_want_real(at, out, e) < 0)
            return -1;
        if (!isfinite(*out) || (type == DTYPE_F32 && fabs(*out) > (double)FLT_MAX))
            return json_fail(at, e, "the value does not fit %s", dtype_name(type));
        return 0;
    case DTYPE_F16:
    case DTYPE_BF16:
    case DTYPE_I8:
    case DTYPE_U8:
    case DTYPE_BOOL:
    case DTYPE_COUNT:
        break;
    }
    return json_fail(at, e, "a scalar is f32, f64, i32 or i64");
}

static int read_scalars(const reader *r, const json_cursor *root, err *e)
{
    static const char *const keys[] = {"name", "dtype", "value", NULL};
    json_cursor list, at;
    size_t n;
    if (!json_maybe(root, "scalars", &list))
        return 0;
    if (list_open(r, &list, CONTRACT_SCALARS_MAX, &n, e) < 0)
        return -1;
    r->c->scalars = xcalloc(n + 1, sizeof *r->c->scalars);
    for (size_t i = 0; i < n; i++) {
        named item;
        contract_scalar scalar = {0};
        if (list_item(r, &list, i, keys, &item, e) < 0 ||
            read_dtype(&item.at, &scalar.type, e) < 0 ||
            json_member(&item.at, "value", &at, e) < 0 ||
            read_scalar_value(&at, scalar.type, &scalar.value, e) < 0)
            return -1;
        scalar.name = xstrdup(item.name);
        r->c->scalars[r->c->scalar_count++] = scalar;
    }
    return 0;
}

static int read_families(const reader *r, const json_cursor *root, err *e)
{
    json_cursor list;
    if (json_member(root, "values", &list, e) < 0)
        return -1;
    return family_read(&list, &r->c->families, e);
}

/* ---- reading: shapes ---- */

static int read_shape(const contract *c, const json_cursor *at, contract_shape *out, err *e)
{
    err inner;
    if (contract_shape_read(c, at, out, e) < 0)
        return -1;
    return contract_fits(c, out, &inner) < 0 ? json_fail(at, e, "%s", inner.text) : 0;
}

static int read_shapes(const reader *r, const json_cursor *root, err *e)
{
    json_cursor list, at;
    size_t n;
    if (json_member(root, "shapes", &list, e) < 0 ||
        json_want_array(&list, CONTRACT_SHAPES_MAX, &n, e) < 0)
        return -1;
    if (n == 0)
        return json_fail(&list, e, "list at least one shape to check");
    r->c->shapes = xcalloc(n, sizeof *r->c->shapes);
    for (size_t i = 0; i < n; i++) {
        json_element(&list, i, &at);
        if (read_shape(r->c, &at, &r->c->shapes[i], e) < 0)
            return -1;
        r->c->shape_count = i + 1;
    }
    if (json_member(root, "benchmark", &at, e) < 0)
        return -1;
    return read_shape(r->c, &at, &r->c->benchmark, e);
}

/* ---- reading: the whole ---- */

static int read_reduction(const reader *r, const json_cursor *root, err *e)
{
    json_cursor at;
    if (json_member(root, "reduction", &at, e) < 0)
        return -1;
    return read_expr(r, &at, &r->c->reduction, &r->c->reduction_text, e);
}

static int read_operations(const reader *r, const json_cursor *root, err *e)
{
    json_cursor at;
    return json_maybe(root, "operations", &at)
               ? read_expr(r, &at, &r->c->operations, &r->c->operations_text, e)
               : 0;
}

static int read_order_free(const reader *r, const json_cursor *root, err *e)
{
    json_cursor at;
    return json_maybe(root, "order_free", &at) ? json_want_bool(&at, &r->c->order_free, e) : 0;
}

static int read_terms(const reader *r, const json_cursor *root, err *e)
{
    if (read_dims(r, root, e) < 0 || read_tensors(r, root, "inputs", &r->c->input_count, e) < 0 ||
        read_tensors(r, root, "outputs", &r->c->output_count, e) < 0 ||
        read_scalars(r, root, e) < 0 || read_reduction(r, root, e) < 0 ||
        read_operations(r, root, e) < 0 || read_families(r, root, e) < 0 ||
        read_order_free(r, root, e) < 0 || need_read(root, &r->c->needs, e) < 0 ||
        read_shapes(r, root, e) < 0)
        return -1;
    if (r->c->output_count == 0)
        return json_fail(root, e, "a contract needs at least one output");
    return 0;
}

contract *contract_read_problem(const json_cursor *c, const char *problem, err *e)
{
    SCOPED(contract_destroy) contract *self = xcalloc(1, sizeof *self);
    self->problem = xstrdup(problem);
    reader r = {self, true};
    return read_terms(&r, c, e) < 0 ? NULL : TAKE(self);
}

contract *contract_read(const json_cursor *c, err *e)
{
    static const char *const keys[] = {
        "problem",    "dims",   "inputs",    "scalars", "outputs",    "reduction",  "values",
        "order_free", "shapes", "benchmark", "memory",  "operations", "capability", NULL};
    json_cursor at;
    const char *problem;
    if (json_only_keys(c, keys, e) < 0 || json_member(c, "problem", &at, e) < 0 ||
        json_want_name(&at, &problem, e) < 0)
        return NULL;
    SCOPED(contract_destroy) contract *self = xcalloc(1, sizeof *self);
    self->problem = xstrdup(problem);
    reader r = {self, false};
    return read_terms(&r, c, e) < 0 ? NULL : TAKE(self);
}

contract *contract_parse(const char *text, size_t size, const char *origin, err *e)
{
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, size, origin, e);
    if (doc == NULL)
        return NULL;
    json_cursor root = json_root(doc);
    return contract_read(&root, e);
}

/* ---- release ---- */

static void tensor_fini(contract_tensor *tensor)
{
    free(tensor->name);
    for (size_t i = 0; i < CONTRACT_RANK_MAX; i++) {
        expr_destroy(&tensor->shape[i]);
        free(tensor->shape_text[i]);
    }
    expr_destroy(&tensor->low.value);
    expr_destroy(&tensor->high.value);
    free(tensor->low.text);
    free(tensor->high.text);
    family_list_fini(&tensor->families);
}

void contract_destroy(contract **self)
{
    contract *c = TAKE(*self);
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->dim_count; i++)
        free(c->dims[i].name);
    for (size_t i = 0; i < c->input_count + c->output_count; i++)
        tensor_fini(&c->tensors[i]);
    for (size_t i = 0; i < c->scalar_count; i++)
        free(c->scalars[i].name);
    expr_destroy(&c->reduction);
    free(c->reduction_text);
    expr_destroy(&c->operations);
    free(c->operations_text);
    family_list_fini(&c->families);
    free(c->shapes);
    free(c->scalars);
    free(c->tensors);
    free(c->dims);
    free(c->problem);
    free(c);
}

/* ---- writing ---- */

static json *dims_json(const contract *self)
{
    json *list = json_new_array();
    for (size_t i = 0; i < self->dim_count; i++) {
        json *item = json_new_object();
        json_set_str(item, "name", self->dims[i].name);
        json_set_int(item, "min", self->dims[i].min);
        json_set_int(item, "max", self->dims[i].max);
        json_append(list, &item);
    }
    return list;
}

/* domain_json adds what an input says about its values, where it says something. */
static void domain_json(const contract_tensor *tensor, bool families, json *item)
{
    if (tensor->low.text != NULL) {
        json *range = json_new_array();
        json *low = json_new_str(tensor->low.text), *high = json_new_str(tensor->high.text);
        json_append(range, &low);
        json_append(range, &high);
        json_set(item, "range", &range);
    }
    if (tensor->ascending)
        json_set_str(item, "order", "sorted");
    if (families && tensor->families.count > 0) {
        json *list = family_list_json(&tensor->families);
        json_set(item, "families", &list);
    }
}

static json *tensors_json(const contract *self, size_t first, size_t count, bool families)
{
    json *list = json_new_array();
    for (size_t i = first; i < first + count; i++) {
        const contract_tensor *tensor = &self->tensors[i];
        json *item = json_new_object(), *shape = json_new_array();
        for (size_t d = 0; d < tensor->rank; d++) {
            json *text = json_new_str(tensor->shape_text[d]);
            json_append(shape, &text);
        }
        json_set_str(item, "name", tensor->name);
        json_set_str(item, "dtype", dtype_name(tensor->type));
        json_set(item, "shape", &shape);
        domain_json(tensor, families, item);
        json_append(list, &item);
    }
    return list;
}

static json *scalars_json(const contract *self)
{
    json *list = json_new_array();
    for (size_t i = 0; i < self->scalar_count; i++) {
        const contract_scalar *scalar = &self->scalars[i];
        json *item = json_new_object();
        json_set_str(item, "name", scalar->name);
        json_set_str(item, "dtype", dtype_name(scalar->type));
        if (scalar->type == DTYPE_I32 || scalar->type == DTYPE_I64)
            json_set_int(item, "value", (int64_t)scalar->value);
        else
            json_set_real(item, "value", scalar->value);
        json_append(list, &item);
    }
    return list;
}

static json *shapes_json(const contract *self)
{
    json *list = json_new_array();
    for (size_t i = 0; i < self->shape_count; i++) {
        json *shape = contract_shape_json(self, &self->shapes[i]);
        json_append(list, &shape);
    }
    return list;
}

static json *terms_json(const contract *self, bool families)
{
    json *dims = dims_json(self);
    json *inputs = tensors_json(self, 0, self->input_count, families);
    json *outputs = tensors_json(self, self->input_count, self->output_count, false);
    json *scalars = scalars_json(self);
    json *shapes = shapes_json(self);
    json *benchmark = contract_shape_json(self, &self->benchmark);
    json *out = json_new_object();
    json_set_str(out, "problem", self->problem);
    json_set(out, "dims", &dims);
    json_set(out, "inputs", &inputs);
    json_set(out, "scalars", &scalars);
    json_set(out, "outputs", &outputs);
    json_set_str(out, "reduction", self->reduction_text);
    if (families) {
        json *list = family_list_json(&self->families);
        json_set(out, "values", &list);
    }
    if (self->operations != NULL)
        json_set_str(out, "operations", self->operations_text);
    json_set_bool(out, "order_free", self->order_free);
    need_write(&self->needs, out);
    json_set(out, "shapes", &shapes);
    json_set(out, "benchmark", &benchmark);
    return out;
}

json *contract_to_json(const contract *self)
{
    return terms_json(self, true);
}

json *contract_told_json(const contract *self)
{
    return terms_json(self, false);
}

char *contract_text(const contract *self)
{
    SCOPED(json_destroy) json *value = contract_to_json(self);
    return json_dump(value);
}

hash contract_hash(const contract *self)
{
    SCOPED(scoped_free) char *text = contract_text(self);
    return hash_of_text(text);
}

/* ---- asking ---- */

int contract_find_tensor(const contract *self, const char *name)
{
    for (size_t i = 0; i < self->input_count + self->output_count; i++)
        if (strcmp(self->tensors[i].name, name) == 0)
            return (int)i;
    return -1;
}

int contract_find_scalar(const contract *self, const char *name)
{
    for (size_t i = 0; i < self->scalar_count; i++)
        if (strcmp(self->scalars[i].name, name) == 0)
            return (int)i;
    return -1;
}

void contract_vars(const contract *self, const contract_shape *shape, expr_var *out)
{
    for (size_t i = 0; i < self->dim_count; i++)
        out[i] = (expr_var){self->dims[i].name, shape->dims[i]};
}

/* fail_at tells which quantity failed at which shape. */
static int fail_at(const contract *self, const contract_shape *shape, const char *what,
                   const char *name, const char *why, err *e)
{
    SCOPED(scoped_free) char *label = contract_shape_label(self, shape);
    return err_set(e, ERR_CONFIG, "%s '%s' at %s: %s", what, name, label, why);
}

int contract_tensor_shape(const contract *self, size_t tensor, const contract_shape *shape,
                          int64_t out[CONTRACT_RANK_MAX], err *e)
{
    const contract_tensor *t = &self->tensors[tensor];
    expr_var vars[CONTRACT_DIMS_MAX];
    int64_t sizes[CONTRACT_RANK_MAX] = {0};
    err inner;
    contract_vars(self, shape, vars);
    for (size_t i = 0; i < t->rank; i++) {
        if (expr_eval(t->shape[i], vars, self->dim_count, &sizes[i], &inner) < 0)
            return fail_at(self, shape, "tensor", t->name, inner.text, e);
        if (sizes[i] < 0)
            return fail_at(self, shape, "tensor", t->name, "a size is negative", e);
    }
    memcpy(out, sizes, t->rank * sizeof *out);
    return 0;
}

int contract_elements(const contract *self, size_t tensor, const contract_shape *shape,
                      int64_t *out, err *e)
{
    const contract_tensor *t = &self->tensors[tensor];
    int64_t sizes[CONTRACT_RANK_MAX] = {0}, count = 1, bytes;
    if (contract_tensor_shape(self, tensor, shape, sizes, e) < 0)
        return -1;
    for (size_t i = 0; i < t->rank; i++)
        if (sizes[i] == 0) {
            *out = 0;
            return 0;
        }
    for (size_t i = 0; i < t->rank; i++)
        if (__builtin_mul_overflow(count, sizes[i], &count))
            return fail_at(self, shape, "tensor", t->name, "the element count overflows", e);
    if (__builtin_mul_overflow(count, (int64_t)dtype_size(t->type), &bytes))
        return fail_at(self, shape, "tensor", t->name, "the size in bytes overflows", e);
    *out = count;
    return 0;
}

/* What an integer type holds. */
static void type_range(dtype type, int64_t out[2])
{
    static const int64_t table[DTYPE_COUNT][2] = {[DTYPE_I8] = {INT8_MIN, INT8_MAX},
                                                  [DTYPE_U8] = {0, UINT8_MAX},
                                                  [DTYPE_I32] = {INT32_MIN, INT32_MAX},
                                                  [DTYPE_I64] = {INT64_MIN, INT64_MAX}};
    memcpy(out, table[type], sizeof table[type]);
}

int contract_range(const contract *self, size_t tensor, const contract_shape *shape, bool *has,
                   int64_t out[2], err *e)
{
    const contract_tensor *t = &self->tensors[tensor];
    expr_var vars[CONTRACT_DIMS_MAX];
    int64_t bounds[2] = {0}, type[2], elements;
    err inner;
    *has = t->low.text != NULL;
    if (!*has)
        return 0;
    contract_vars(self, shape, vars);
    if (expr_eval(t->low.value, vars, self->dim_count, &bounds[0], &inner) < 0 ||
        expr_eval(t->high.value, vars, self->dim_count, &bounds[1], &inner) < 0)
        return fail_at(self, shape, "range of", t->name, inner.text, e);
    if (contract_elements(self, tensor, shape, &elements, e) < 0)
        return -1;
    type_range(t->type, type);
    if (elements > 0 && bounds[0] > bounds[1])
        return fail_at(self, shape, "range of", t->name, "no value lies in it", e);
    if (elements > 0 && (bounds[0] < type[0] || bounds[1] > type[1]))
        return fail_at(self, shape, "range of", t->name, "its dtype cannot hold it", e);
    memcpy(out, bounds, sizeof bounds);
    return 0;
}

int contract_fits(const contract *self, const contract_shape *shape, err *e)
{
    int64_t ignored, range[2];
    bool has;
    for (size_t i = 0; i < self->input_count + self->output_count; i++)
        if (contract_elements(self, i, shape, &ignored, e) < 0 ||
            contract_range(self, i, shape, &has, range, e) < 0)
            return -1;
    return contract_reduction(self, shape, &ignored, e) < 0 ||
                   contract_operations(self, shape, &ignored, e) < 0
               ? -1
               : 0;
}

int contract_reduction(const contract *self, const contract_shape *shape, int64_t *out, err *e)
{
    expr_var vars[CONTRACT_DIMS_MAX];
    int64_t length;
    err inner;
    contract_vars(self, shape, vars);
    if (expr_eval(self->reduction, vars, self->dim_count, &length, &inner) < 0)
        return fail_at(self, shape, "reduction", self->reduction_text, inner.text, e);
    *out = length < 1 ? 1 : length;
    return 0;
}

int contract_operations(const contract *self, const contract_shape *shape, int64_t *out, err *e)
{
    expr_var vars[CONTRACT_DIMS_MAX];
    err inner;
    *out = 0;
    contract_vars(self, shape, vars);
    if (self->operations != NULL &&
        expr_eval(self->operations, vars, self->dim_count, out, &inner) < 0)
        return fail_at(self, shape, "operations", self->operations_text, inner.text, e);
    return 0;
}

json *contract_shape_json(const contract *self, const contract_shape *shape)
{
    json *out = json_new_object();
    for (size_t i = 0; i < self->dim_count; i++)
        json_set_int(out, self->dims[i].name, shape->dims[i]);
    return out;
}

char *contract_shape_label(const contract *self, const contract_shape *shape)
{
    if (self->dim_count == 0)
        return xstrdup("its fixed shape");
    SCOPED(buf_fini) buf text;
    buf_init(&text, LABEL_MAX);
    for (size_t i = 0; i < self->dim_count; i++)
        buf_printf(&text, "%s%s=%" PRId64, i == 0 ? "" : " ", self->dims[i].name, shape->dims[i]);
    return buf_take(&text);
}

static int read_dim_value(const contract_dim *dim, const json_cursor *c, int64_t *out, err *e)
{
    json_cursor at;
    if (json_member(c, dim->name, &at, e) < 0 ||
        json_want_int(&at, 0, CONTRACT_DIM_LIMIT, out, e) < 0)
        return -1;
    if (*out != 0 && (*out < dim->min || *out > dim->max))
        return json_fail(&at, e, "%s is %" PRId64 ", outside its range %" PRId64 "..%" PRId64,
                         dim->name, *out, dim->min, dim->max);
    return 0;
}

int contract_shape_read(const contract *self, const json_cursor *c, contract_shape *out, err *e)
{
    names dims = dim_names(self);
    contract_shape shape = {{0}};
    if (json_only_keys(c, dims.list, e) < 0)
        return -1;
    for (size_t i = 0; i < self->dim_count; i++)
        if (read_dim_value(&self->dims[i], c, &shape.dims[i], e) < 0)
            return -1;
    *out = shape;
    return 0;
}
