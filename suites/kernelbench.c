/* kernelbench - the problems of a KernelBench checkout, as `ce-node checkout` tells them
 *
 * SPDX-License-Identifier: MIT */
#include "suites/kernelbench.h"

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "suites/plan.h"

static const char origin[] = "checkout";

static void file_fini(kernelbench_file *file)
{
    free(file->id);
    free(file->title);
    free(file->reason);
    free(file->degenerate);
}

void kernelbench_destroy(kernelbench **self)
{
    kernelbench *k = TAKE(*self);
    if (k == NULL)
        return;
    for (size_t i = 0; i < k->file_count; i++)
        file_fini(&k->files[i]);
    suite_destroy(&k->problems);
    free(k->files);
    free(k->layout);
    free(k);
}

suite *kernelbench_take_suite(kernelbench *self)
{
    for (size_t i = 0; i < self->file_count; i++)
        self->files[i].is = NULL;
    return TAKE(self->problems);
}

/* ---- one row ---- */

static char *text_of(const json *row, const char *key)
{
    const char *text = json_str(json_get(row, key), NULL);
    return text == NULL ? NULL : xstrdup(text);
}

/* The content is what the problem asks: the normalised source's hash stands for the reference. */
static hash content_of(const problem *p, const char *identity)
{
    SCOPED(scoped_free) char *terms = contract_text(p->terms);
    const hash_part parts[] = {{"contract", terms, strlen(terms)},
                               {"prompt", p->prompt, strlen(p->prompt)},
                               {"source", identity, strlen(identity)}};
    return hash_list(parts, sizeof parts / sizeof parts[0]);
}

static int check_gold(const problem *p, err *e)
{
    plan_fault fault;
    if (p->gold_plan == NULL)
        return 0;
    SCOPED(plan_destroy)
    plan *parsed = plan_parse(p->gold_plan, strlen(p->gold_plan), p->terms, &fault);
    return parsed != NULL
               ? 0
               : err_set(e, ERR_CONFIG, "gold of %s: %s: %s", p->id, fault.pointer, fault.text);
}

static int read_problem(const json_cursor *at, bool degenerate, problem *out, err *e)
{
    const json *row = at->value;
    SCOPED(problem_fini)
    problem self = {.id = text_of(row, "id"),
                    .title = text_of(row, "title"),
                    .folder = text_of(row, "file"),
                    .reference_file = text_of(row, "file"),
                    .prompt = text_of(row, "prompt"),
                    .reference = text_of(row, "reference"),
                    .gold_source = text_of(row, "gold_source"),
                    .gold_plan = text_of(row, "gold_plan")};
    self.category = degenerate ? xstrdup(KERNELBENCH_DEGENERATE) : text_of(row, "category");
    const char *identity = json_str(json_get(row, "hash"), NULL);
    json_cursor terms;
    if (self.id == NULL || self.title == NULL || self.category == NULL || self.folder == NULL ||
        self.prompt == NULL || self.reference == NULL || identity == NULL)
        return json_fail(at, e, "this row has no id, title, category, file, prompt or reference");
    if (json_member(at, "contract", &terms, e) < 0)
        return -1;
    self.terms = contract_read(&terms, e);
    if (self.terms == NULL || check_gold(&self, e) < 0)
        return err_wrap(e, "%s", self.id);
    self.content = content_of(&self, identity);
    *out = self;
    self = (problem){0};
    return 0;
}

/* degenerate_text lists what passes: "zeros, constant". */
static char *degenerate_text(const json *list)
{
    if (json_size(list) == 0)
        return NULL;
    char *text = xstrdup("");
    for (size_t i = 0; i < json_size(list); i++) {
        SCOPED(scoped_free) char *before = text;
        text = xasprintf("%s%s%s", before, i == 0 ? "" : ", ", json_str(json_at(list, i), "?"));
    }
    return text;
}

static int read_file(kernelbench *self, const json_cursor *at, err *e)
{
    const json *row = at->value, *bytes = json_get(row, "bytes");
    suite *all = self->problems;
    kernelbench_file *file = &self->files[self->file_count];
    *file = (kernelbench_file){.id = text_of(row, "id"),
                               .title = text_of(row, "title"),
                               .reason = text_of(row, "reason"),
                               .supported = json_bool(json_get(row, "supported"), false),
                               .admitted = json_size(json_get(row, "admission")) > 0,
                               .degenerate = degenerate_text(json_get(row, "degenerate")),
                               .inputs = json_int(json_get(bytes, "inputs"), 0),
                               .needs = json_int(json_get(bytes, "needs"), 0)};
    self->file_count++;
    if (file->id == NULL || file->title == NULL)
        return json_fail(at, e, "this row has no id or title");
    if (!file->supported)
        return 0;
    problem *p = &all->problems[all->problem_count];
    if (read_problem(at, file->degenerate != NULL, p, e) < 0)
        return -1;
    file->is = p;
    all->problem_count++;
    return 0;
}

/* ---- the whole ---- */

/* Of all files of the levels, also when only some were read. */
static hash suite_hash(const suite *self, const char *identity)
{
    const hash_part parts[] = {{"version", self->version, strlen(self->version)},
                               {"files", identity, strlen(identity)}};
    return hash_list(parts, sizeof parts / sizeof parts[0]);
}

static int read_head(kernelbench *self, const json *head, const char *shots, err *e)
{
    const char *fault = json_str(json_get(head, "fault"), NULL);
    int64_t files = json_int(json_get(head, "files"), -1);
    if (fault != NULL)
        return err_set(e, ERR_CONFIG, "%s", fault);
    const char *identity = json_str(json_get(head, "identity"), NULL);
    if (files < 0 || files > SUITE_PROBLEMS_MAX || identity == NULL)
        return err_set(e, ERR_CONFIG,
                       "%s: the first line says no identity, or no number of files up to %d",
                       origin, SUITE_PROBLEMS_MAX);
    const char *root = json_str(json_get(head, "root"), "");
    self->layout = xstrdup(json_str(json_get(head, "layout"), "problems"));
    self->files = xcalloc((size_t)files + 1, sizeof *self->files);
    suite *all = self->problems = xcalloc(1, sizeof *all);
    all->id = xstrdup(KERNELBENCH_SUITE);
    all->version = xasprintf("%s/%s-shot", self->layout, shots);
    all->title = xasprintf("KernelBench (%s), %s-shot prompts", self->layout, shots);
    all->folder = xstrdup(root);
    all->content = suite_hash(all, identity);
    all->problems = xcalloc((size_t)files + 1, sizeof *all->problems);
    return (int)files;
}

static json_doc *parse_line(str line, err *e)
{
    return json_parse(line.data, line.size, origin, e);
}

kernelbench *kernelbench_read(const char *text, size_t size, const char *shots, err *e)
{
    SCOPED(kernelbench_destroy) kernelbench *self = xcalloc(1, sizeof *self);
    str rest = {text, size}, line;
    int files = -1;
    while (str_split(&rest, '\n', &line)) {
        if (line.size == 0)
            continue;
        SCOPED(json_doc_destroy) json_doc *doc = parse_line(line, e);
        if (doc == NULL)
            return NULL;
        json_cursor at = json_root(doc);
        if (files < 0) {
            files = read_head(self, at.value, shots, e);
            if (files < 0)
                return NULL;
        } else if (json_get(at.value, "fault") != NULL || self->file_count == (size_t)files) {
            json_fail(&at, e, "%s",
                      json_str(json_get(at.value, "fault"), "there are more rows than files"));
            return NULL;
        } else if (read_file(self, &at, e) < 0) {
            return NULL;
        }
    }
    if (files < 0 || self->file_count < (size_t)files) {
        err_set(e, ERR_CONFIG, "%s: it ended after %zu of %d files", origin, self->file_count,
                files < 0 ? 0 : files);
        return NULL;
    }
    return TAKE(self);
}

/* ---- words ---- */

char *kernelbench_id(const char *word)
{
    const char *slash = strchr(word, '/');
    size_t level = strspn(word, "0123456789");
    bool is = slash != NULL && level > 0 && word + level == slash && slash[1] != '\0' &&
              strspn(slash + 1, "0123456789") == strlen(slash + 1);
    return is ? xasprintf("l%.*s_%s", (int)level, word, slash + 1) : xstrdup(word);
}

json *kernelbench_levels(const char *text, err *e)
{
    SCOPED(json_destroy) json *list = json_new_array();
    str rest = str_of(text != NULL ? text : "1,2,3"), piece;
    while (str_split(&rest, ',', &piece)) {
        SCOPED(scoped_free) char *word = xstrndup(piece.data, piece.size);
        int64_t level = 0;
        if (!str_to_i64(word, &level) || level < 1 || level > KERNELBENCH_LEVELS) {
            err_set(e, ERR_USAGE, "--level %s: levels are 1 to %d", text, KERNELBENCH_LEVELS);
            return NULL;
        }
        json *one = json_new_int(level);
        json_append(list, &one);
    }
    return TAKE(list);
}
