/* outcome - what is true of a candidate: the closed list
 *
 * SPDX-License-Identifier: MIT */
#include "common/outcome.h"

#include <stddef.h>
#include <string.h>

typedef struct outcome_row {
    const char *name;
    bool scored;
} outcome_row;

static const outcome_row rows[] = {
#define OUTCOME_ROW(id, number, name, scored) [number] = {name, scored},
    OUTCOMES(OUTCOME_ROW)
#undef OUTCOME_ROW
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static bool known(outcome value)
{
    return (size_t)value < ROWS && rows[value].name != NULL;
}

const char *outcome_name(outcome value)
{
    return known(value) ? rows[value].name : "unknown";
}

bool outcome_parse(const char *name, outcome *out)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].name != NULL && strcmp(rows[i].name, name) == 0) {
            *out = (outcome)i;
            return true;
        }
    }
    return false;
}

bool outcome_is_scored(outcome value)
{
    return known(value) && rows[value].scored;
}
