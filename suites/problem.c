/* problem - one folder of a suite
 *
 * SPDX-License-Identifier: MIT */
#include "suites/problem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "common/yaml.h"
#include "suites/plan.h"
#include "suites/text.h"

static const char *const categories[] = {
    "elementwise", "reduction", "normalization", "scan", "index", "gemm", NULL};

static const char *folder_name(const char *folder)
{
    const char *slash = strrchr(folder, '/');
    return slash == NULL ? folder : slash + 1;
}

/* ---- gold ---- */

static bool has_file(const char *folder, const char *name)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    return file_exists(path);
}

static int check_gold_plan(const problem *self, err *e)
{
    plan_fault fault;
    SCOPED(plan_destroy)
    plan *parsed = plan_parse(self->gold_plan, strlen(self->gold_plan), self->terms, &fault);
    if (parsed != NULL)
        return 0;
    return err_set(e, ERR_CONFIG, "%s/gold.json: %s%s%s", self->folder, fault.pointer,
                   fault.pointer[0] == '\0' ? "" : ": ", fault.text);
}

static int load_gold(problem *self, err *e)
{
    bool source = has_file(self->folder, "gold.cu"), launch = has_file(self->folder, "gold.json");
    if (!source && !launch)
        return 0;
    if (source != launch)
        return err_set(e, ERR_CONFIG, "%s: gold.%s is there but gold.%s is missing: add it",
                       self->folder, source ? "cu" : "json", source ? "json" : "cu");
    if (text_read(self->folder, "gold.cu", &self->gold_source, e) < 0 ||
        text_read(self->folder, "gold.json", &self->gold_plan, e) < 0)
        return -1;
    assert(self->gold_plan != NULL);
    return check_gold_plan(self, e);
}

/* ---- problem.yaml ---- */

static int read_id(problem *self, const json_cursor *root, err *e)
{
    json_cursor at;
    const char *id;
    if (json_member(root, "id", &at, e) < 0 || json_want_name(&at, &id, e) < 0)
        return -1;
    if (strcmp(id, folder_name(self->folder)) != 0)
        return json_fail(&at, e, "the id is '%s' but the folder is '%s': make them equal", id,
                         folder_name(self->folder));
    self->id = xstrdup(id);
    return 0;
}

static int read_title(problem *self, const json_cursor *root, err *e)
{
    json_cursor at;
    const char *title;
    if (json_member(root, "title", &at, e) < 0 || json_want_str(&at, &title, e) < 0)
        return -1;
    if (title[0] == '\0')
        return json_fail(&at, e, "the title is empty");
    self->title = xstrdup(title);
    return 0;
}

static int read_category(problem *self, const json_cursor *root, err *e)
{
    json_cursor at;
    int choice;
    if (json_member(root, "category", &at, e) < 0 ||
        json_want_choice(&at, categories, &choice, e) < 0)
        return -1;
    self->category = xstrdup(categories[choice]);
    return 0;
}

static int read_notes(const json_cursor *root, err *e)
{
    json_cursor at;
    const char *ignored;
    return json_maybe(root, "notes", &at) ? json_want_str(&at, &ignored, e) : 0;
}

static int read_yaml(problem *self, err *e)
{
    static const char *const keys[] = {
        "id",      "title",      "category", "dims",       "inputs", "scalars",
        "outputs", "reduction",  "values",   "order_free", "shapes", "benchmark",
        "notes",   "operations", "memory",   "capability", NULL};
    SCOPED(scoped_free) char *path = file_join(self->folder, "problem.yaml");
    SCOPED(json_doc_destroy) json_doc *doc = yaml_load(path, e);
    if (doc == NULL)
        return -1;
    json_cursor root = json_root(doc);
    if (json_only_keys(&root, keys, e) < 0 || read_id(self, &root, e) < 0 ||
        read_title(self, &root, e) < 0 || read_category(self, &root, e) < 0 ||
        read_notes(&root, e) < 0)
        return -1;
    self->terms = contract_read_problem(&root, self->id, e);
    return self->terms == NULL ? -1 : 0;
}

/* ---- the whole ---- */

static hash content_of(const problem *self)
{
    SCOPED(scoped_free) char *terms = contract_text(self->terms);
    const hash_part parts[] = {
        {"contract", terms, strlen(terms)},
        {"prompt", self->prompt, strlen(self->prompt)},
        {"reference", self->reference, strlen(self->reference)},
    };
    return hash_list(parts, sizeof parts / sizeof parts[0]);
}

/* folder_path is the folder without slashes at its end, so that its name can be read off it. */
static char *folder_path(const char *folder)
{
    size_t size = strlen(folder);
    while (size > 1 && folder[size - 1] == '/')
        size--;
    return xstrndup(folder, size);
}

int problem_load(const char *folder, problem *out, err *e)
{
    SCOPED(problem_fini) problem self = {.folder = folder_path(folder)};
    if (read_yaml(&self, e) < 0 || text_read(self.folder, "prompt.md", &self.prompt, e) < 0 ||
        text_read(self.folder, "reference.py", &self.reference, e) < 0 || load_gold(&self, e) < 0 ||
        mutants_load(self.folder, self.terms, self.gold_plan, &self.wrong, e) < 0)
        return -1;
    assert(self.prompt != NULL && self.reference != NULL);
    self.content = content_of(&self);
    *out = self;
    self = (problem){0};
    return 0;
}

void problem_fini(problem *self)
{
    contract_destroy(&self->terms);
    mutants_fini(&self->wrong);
    free(self->id);
    free(self->title);
    free(self->category);
    free(self->folder);
    free(self->prompt);
    free(self->reference);
    free(self->reference_file);
    free(self->gold_source);
    free(self->gold_plan);
    *self = (problem){0};
}
