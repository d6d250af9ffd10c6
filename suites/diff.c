/* diff - what two suites do not have in common
 *
 * SPDX-License-Identifier: MIT */
#include "suites/diff.h"

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"

static const char *const kind_names[] = {"removed", "added", "changed", "moved"};
static const char *const part_names[DIFF_PARTS] = {"contract", "prompt", "reference",
                                                   "title",    "gold",   "mutants"};

const char *diff_kind_name(diff_kind kind)
{
    return kind_names[kind];
}

const char *diff_part_name(int part)
{
    return part_names[part];
}

/* ---- two problems ---- */

static bool differs(const char *a, const char *b)
{
    return (a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0);
}

static bool expects_differ(const mutant_expect *a, const mutant_expect *b)
{
    return a->count != b->count || memcmp(a->any, b->any, a->count * sizeof *a->any) != 0 ||
           differs(a->detail, b->detail);
}

static bool mutants_differ(const mutants *a, const mutants *b)
{
    if (a->count != b->count)
        return true;
    for (size_t i = 0; i < a->count; i++) {
        const mutant *x = &a->items[i], *y = &b->items[i];
        if (differs(x->name, y->name) || differs(x->source, y->source) ||
            differs(x->plan, y->plan) || expects_differ(&x->cuda, &y->cuda) ||
            expects_differ(&x->emu, &y->emu))
            return true;
    }
    return false;
}

/* compare fills the parts that differ; false: none does. */
static bool compare(const problem *a, const problem *b, bool parts[DIFF_PARTS])
{
    hash x = contract_hash(a->terms), y = contract_hash(b->terms);
    parts[DIFF_CONTRACT] = !hash_equal(&x, &y);
    parts[DIFF_PROMPT] = differs(a->prompt, b->prompt);
    parts[DIFF_REFERENCE] = differs(a->reference, b->reference);
    parts[DIFF_HEAD] = differs(a->title, b->title) || differs(a->category, b->category);
    parts[DIFF_GOLD] =
        differs(a->gold_source, b->gold_source) || differs(a->gold_plan, b->gold_plan);
    parts[DIFF_MUTANTS] = mutants_differ(&a->wrong, &b->wrong);
    for (int i = 0; i < DIFF_PARTS; i++)
        if (parts[i])
            return true;
    return false;
}

/* ---- two suites ---- */

static void add(diff *self, const diff_row *row)
{
    self->rows = xreallocarray(self->rows, self->count + 1, sizeof *self->rows);
    self->rows[self->count++] = *row;
}

/* rank is the place of problem i of `self` among those that the other suite has too. */
static size_t rank(const suite *self, size_t i, const suite *other)
{
    size_t before = 0;
    for (size_t k = 0; k < i; k++)
        before += suite_find(other, self->problems[k].id) != NULL;
    return before;
}

static void add_common(diff *self, const suite *before, size_t i, const suite *after)
{
    const problem *p = &before->problems[i], *q = suite_find(after, p->id);
    diff_row row = {.id = p->id, .kind = DIFF_CHANGED};
    if (!compare(p, q, row.parts)) {
        size_t at = (size_t)(q - after->problems);
        if (rank(before, i, after) == rank(after, at, before))
            return;
        row.kind = DIFF_MOVED;
    }
    add(self, &row);
}

diff diff_suites(const suite *before, const suite *after)
{
    diff self = {0};
    for (size_t i = 0; i < before->problem_count; i++) {
        const diff_row gone = {.id = before->problems[i].id, .kind = DIFF_REMOVED};
        if (suite_find(after, gone.id) != NULL)
            add_common(&self, before, i, after);
        else
            add(&self, &gone);
    }
    for (size_t i = 0; i < after->problem_count; i++) {
        const diff_row fresh = {.id = after->problems[i].id, .kind = DIFF_ADDED};
        if (suite_find(before, fresh.id) == NULL)
            add(&self, &fresh);
    }
    return self;
}

void diff_fini(diff *self)
{
    free(self->rows);
    *self = (diff){0};
}
