/* crier - a command of the user's that is told what happened
 *
 * Purpose:   at the end of a run, when its budget is used up, when a gate says no, when nothing has
 *            succeeded for too long, a shell command is run with the facts in its environment (CE_EVENT,
 *            CE_RUN, CE_STATE, CE_CODE, CE_TEXT, CE_DB) and as one JSON object on its standard input.
 * Ownership: crier_create copies; crier_tell copies.
 * Threads:   crier_tell never waits: the command runs on a thread of the hook, one after another.
 * Errors:    after crier_create none come back: a command that fails, or takes too long and is killed, is logged. The run
 *            does not know.
 *
 * The command gets PATH, HOME, the user's name, locale and time zone, and variables that begin with
 * CE_HOOK_ (an address, a password of its own); never a provider's key.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_CRIER_H
#define CE_COORDINATOR_CRIER_H

#include <stdint.h>

#include "common/cli.h"

enum {
    CRIER_PATIENCE_MS = 30 * 1000, /* for one command; then it is killed */
    CRIER_QUEUE = 64               /* words that wait; a further one is dropped and logged */
};

/* What can happen. */
typedef enum crier_event {
    CRIER_FINISH,  /* a run has ended, however */
    CRIER_BUDGET,  /* a run stopped spending: its budget has no room */
    CRIER_GATE,    /* a gate found a regression, or could not judge */
    CRIER_DEAD_MAN /* no run has been complete for as long as was asked */
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
/* crier_tell: a NULL hook is told nothing. */
void crier_tell(crier *self, const crier_word *word);
/* crier_destroy waits for commands that were asked for, each within its patience. */
void crier_destroy(crier **self);

#define CRIER_OPTION(options)                                                                   \
    {                                                                                           \
        .name = "hook", .type = CLI_STR, .offset = offsetof(options, hook), .value = "CMD",     \
        .help = "a shell command to run when something is worth knowing (docs/live.md); facts " \
                "are in CE_EVENT, CE_RUN, CE_TEXT … and as JSON on its standard input"        \
    }

#endif
