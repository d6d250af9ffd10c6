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
#include <string.h>
#include <cmocka.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/support/rig.h"

/* Runs one problem with a mock script given as JSON text; the answers come from the rig's rules. */
static inline int run_mock(rig *r, const char *problem, const char *script, task_spec *spec, err *e)
{
    char id[128];
    rig_write(r, "mock.json", script);
    snprintf(id, sizeof(id), "mock:%s/mock.json", rig_folder(r));
    rig_spec(r, problem, id, spec);
    return rig_run(r, spec, e);
}

#define assert_ok(call, e)                                                                         \
    do {                                                                                           \
        if ((call) != 0) {                                                                         \
            fail_msg("%s", (e).text);                                                              \
        }                                                                                          \
    } while (0)

#endif
