/* scaffold - arguments into a question, the answer into files
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/scaffold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/python.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/subproc.h"
#include "common/xalloc.h"
#include "suites/suite.h"

enum { ANSWER_MAX = 16 * 1024 * 1024, TRACE_MS = 300 * 1000, YAML_MAX = 256 * 1024, SHOWN = 60 };

/* ---- arguments ---- */

static char *copy_str(str s)
{
    return xstrndup(s.data, s.size);
}

/* read_size takes "rows:4096" (declares a dim), "rows" (declared elsewhere) or "3". */
static int read_size(str piece, const char *shape, json *sizes, json *dims, err *e)
{
    SCOPED(scoped_free) char *word = copy_str(str_trim(piece));
    char *colon = strchr(word, ':');
    int64_t size = 0;
    if (colon == NULL && str_to_i64(word, &size)) {
        json *fixed = json_new_int(size);
        json_append(sizes, &fixed);
        return size >= 1 ? 0 : err_set(e, ERR_USAGE, "--shape %s: a size is at least 1", shape);
    }
    if (colon != NULL)
        *colon = '\0';
    if (!str_is_name(word, CONTRACT_NAME_MAX))
        return err_set(e, ERR_USAGE, "--shape %s: '%.60s' is neither a size nor a name", shape,
                       word);
    json *name = json_new_str(word);
    json_append(sizes, &name);
    if (colon == NULL)
        return 0;
    if (!str_to_i64(colon + 1, &size) || size < 1 || size > CONTRACT_DIM_LIMIT)
        return err_set(e, ERR_USAGE, "--shape %s: '%.60s' is no size of %s", shape, colon + 1,
                       word);
    if (json_int(json_get(dims, word), size) != size)
        return err_set(e, ERR_USAGE, "--shape %s: %s is %lld elsewhere", shape, word,
                       (long long)json_int(json_get(dims, word), 0));
    json_set_int(dims, word, size);
    return 0;
}

static const json *find_input(const json *inputs, const char *name)
{
    for (size_t i = 0; i < json_size(inputs); i++) {
        if (strcmp(json_str(json_get(json_at(inputs, i), "name"), ""), name) == 0)
            return json_at(inputs, i);
    }
    return NULL;
}

static int read_shape(const char *shape, json *inputs, json *dims, err *e)
{
    const char *equals = strchr(shape, '=');
    SCOPED(scoped_free) char *name = equals ? xstrndup(shape, (size_t)(equals - shape)) : NULL;
    if (name == NULL || !str_is_name(name, CONTRACT_NAME_MAX))
        return err_set(e, ERR_USAGE,
                       "--shape %s: write INPUT=SIZE,…, such as x=rows:4096,cols:4096", shape);
    if (find_input(inputs, name) != NULL)
        return err_set(e, ERR_USAGE, "--shape %s: %s has a shape already", shape, name);
    SCOPED(json_destroy) json *row = json_new_object();
    SCOPED(json_destroy) json *sizes = json_new_array();
    str rest = str_of(equals + 1), piece;
    while (equals[1] != '\0' && str_split(&rest, ',', &piece)) {
        if (json_size(sizes) == SCAFFOLD_SIZES_MAX)
            return err_set(e, ERR_USAGE, "--shape %s: more than %d sizes", shape,
                           SCAFFOLD_SIZES_MAX);
        if (read_size(piece, shape, sizes, dims, e))
            return -1;
    }
    json_set_str(row, "name", name);
    json_set(row, "sizes", &sizes);
    json_append(inputs, &row);
    return 0;
}

/* Every name in a shape must be declared with a size by some shape. */
static int check_dims(const json *inputs, const json *dims, err *e)
{
    for (size_t i = 0; i < json_size(inputs); i++) {
        const json *sizes = json_get(json_at(inputs, i), "sizes");
        for (size_t k = 0; k < json_size(sizes); k++) {
            const char *name = json_str(json_at(sizes, k), NULL);
            if (name != NULL && json_get(dims, name) == NULL)
                return err_set(e, ERR_USAGE, "--shape: no size is said for %s: write %s:4096 once",
                               name, name);
            if (name != NULL && find_input(inputs, name) != NULL)
                return err_set(e, ERR_USAGE, "--shape: %s is an input and a dim: rename one", name);
        }
    }
    return json_size(dims) <= SCAFFOLD_DIMS_MAX
               ? 0
               : err_set(e, ERR_USAGE, "--shape: more than %d named dims", SCAFFOLD_DIMS_MAX);
}

static int read_shapes(const scaffold_request *r, json *inputs, json *dims, err *e)
{
    if (r->shape_count == 0)
        return err_set(e, ERR_USAGE,
                       "--shape is missing: one for each input, such as "
                       "--shape x=rows:4096,cols:4096");
    if (r->shape_count > SCAFFOLD_INPUTS_MAX)
        return err_set(e, ERR_USAGE, "--shape: more than %d inputs", SCAFFOLD_INPUTS_MAX);
    for (size_t i = 0; i < r->shape_count; i++) {
        if (read_shape(r->shapes[i], inputs, dims, e))
            return -1;
    }
    return check_dims(inputs, dims, e);
}

static int check_dtype(const char *given, const char *name, err *e)
{
    dtype type;
    return dtype_parse(name, &type)
               ? 0
               : err_set(
                     e, ERR_USAGE,
                     "--dtype %s: there is no dtype %.60s (f16 bf16 f32 f64 i8 u8 i32 i64 bool)",
                     given, name);
}

/* The dtype of an input: its own, else the one without a name. NULL: none. */
static const char *dtype_of(const scaffold_request *r, const char *input)
{
    const char *common = NULL;
    size_t size = strlen(input);
    for (size_t i = 0; i < r->dtype_count; i++) {
        const char *given = r->dtypes[i];
        if (strchr(given, '=') == NULL)
            common = given;
        else if (strncmp(given, input, size) == 0 && given[size] == '=')
            return given + size + 1;
    }
    return common;
}

static int check_dtypes(const scaffold_request *r, const json *inputs, err *e)
{
    for (size_t i = 0; i < r->dtype_count; i++) {
        const char *given = r->dtypes[i], *equals = strchr(given, '=');
        SCOPED(scoped_free) char *name = equals ? xstrndup(given, (size_t)(equals - given)) : NULL;
        if (name != NULL && find_input(inputs, name) == NULL)
            return err_set(e, ERR_USAGE, "--dtype %s: no --shape names an input %s", given, name);
        if (check_dtype(given, equals ? equals + 1 : given, e))
            return -1;
    }
    return 0;
}

/* with_dtypes gives every input its dtype. */
static json *with_dtypes(const scaffold_request *r, const json *inputs, err *e)
{
    SCOPED(json_destroy) json *out = json_new_array();
    for (size_t i = 0; i < json_size(inputs); i++) {
        json *row = json_copy(json_at(inputs, i));
        const char *name = json_str(json_get(row, "name"), "");
        const char *type = dtype_of(r, name);
        json_set_str(row, "dtype", type);
        if (type == NULL)
            err_set(e, ERR_USAGE, "--dtype is missing for input %s", name);
        json_append(out, &row);
        if (type == NULL)
            return NULL;
    }
    return TAKE(out);
}

static int check_from(const char *from, err *e)
{
    const char *colon = from ? strrchr(from, ':') : NULL;
    if (from == NULL)
        return err_set(e, ERR_USAGE, "--from is missing: file.py:function or module:function");
    if (colon == NULL || colon == from || !str_is_name(colon + 1, CONTRACT_NAME_MAX))
        return err_set(e, ERR_USAGE, "--from %s: write file.py:function or module:function", from);
    SCOPED(scoped_free) char *place = xstrndup(from, (size_t)(colon - from));
    if (str_ends(place, ".py") && !file_exists(place))
        return err_set(e, ERR_USAGE, "--from %s: there is no file %s", from, place);
    return 0;
}

json *scaffold_question(const scaffold_request *r, err *e)
{
    SCOPED(json_destroy) json *out = json_new_object();
    SCOPED(json_destroy) json *inputs = json_new_array();
    SCOPED(json_destroy) json *dims = json_new_object();
    if (!str_is_name(r->name, CONTRACT_NAME_MAX)) {
        err_set(e, ERR_USAGE, "'%.63s' is no name: letters, digits and _, no digit first", r->name);
        return NULL;
    }
    if (check_from(r->from, e) || read_shapes(r, inputs, dims, e) || check_dtypes(r, inputs, e))
        return NULL;
    SCOPED(json_destroy) json *typed = with_dtypes(r, inputs, e);
    if (typed == NULL)
        return NULL;
    json_set_str(out, "from", r->from);
    json_set(out, "inputs", &typed);
    json_set(out, "dims", &dims);
    return TAKE(out);
}

/* ---- the child ---- */

static char *script_path(err *e)
{
    SCOPED(scoped_free) char *self = file_self_dir(e);
    if (self == NULL)
        return NULL;
    SCOPED(scoped_free) char *installed = file_join(self, "../share/ce/judge/scaffold.py");
    return file_exists(installed) ? TAKE(installed)
                                  : xstrdup(CE_SOURCE_DIR "/agent-node/judge/scaffold.py");
}

static json_doc *read_answer(const buf *out, const buf *errors, int status, err *e)
{
    char how[SHOWN];
    subproc_status_text(status, how, sizeof how);
    json_doc *doc = status == 0 ? json_parse(buf_text(out), out->size, "scaffold.py", e) : NULL;
    if (doc == NULL) {
        err_set(e, ERR_INTERNAL, "scaffold.py %s: %.120s", how, buf_text(errors));
        return NULL;
    }
    const json *root = json_doc_root(doc);
    if (json_bool(json_get(root, "ok"), false))
        return doc;
    err_set(e, ERR_CONFIG, "%s", json_str(json_get(root, "text"), "the function cannot be traced"));
    json_doc_destroy(&doc);
    return NULL;
}

static json_doc *trace(const scaffold_request *r, const json *question, err *e)
{
    SCOPED(scoped_free) char *python = python_find(r->python, e);
    SCOPED(scoped_free) char *script = python ? script_path(e) : NULL;
    if (script == NULL)
        return NULL;
    SCOPED(scoped_free) char *text = json_dump(question);
    SCOPED(python_env_free) char **env = python_env();
    const char *const argv[] = {python, "-B", script, text, NULL};
    const subproc_options options = {.argv = argv, .env = (const char *const *)env};
    SCOPED(buf_fini) buf out;
    SCOPED(buf_fini) buf errors;
    int status = 0;
    buf_init(&out, ANSWER_MAX);
    buf_init(&errors, ANSWER_MAX);
    if (subproc_run(&options, TRACE_MS, &out, &errors, &status, e)) {
        err_wrap(e, "--from %s", r->from);
        return NULL;
    }
    return read_answer(&out, &errors, status, e);
}

/* ---- problem.yaml ---- */

/* A value as YAML's flow form takes it, which JSON is: names without quotes where they can. */
static void add_size(buf *out, const json *size)
{
    const char *name = json_str(size, NULL);
    if (name == NULL)
        buf_printf(out, "%lld", (long long)json_int(size, 0));
    else
        buf_printf(out, strchr(name, ' ') ? "\"%s\"" : "%s", name);
}

static void add_tensors(buf *out, const char *key, const json *rows)
{
    buf_printf(out, "%s:\n", key);
    for (size_t i = 0; i < json_size(rows); i++) {
        const json *row = json_at(rows, i), *sizes = json_get(row, "sizes");
        buf_printf(out, "  %s: {dtype: %s, shape: [", json_str(json_get(row, "name"), ""),
                   json_str(json_get(row, "dtype"), ""));
        for (size_t k = 0; k < json_size(sizes); k++) {
            buf_puts(out, k ? ", " : "");
            add_size(out, json_at(sizes, k));
        }
        buf_puts(out, "]}\n");
    }
}

static void add_map(buf *out, const json *object)
{
    json_iter at = {0};
    size_t count = 0;
    buf_puts(out, "{");
    while (json_next(object, &at)) {
        buf_printf(out, "%s%s: ", count++ ? ", " : "", at.key);
        if (json_typeof(at.value) == JSON_TYPE_ARRAY)
            buf_printf(out, "[%lld, %lld]", (long long)json_int(json_at(at.value, 0), 0),
                       (long long)json_int(json_at(at.value, 1), 0));
        else
            buf_printf(out, "%lld", (long long)json_int(at.value, 0));
    }
    buf_puts(out, "}\n");
}

static void add_scalars(buf *out, const json *rows)
{
    if (json_size(rows) == 0)
        return;
    buf_puts(out, "scalars:\n");
    for (size_t i = 0; i < json_size(rows); i++) {
        const json *row = json_at(rows, i);
        buf_printf(out, "  %s: {dtype: %s, value: %.17g}\n", json_str(json_get(row, "name"), ""),
                   json_str(json_get(row, "dtype"), ""), json_real(json_get(row, "value"), 0));
    }
}

static void add_families(buf *out, const json *families)
{
    buf_puts(out, "values: [");
    for (size_t i = 0; i < json_size(families); i++)
        buf_printf(out, "%s%s", i ? ", " : "", json_str(json_at(families, i), ""));
    buf_puts(out, "]\n");
}

char *scaffold_yaml(const char *name, const json *question, const json *answer)
{
    buf out;
    buf_init(&out, YAML_MAX);
    bool elementwise = json_bool(json_get(answer, "elementwise"), false);
    buf_printf(&out, "id: %s\ntitle: %s\ncategory: %s\ndims: ", name, name,
               elementwise ? "elementwise" : "reduction");
    add_map(&out, json_get(answer, "dims"));
    add_tensors(&out, "inputs", json_get(question, "inputs"));
    add_scalars(&out, json_get(answer, "scalars"));
    add_tensors(&out, "outputs", json_get(answer, "outputs"));
    buf_printf(&out, "reduction: %s\n", json_str(json_get(answer, "reduction"), "1"));
    add_families(&out, json_get(answer, "values"));
    buf_puts(&out, "shapes:\n");
    const json *shapes = json_get(answer, "shapes");
    for (size_t i = 0; i < json_size(shapes); i++) {
        buf_puts(&out, "  - ");
        add_map(&out, json_at(shapes, i));
    }
    buf_puts(&out, "benchmark: ");
    add_map(&out, json_get(question, "dims"));
    return buf_take(&out);
}

/* ---- files ---- */

static char *prompt_text(const char *name)
{
    return xasprintf(
        "# %s\n\nSay here what is computed, by a formula; shapes and dtypes; in what "
        "precision to compute and where to\nround; ties, NaN and sizes of 0; and at what "
        "shape it is timed.\n",
        name);
}

char *scaffold_list(const char *text, const char *name)
{
    const char *list = strstr(text, "\nproblems:\n");
    size_t size = strlen(text);
    if (list == NULL || strncmp(list + strlen("\nproblems:\n"), "  - ", 4) != 0)
        return NULL;
    const char *newline = size > 0 && text[size - 1] == '\n' ? "" : "\n";
    return xasprintf("%s%s  - %s\n", text, newline, name);
}

static int put(const char *folder, const char *name, const char *text, err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    return file_write(path, text, strlen(text), e);
}

/* Where the problem goes, and the suite's list as it was. */
typedef struct site {
    char *root, *suite_folder, *folder, *list_path;
    buf list;
} site;

static void site_fini(site *self)
{
    free(self->root);
    free(self->suite_folder);
    free(self->folder);
    free(self->list_path);
    buf_fini(&self->list);
}

static int find_site(const scaffold_request *r, site *out, err *e)
{
    buf_init(&out->list, YAML_MAX);
    out->root = suite_root(r->root, e);
    SCOPED(suite_destroy) suite *known = out->root ? suite_load(out->root, r->suite, e) : NULL;
    if (known == NULL)
        return -1;
    out->suite_folder = xstrdup(known->folder);
    out->folder = file_join(known->folder, r->name);
    out->list_path = file_join(known->folder, "suite.yaml");
    if (file_exists(out->folder))
        return err_set(e, ERR_USAGE, "%s exists already: choose another name", out->folder);
    return file_read(out->list_path, &out->list, e);
}

static int write_all(const scaffold_request *r, const site *to, const json *question,
                     const json *answer, err *e)
{
    SCOPED(scoped_free) char *yaml = scaffold_yaml(r->name, question, answer);
    SCOPED(scoped_free) char *prompt = prompt_text(r->name);
    SCOPED(scoped_free) char *list = scaffold_list(buf_text(&to->list), r->name);
    if (list == NULL)
        return err_set(e, ERR_CONFIG, "%s: its problems are not listed one a line: write them so",
                       to->list_path);
    return file_mkdirs(to->folder, e) || put(to->folder, "problem.yaml", yaml, e) ||
                   put(to->folder, "prompt.md", prompt, e) ||
                   put(to->folder, "reference.py", json_str(json_get(answer, "reference"), ""),
                       e) ||
                   file_write(to->list_path, list, strlen(list), e)
               ? -1
               : 0;
}

/* As it was: the folder gone, the list as before. */
static void take_back(const site *to)
{
    file_remove_tree(to->folder, NULL);
    file_write(to->list_path, buf_text(&to->list), to->list.size, NULL);
}

int scaffold_make(const scaffold_request *r, scaffold_result *out, err *e)
{
    SCOPED(json_destroy) json *question = scaffold_question(r, e);
    SCOPED(site_fini) site to = {.root = NULL};
    if (question == NULL || find_site(r, &to, e))
        return -1;
    SCOPED(json_doc_destroy) json_doc *answer = trace(r, question, e);
    if (answer == NULL)
        return -1;
    int made = write_all(r, &to, question, json_doc_root(answer), e);
    SCOPED(suite_destroy) suite *checked = made ? NULL : suite_load(to.root, r->suite, e);
    if (checked == NULL) {
        take_back(&to);
        return -1;
    }
    out->folder = TAKE(to.folder);
    return 0;
}

void scaffold_result_fini(scaffold_result *self)
{
    free(self->folder);
    self->folder = NULL;
}
