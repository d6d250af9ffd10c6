/* world - a store with a run in it, a coordinator, and nodes that are threads of the test
 *
 * Purpose:   the coordinator's own code and real sockets; the node's side is a script, straight-line
 *            code that sends and expects messages.
 * Ownership: world_create / world_destroy; destroy deletes the folder. client_* as usual.
 * Threads:   a client belongs to the thread that made it; the world to the test.
 * Errors:    a failed step aborts the test program with its place (asserts of a thread cannot jump).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_UNIT_COORDINATOR_WORLD_H
#define CE_TESTS_UNIT_COORDINATOR_WORLD_H

#include "coordinator/coord.h"
#include "coordinator/run.h"
#include "store/store.h"
#include "wire/message.h"

#define MUST(condition) must((condition), #condition, __FILE__, __LINE__)
void must(bool condition, const char *text, const char *file, int line);

typedef struct world {
    char folder[64];
    char db[96];
    store *store;
    run *run;
    coord *coord;
} world;

typedef struct world_options {
    const char *only;     /* problems of suite internal, comma separated */
    const char *entrants; /* model ids, comma separated; NULL: gold */
    int64_t samples;      /* 0: 1 */
    int64_t lost_ms;      /* 0: 15000 */
    bool secure;          /* nodes join with keys too: coord->joined, world_key */
    bool validate;        /* a validation: gold and the mutants; entrants must be two */
} world_options;

world *world_create(const world_options *options);
void world_destroy(world **self);
/* world_request fills settings by the options; for tests of run_create. */
void world_settings(const world_options *options, settings *out);
/* world_count is SELECT count(*) FROM `from`, read from the file. */
int64_t world_count(const world *self, const char *from);

/* A node's side of the connection. */
typedef struct client client;
client *client_create(const char *endpoint);
client *client_create_with_key(const char *endpoint, const curve_file *key);
/* world_key makes a key of that name (world_options.secure). */
curve_file world_key(const world *self, const char *name);
/* client_hello only sends: client_join also waits for the welcome. */
void client_hello(client *self, const char *name, int64_t slots);
void client_destroy(client **self);
/* client_send numbers and sends m (finishing it); the result is the number. */
uint64_t client_send(client *self, message *m);
/* client_expect waits for a message of this type; others are kept for later. */
void client_expect(client *self, message_type type, message *out);
/* client_next waits for any message; false when none came within timeout_ms. */
bool client_next(client *self, int64_t timeout_ms, message *out);

/* The usual steps. */
void client_join(client *self, const char *name, int64_t slots);
void client_beat(client *self, const char *name);
void client_pull(client *self, int64_t credit);
/* These wait for the ack; the result is its code. */
int64_t client_call(client *self, const message *given, const char *stage, int64_t index);
int64_t client_stage(client *self, const message *given, const char *stage);
int64_t client_result(client *self, const message *given, const char *outcome, const char *text);
int64_t client_give_back(client *self, const message *given, err_code code, const char *text);
int64_t client_ack(client *self, uint64_t ref);
/* world_play runs the coordinator on this thread and one scripted node on another, until the run ends and
 * the script has returned. world_serve is the script of a node that does everything right. */
typedef void world_script_fn(client *box, world *w);
coord_end world_play(world *self, world_script_fn *script);
void world_serve(client *box, world *w);
/* client_serve takes tasks and finishes each as ok, until the coordinator says bye. */
void client_serve(client *self);

#endif
