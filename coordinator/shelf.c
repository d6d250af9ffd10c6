/* shelf - load, look up, print as JSON
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/shelf.h"

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"

/* ---- loading ---- */

static int load_one(shelf *self, const char *root, const char *name, err *e)
{
    suite *loaded = suite_load(root, name, e);
    if (!loaded)
        return -1;
    self->suites[self->count++] = loaded;
    return 0;
}

shelf *shelf_load(const char *given, err *e)
{
    SCOPED(shelf_destroy) shelf *self = xcalloc(1, sizeof *self);
    SCOPED(scoped_free) char *root = suite_root(given, e);
    size_t count = 0;
    char **names = root ? suite_names(root, &count, e) : NULL;
    if (!names)
        return NULL;
    self->suites = xcalloc(count + 1, sizeof(suite *));
    int result = 0;
    for (size_t i = 0; i < count; i++) {
        result = result ? result : load_one(self, root, names[i], e);
        free(names[i]);
    }
    free(names);
    return result ? NULL : TAKE(self);
}

void shelf_destroy(shelf **self)
{
    if (!*self)
        return;
    for (size_t i = 0; i < (*self)->count; i++)
        suite_destroy(&(*self)->suites[i]);
    free((*self)->suites);
    free(*self);
    *self = NULL;
}

const suite *shelf_suite(const shelf *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp(self->suites[i]->id, name) == 0)
            return self->suites[i];
    }
    return NULL;
}

const problem *shelf_problem(const shelf *self, const char *id, const suite **of)
{
    for (size_t i = 0; i < self->count; i++) {
        const problem *p = suite_find(self->suites[i], id);
        if (p) {
            *of = self->suites[i];
            return p;
        }
    }
    return NULL;
}

/* ---- JSON ---- */

static json *expect_json(const mutant_expect *expect)
{
    json *list = json_new_array();
    for (size_t i = 0; i < expect->count; i++) {
        json *name = json_new_str(outcome_name(expect->any[i]));
        json_append(list, &name);
    }
    return list;
}

static json *mutant_json(const mutant *m)
{
    json *row = json_new_object();
    json *cuda = expect_json(&m->cuda), *emu = expect_json(&m->emu);
    json_set_str(row, "name", m->name);
    json_set(row, "expect", &cuda);
    json_set_str(row, "detail", m->cuda.detail);
    json_set(row, "emu", &emu);
    json_set_str(row, "why", m->why);
    json_set_str(row, "source", m->source);
    json_set_str(row, "plan", m->plan);
    return row;
}

static json *head_json(const suite *s, const problem *p)
{
    char hex[HASH_HEX];
    json *row = json_new_object();
    json_set_str(row, "suite", s->id);
    json_set_str(row, "id", p->id);
    json_set_str(row, "title", p->title);
    json_set_str(row, "category", p->category);
    hash_hex(&p->content, hex);
    json_set_str(row, "hash", hex);
    json_set_bool(row, "gold", p->gold_source != NULL);
    return row;
}

json *shelf_problem_json(const suite *of, const problem *p)
{
    json *row = head_json(of, p);
    json *terms = contract_to_json(p->terms), *wrong = json_new_array();
    for (size_t i = 0; i < p->wrong.count; i++) {
        json *one = mutant_json(&p->wrong.items[i]);
        json_append(wrong, &one);
    }
    json_set(row, "contract", &terms);
    json_set_str(row, "prompt", p->prompt);
    json_set_str(row, "reference", p->reference);
    json_set(row, "mutants", &wrong);
    return row;
}

static json *suite_json(const suite *s)
{
    char hex[HASH_HEX];
    json *row = json_new_object();
    json_set_str(row, "id", s->id);
    json_set_str(row, "version", s->version);
    json_set_str(row, "title", s->title);
    hash_hex(&s->content, hex);
    json_set_str(row, "hash", hex);
    return row;
}

json *shelf_json(suite *const *suites, size_t count)
{
    json *root = json_new_object();
    json *list = json_new_array(), *problems = json_new_array();
    for (size_t i = 0; i < count; i++) {
        json *row = suite_json(suites[i]);
        json_append(list, &row);
        for (size_t k = 0; k < suites[i]->problem_count; k++) {
            json *one = head_json(suites[i], &suites[i]->problems[k]);
            json_append(problems, &one);
        }
    }
    json_set(root, "suites", &list);
    json_set(root, "problems", &problems);
    return root;
}
