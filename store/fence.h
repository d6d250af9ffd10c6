/* fence - who may still write about a task (inside store/ only)
 *
 * Purpose:   every writer about a leased task shows its fencing token; an older one is refused and
 *            remembered as a `late` event.
 * Ownership: plain values.
 * Threads:   inside a job (store.h).
 * Errors:    ERR_NOT_FOUND; ERR_CONFLICT.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_FENCE_H
#define CE_STORE_FENCE_H

#include "store/db.h"
#include "store/task.h"

typedef struct fence {
    task_state state;
    int64_t token;
    char run[DB_NAME], node[DB_NAME];
} fence;

/* fence_read reads the task's state without judging. */
int fence_read(store_tx *tx, const char *task, fence *out, err *e);
/* fence_check: the task is leased under exactly this token; `what` names the refused thing. */
int fence_check(store_tx *tx, const char *task, int64_t token, const char *what, int64_t now_ms,
                fence *out, err *e);
/* fence_end closes the lease row. */
int fence_end(store_tx *tx, const char *task, int64_t token, const char *ending, int64_t now_ms,
              err *e);
/* fence_refuse remembers a `late` event and fails with ERR_CONFLICT "task T: <detail>". */
int fence_refuse(store_tx *tx, const char *task, int64_t now_ms, err *e, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
