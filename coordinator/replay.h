/* replay - the answers of an earlier run, as the specs of a new one name them
 *
 * Purpose:   replay:RUN serves stored answers by problem, sample, stage and call. The coordinator has the
 *            store, so it puts the answers' hashes into each task's spec.
 * Ownership: replay_open gives an owned object; replay_fill gives the spec owned rows.
 * Threads:   inside store jobs.
 * Errors:    ERR_USAGE: the run has several entrants and none of that name, lacks the problem or the sample,
 *            or judged the problem by another contract.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_REPLAY_H
#define CE_COORDINATOR_REPLAY_H

#include "store/store.h"
#include "wire/spec.h"

typedef struct replay replay;

/* replay_open: `text` is a run id, a unique prefix or "latest". Of a run of several entrants the one that is
 * named like `entrant` is replayed. */
replay *replay_open(store_tx *tx, const char *text, const char *entrant, err *e);
void replay_close(replay **self);
/* replay_fill sets spec->replay to the answers for spec's problem and sample. */
int replay_fill(store_tx *tx, const replay *self, task_spec *spec, err *e);
/* replay_clear frees what replay_fill gave. */
void replay_clear(task_spec *spec);

#endif
