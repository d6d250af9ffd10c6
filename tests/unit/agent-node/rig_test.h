/* rig_test - what the tests of the stages share
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_AGENT_NODE_RIG_TEST_H
#define CE_TESTS_AGENT_NODE_RIG_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/support/rig.h"

/* Runs one problem with a mock script given as JSON text; the answers come from the rig's rules. */
static inline int run_mock(rig *r, const char *problem_id, const char *script, task_spec *spec,
                           err *e)
{
    char id[128];
    rig_write(r, "mock.json", script);
    snprintf(id, sizeof(id), "mock:%s/mock.json", rig_folder(r));
    rig_spec(r, problem_id, id, spec);
    return rig_run(r, spec, e);
}

/* Writes an answer with this source and plan into the rig's folder, for a mock's "file". */
static inline void write_answer(rig *r, const char *name, const char *source, const char *launches)
{
    SCOPED(scoped_free)
    char *text = xasprintf("```cuda\n%s\n```\n\n```json\n%s\n```\n", source, launches);
    rig_write(r, name, text);
}

/* The same with the problem's own kernel under a comment: another source, the same code. */
static inline void write_gold(rig *r, const task_spec *spec, const char *name, const char *comment)
{
    SCOPED(scoped_free) char *gold = rig_blob(r, &spec->gold_source);
    SCOPED(scoped_free) char *launches = rig_blob(r, &spec->gold_plan);
    SCOPED(scoped_free) char *source = xasprintf("// %s\n%s", comment, gold);
    write_answer(r, name, source, launches);
}

/* The model id of a mock script that lies in the rig's folder. */
static inline const char *mock_id(rig *r, const char *script, char out[128])
{
    rig_write(r, "mock.json", script);
    snprintf(out, 128, "mock:%s/mock.json", rig_folder(r));
    return out;
}

/* A text with the first `from` replaced by `to`, in fresh memory. */
static inline char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (at == NULL) {
        fail_msg("there is no '%s'", from);
    }
    return xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

#define assert_has(text, part)                           \
    do {                                                 \
        if (strstr(text, part) == NULL) {                \
            fail_msg("no '%s' in: %.2000s", part, text); \
        }                                                \
    } while (0)

#define assert_ok(call, e)            \
    do {                              \
        if ((call) != 0) {            \
            fail_msg("%s", (e).text); \
        }                             \
    } while (0)

#endif
