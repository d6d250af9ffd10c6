/* family - see family.h.
 *
 * SPDX-License-Identifier: MIT */
#include "suites/family.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* The judge's list is the same: tests/unit/judge/test_values.py compares them. */
static const char *const known[] = {"normal",    "uniform",  "positive", "constant",    "zeros",
                                    "ties",      "integers", "permuted", "log_uniform", "one_hot",
                                    "denormals", "large",    "sorted",   "reversed",    "specials",
                                    "offset",    "own",      "signed",   "reweighted",  NULL};

bool family_list_has(const family_list *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++)
        if (strcmp(self->names[i], name) == 0)
            return true;
    return false;
}

int family_read(const json_cursor *list, family_list *out, err *e)
{
    json_cursor at;
    size_t n;
    if (json_want_array(list, FAMILY_MAX, &n, e) < 0)
        return -1;
    if (n == 0)
        return json_fail(list, e, "name at least one value family");
    out->names = xcalloc(n, sizeof *out->names);
    for (size_t i = 0; i < n; i++) {
        int choice;
        json_element(list, i, &at);
        if (json_want_choice(&at, known, &choice, e) < 0)
            return -1;
        if (family_list_has(out, known[choice]))
            return json_fail(&at, e, "'%s' is named twice", known[choice]);
        out->names[out->count++] = known[choice];
    }
    return 0;
}

void family_list_fini(family_list *self)
{
    free(self->names);
    *self = (family_list){0};
}

json *family_list_json(const family_list *self)
{
    json *list = json_new_array();
    for (size_t i = 0; i < self->count; i++) {
        json *name = json_new_str(self->names[i]);
        json_append(list, &name);
    }
    return list;
}
