/* hall - a serving coordinator in a thread, with a store of its own
 *
 * Purpose:   what service, follow and their like are tested against; a node is a scripted client.
 * Ownership: hall_create / hall_destroy; destroy stops the service and deletes the folder.
 * Threads:   the service's loop is a thread of the hall; everything else is the test's.
 * Errors:    a failed step aborts the test program with its place.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_UNIT_COORDINATOR_HALL_H
#define CE_TESTS_UNIT_COORDINATOR_HALL_H

#include <pthread.h>

#include "coordinator/remote.h"
#include "coordinator/service.h"
#include "world.h"

typedef struct hall {
    char folder[64];
    char *db, *out, *endpoint;
    store *store;
    service *service;
    pthread_t thread;
    pthread_t worker; /* a node that does everything right */
    bool working;
    bool begun;
    int rc; /* of service_run */
} hall;

hall *hall_create(void);
void hall_destroy(hall **self);
/* hall_stop ends the service (as a signal would) and waits; hall_start begins a new one on the same store. */
void hall_stop(hall *self);
void hall_start(hall *self);
/* hall_work: a node joins and serves until the coordinator says bye. */
void hall_work(hall *self);
/* hall_settings: gold at one problem. */
void hall_settings(settings *out);
/* hall_submit submits that; the result is the run's id, caller frees. */
char *hall_submit(remote *to);
/* hall_state asks for a run's state: false when it is not over. */
bool hall_over(remote *to, const char *id, message *reply);

#endif
