/* selection - suites loaded, problems picked
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/selection.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "coordinator/survey.h"

enum { NAME_ROOM = 4096 };

void selection_destroy(selection **self)
{
    if (!*self)
        return;
    for (size_t i = 0; i < (*self)->suite_count; i++)
        suite_destroy(&(*self)->suites[i]);
    free((*self)->suites);
    free((*self)->problems);
    free((*self)->suite_of);
    free((*self)->name);
    free((*self)->version);
    free(*self);
    *self = NULL;
}

static size_t problems_of(const selection *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->suite_count; i++)
        count += self->suites[i]->problem_count;
    return count;
}

static bool is_checkout_id(const char *id)
{
    return id[0] == 'l' && strspn(id + 1, "0123456789_") == strlen(id + 1);
}

/* only_of is what --only says of the checkout, "l1_19,l2_9"; NULL: nothing. Fresh memory. */
static char *only_of(const settings *wanted)
{
    SCOPED(buf_fini) buf list;
    buf_init(&list, (size_t)NAME_ROOM * 4);
    for (size_t i = 0; i < wanted->only_count; i++) {
        if (is_checkout_id(wanted->only[i].name))
            buf_printf(&list, "%s%s", list.size ? "," : "", wanted->only[i].name);
    }
    return list.size ? buf_take(&list) : NULL;
}

/* A KernelBench checkout is the user's: it is read each time, in seconds. */
static suite *load_checkout(const settings *wanted, err *e)
{
    SCOPED(scoped_free) char *only = only_of(wanted);
    const survey_request request = {.root = wanted->root,
                                    .level = wanted->level,
                                    .only = only,
                                    .shots = wanted->shots,
                                    .found = wanted->found,
                                    .suites = wanted->suites_dir,
                                    .python = wanted->python};
    if (!wanted->root) {
        err_set(e, ERR_USAGE, "--suite %s needs --root DIR, a KernelBench checkout",
                KERNELBENCH_SUITE);
        return NULL;
    }
    SCOPED(kernelbench_destroy) kernelbench *all = survey_read(&request, e);
    return all ? kernelbench_take_suite(all) : NULL;
}

static suite *load_suite(const char *root, const char *name, const settings *wanted, err *e)
{
    return strcmp(name, KERNELBENCH_SUITE) == 0 ? load_checkout(wanted, e)
                                                : suite_load(root, name, e);
}

static int load_suites(selection *self, const settings *wanted, err *e)
{
    SCOPED(scoped_free) char *root = suite_root(wanted->suites_dir, e);
    if (!root)
        return -1;
    self->suites = xcalloc(wanted->suite_count + 1, sizeof *self->suites);
    for (size_t i = 0; i < wanted->suite_count; i++) {
        suite *loaded = load_suite(root, wanted->suites[i].name, wanted, e);
        if (!loaded)
            return -1;
        self->suites[self->suite_count++] = loaded;
    }
    return 0;
}

/* One suite speaks for itself; several are named and hashed together. */
static void name_suites(selection *self)
{
    SCOPED(buf_fini) buf names;
    SCOPED(buf_fini) buf versions;
    buf_init(&names, NAME_ROOM);
    buf_init(&versions, NAME_ROOM);
    hash_part *parts = xcalloc(self->suite_count + 1, sizeof *parts);
    for (size_t i = 0; i < self->suite_count; i++) {
        const suite *s = self->suites[i];
        buf_printf(&names, "%s%s", i ? "," : "", s->id);
        buf_printf(&versions, "%s%s", i ? "," : "", s->version);
        parts[i] = (hash_part){s->id, s->content.bytes, HASH_SIZE};
    }
    self->content =
        self->suite_count == 1 ? self->suites[0]->content : hash_list(parts, self->suite_count);
    free(parts);
    self->name = buf_take(&names);
    self->version = buf_take(&versions);
}

static const problem *find(const selection *self, const char *id, const suite **of)
{
    for (size_t i = 0; i < self->suite_count; i++) {
        const problem *p = suite_find(self->suites[i], id);
        if (p) {
            *of = self->suites[i];
            return p;
        }
    }
    return NULL;
}

static int unknown_problem(const selection *self, const char *id, err *e)
{
    SCOPED(scoped_free) const char **names = xcalloc(problems_of(self) + 1, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < self->suite_count; i++) {
        for (size_t k = 0; k < self->suites[i]->problem_count; k++)
            names[count++] = self->suites[i]->problems[k].id;
    }
    const char *near = str_nearest(id, names);
    return err_set(e, ERR_USAGE, "suite %s has no problem %s%s%s%s", self->name, id,
                   near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

static int check_unique(const selection *self, err *e)
{
    for (size_t i = 1; i < self->suite_count; i++) {
        for (size_t k = 0; k < self->suites[i]->problem_count; k++) {
            const char *id = self->suites[i]->problems[k].id;
            const suite *first = NULL;
            find(self, id, &first);
            if (first != self->suites[i])
                return err_set(e, ERR_USAGE,
                               "problem %s is in suite %s and in suite %s: run them apart", id,
                               first->id, self->suites[i]->id);
        }
    }
    return 0;
}

static bool is_wanted(const settings *wanted, const char *id)
{
    for (size_t i = 0; i < wanted->only_count; i++) {
        if (strcmp(wanted->only[i].name, id) == 0)
            return true;
    }
    return wanted->only_count == 0;
}

static int pick(selection *self, const settings *wanted, err *e)
{
    for (size_t i = 0; i < wanted->only_count; i++) {
        const suite *of;
        if (!find(self, wanted->only[i].name, &of))
            return unknown_problem(self, wanted->only[i].name, e);
    }
    size_t limit = wanted->limit ? (size_t)wanted->limit : SIZE_MAX;
    self->problems = xcalloc(problems_of(self) + 1, sizeof *self->problems);
    self->suite_of = xcalloc(problems_of(self) + 1, sizeof *self->suite_of);
    for (size_t i = 0; i < self->suite_count; i++) {
        const suite *s = self->suites[i];
        for (size_t k = 0; k < s->problem_count && self->count < limit; k++) {
            if (!is_wanted(wanted, s->problems[k].id))
                continue;
            self->problems[self->count] = &s->problems[k];
            self->suite_of[self->count++] = s;
        }
    }
    return 0;
}

selection *selection_create(const settings *wanted, err *e)
{
    SCOPED(selection_destroy) selection *self = xcalloc(1, sizeof *self);
    if (load_suites(self, wanted, e))
        return NULL;
    name_suites(self);
    if (check_unique(self, e) || pick(self, wanted, e))
        return NULL;
    return TAKE(self);
}
