/* service - a coordinator that outlives its runs: they are submitted, wait, are worked on, and end
 *
 * Purpose:   one run is at work at a time, the others wait in the order they came. A run that was
 *            submitted is in the store before its sender hears of it; when the coordinator is started
 *            again, what was not over goes on.
 * Ownership: service_create borrows the store; it owns its coordinator and the runs.
 * Threads:   the loop's; files are read and written by a clerk.
 * Errors:    service_run: -1 when nothing can be recorded any more; what was recorded goes on later.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_SERVICE_H
#define CE_COORDINATOR_SERVICE_H

#include "coordinator/coord.h"
#include "coordinator/handout.h"
#include "coordinator/run.h"

enum { SERVICE_WAITING_MAX = 1024, SERVICE_ENDED_MAX = 256 };

struct crier;

typedef struct service_options {
    store *store;
    const char *bind;     /* NULL: this host only */
    const char *endpoint; /* ipc://… for this host; NULL: a private one */
    const char *keys;     /* folder of keys */
    const char *out;      /* reports go to out/RUN */
    const char *suites;   /* NULL: the default place */
    const char *version;  /* of ce */
    int64_t lost_ms;
    struct crier *hook;  /* told when a run ends; NULL: nobody */
    int64_t dead_man_ms; /* the hook hears when no run was complete for so long; 0: it does not */
} service_options;

typedef struct service service;

service *service_create(const service_options *options, err *e);
void service_destroy(service **self);
coord *service_coord(service *self);
/* service_run works until service_stop. Runs that are not over stay resumable. */
int service_run(service *self, err *e);
void service_stop(service *self);

/* ---- what operators ask; ack says who asked, and gets the answer ---- */
void service_submit(service *self, const handout_ack *ack, const struct msg_submit *m);
void service_tell_run(service *self, const handout_ack *ack, const char *id);
void service_read_file(service *self, const handout_ack *ack, const struct msg_file_get *m);
/* service_cancel: ERR_NOT_FOUND when no run that is not over begins like that. */
int service_cancel(service *self, const char *id, err *e);
/* service_view fills the rows of runs that are not over; caller frees them with the message. */
void service_view(const service *self, struct row_run_view **out, size_t *count);

#endif
