/* family - the families that input values are drawn from
 *
 * Purpose:   the closed list of names that contracts and the judge share (what each means:
 *            agent-node/judge/values.py and docs/adding-a-problem.md), and a list of them as read.
 * Ownership: a family_list borrows its names, which are static, and owns the array.
 * Threads:   safe.
 * Errors:    ERR_CONFIG with file, line and JSON pointer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_FAMILY_H
#define CE_SUITES_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/json.h"

enum { FAMILY_MAX = 24 }; /* names in one list */

typedef struct family_list {
    const char **names;
    size_t count;
} family_list;

/* family_read reads a list of at least one name, each at most once. */
int family_read(const json_cursor *list, family_list *out, err *e);
void family_list_fini(family_list *self);
bool family_list_has(const family_list *self, const char *name);
json *family_list_json(const family_list *self);

#endif
