/* adversarial - one list, one folder of kernels
 *
 * SPDX-License-Identifier: MIT */
#include "suites/adversarial.h"

#include <stdlib.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "common/yaml.h"

/* The folders that a row is read from. */
typedef struct place {
    char *list;    /* …/adversarial/adversarial.yaml */
    char *kernels; /* …/adversarial/kernels */
} place;

static void place_fini(place *self)
{
    free(self->list);
    free(self->kernels);
}

/* find_problem: NULL when the suite lacks it. */
static const problem *find_problem(const suite *problems, const json_cursor *row, err *e)
{
    json_cursor at;
    const char *id;
    if (json_member(row, "problem", &at, e) < 0 || json_want_str(&at, &id, e) < 0)
        return NULL;
    const problem *found = suite_find(problems, id);
    if (found == NULL)
        json_fail(&at, e, "suite %s has no problem '%.63s'", problems->id, id);
    return found;
}

static int read_sanitize(const json_cursor *row, mutant *out, err *e)
{
    json_cursor at;
    return json_maybe(row, "sanitizer", &at) ? json_want_bool(&at, &out->sanitize, e) : 0;
}

static int read_row(adversarial *self, const place *from, const suite *problems,
                    const json_cursor *row, err *e)
{
    static const char *const keys[] = {"problem", "name",      "expect", "detail",
                                       "emu",     "sanitizer", "why",    NULL};
    if (json_only_keys(row, keys, e) < 0)
        return -1;
    const problem *of = find_problem(problems, row, e);
    if (of == NULL)
        return -1;
    const mutants_reading r = {.folder = from->kernels, .gold_plan = of->gold_plan};
    mutants *list = &self->kernels;
    if (mutants_read_row(&r, list, row, &list->items[list->count], e) < 0)
        return -1;
    self->problems[list->count] = of;
    return read_sanitize(row, &list->items[list->count++], e);
}

static int read_list(adversarial *self, const place *from, const suite *problems, err *e)
{
    SCOPED(json_doc_destroy) json_doc *doc = yaml_load(from->list, e);
    if (doc == NULL)
        return -1;
    json_cursor root = json_root(doc), row;
    size_t n;
    if (json_want_array(&root, MUTANTS_MAX, &n, e) < 0)
        return -1;
    self->kernels.items = xcalloc(n + 1, sizeof *self->kernels.items);
    self->problems = xcalloc(n + 1, sizeof *self->problems);
    for (size_t i = 0; i < n; i++) {
        json_element(&root, i, &row);
        if (read_row(self, from, problems, &row, e) < 0)
            return -1;
    }
    return mutants_check_files(from->kernels, "", &self->kernels, &root, e);
}

adversarial *adversarial_load(const char *root, const suite *problems, err *e)
{
    SCOPED(adversarial_destroy) adversarial *self = xcalloc(1, sizeof *self);
    SCOPED(place_fini)
    place from = {file_join(root, "adversarial/adversarial.yaml"),
                  file_join(root, "adversarial/kernels")};
    return read_list(self, &from, problems, e) < 0 ? NULL : TAKE(self);
}

void adversarial_destroy(adversarial **self)
{
    adversarial *a = TAKE(*self);
    if (a == NULL)
        return;
    mutants_fini(&a->kernels);
    free(a->problems);
    free(a);
}
