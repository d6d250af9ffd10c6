/* crier - calls the user's hook from a loop that must not wait
 *
 * Purpose:   at the end of a run, when its budget is used up, when nothing has succeeded for too long, after a
 *            gate, the hook (coordinator/hook.h), a shell command, is called with the facts in its environment
 *            (CE_EVENT, CE_MESSAGE, CE_RUN, CE_STATE, CE_CODE, CE_DB) and in its document.
 * Ownership: crier_create copies, but borrows the environment; crier_tell copies.
 * Threads:   crier_tell never waits: hooks are called on a thread of their own, one after another.
 * Errors:    after crier_create none come back: a hook that fails is logged. The run does not know.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_CRIER_H
#define CE_COORDINATOR_CRIER_H

#include <stdint.h>

#include "common/cli.h"

enum { CRIER_QUEUE = 64 }; /* words that wait; a further one is dropped and logged */

/* What can happen. */
typedef enum crier_event {
    CRIER_FINISH,   /* a run has ended, however */
    CRIER_BUDGET,   /* a run stopped spending: its budget has no room */
    CRIER_DEAD_MAN, /* no run has been complete for as long as was asked */
    CRIER_GATE      /* a run was held against earlier ones */
} crier_event;
const char *crier_event_name(crier_event event);

/* What is told; texts may be NULL. */
typedef struct crier_word {
    crier_event event;
    const char *run, *state;
    int code;         /* exit code of ce-coord for it */
    const char *text; /* one line for people */
} crier_word;

typedef struct crier crier;

typedef struct crier_options {
    const char *command, *db;
    const char *const
        *environment; /* of this process, NULL-ended: what is passed on comes from it */
} crier_options;
crier *crier_create(const crier_options *options, err *e);
/* crier_tell: a NULL crier tells nobody. */
void crier_tell(crier *self, const crier_word *word);
/* crier_destroy waits for the hooks that were asked for, HOOK_TIMEOUT_MS at most each. */
void crier_destroy(crier **self);

#define CRIER_OPTION(options)                                                                   \
    {                                                                                           \
        .name = "hook", .type = CLI_STR, .offset = offsetof(options, hook), .value = "CMD",     \
        .help = "a shell command to run when something is worth knowing (docs/live.md); facts " \
                "are in CE_EVENT, CE_MESSAGE, CE_RUN … and as JSON on its standard input"     \
    }

#endif
