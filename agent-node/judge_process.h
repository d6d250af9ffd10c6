/* judge_process - the Python child: one JSON line out, one JSON line back
 *
 * Purpose:   start judge.py, ask with a deadline, tell a dead child from a slow one.
 * Ownership: judge_process_destroy kills and reaps.
 * Threads:   one owner.
 * Errors:    after ERR_TIMEOUT, ERR_UNAVAILABLE (died) or a reply that says so, the process is gone:
 *            judge_process_alive is false and only destroy is left. The end of the child's stderr is
 *            part of the message.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_JUDGE_PROCESS_H
#define CE_AGENT_NODE_JUDGE_PROCESS_H

#include <sys/types.h>

#include "common/json.h"

typedef struct judge_process judge_process;

/* All borrowed for the call. */
typedef struct judge_process_options {
    const char *python, *script, *device, *timing_lib, *cache_dir;
} judge_process_options;

judge_process *judge_process_start(const judge_process_options *options, err *e);
void judge_process_destroy(judge_process **self);
bool judge_process_alive(const judge_process *self); /* false for NULL */
pid_t judge_process_pid(const judge_process *self);

/* judge_process_ask sends the request (consumed; "id" is added) and gives the reply, whose "ok" is
 * true. A reply that is not ok becomes the err. */
json_doc *judge_process_ask(judge_process *self, json **request, int64_t deadline_ms, err *e);

#endif
