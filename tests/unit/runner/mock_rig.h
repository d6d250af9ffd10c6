/* mock_rig - run a test program on the mock driver
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_UNIT_RUNNER_MOCK_RIG_H
#define CE_TESTS_UNIT_RUNNER_MOCK_RIG_H

#include <stddef.h>

#include "mock_cuda.h"
#include "suites/contract.h"

/* mock_rig_enter starts the program anew with the mock driver's folder on the library path, once. */
void mock_rig_enter(char **argv);

/* The hooks of the loaded mock library. */
typedef struct mock_hooks {
    void *library; /* held open, so that its state survives */
    const mock_trace *(*trace)(size_t *count);
    void (*trace_clear)(void);
    void (*refuse)(const char *function, int result);
    void (*queue_room)(size_t nodes);
} mock_hooks;
mock_hooks mock_rig_hooks(void);

/* A contract of y[n] = a[n] + b[n] (f32) and the plan of a kernel of that form. */
extern const char mock_rig_contract[];
contract *mock_rig_terms(void);
char *mock_rig_plan(const char *entry); /* caller frees */

#endif
