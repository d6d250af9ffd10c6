/* remote - an operator's side of a coordinator that runs elsewhere
 *
 * Purpose:   one question, one answer, over a connection that comes back by itself.
 * Ownership: remote_open gives an owned object.
 * Threads:   one owner.
 * Errors:    ERR_TIMEOUT when nobody answers in time (asking again is fine); ERR_DENIED when the key is
 *            not wanted there; an ack's own code else.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_REMOTE_H
#define CE_COORDINATOR_REMOTE_H

#include "common/cli.h"
#include "common/err.h"
#include "wire/message.h"

enum { REMOTE_ANSWER_MS = 10000 };

typedef struct remote remote;

/* remote_open: key is the path of an operator's key file; NULL: plain, inside this host. */
remote *remote_open(const char *uri, const char *key, err *e);
void remote_destroy(remote **self);
/* remote_ask sends m (consumed) and waits for what answers it: a message of type `wanted`. */
int remote_ask(remote *self, message *m, message_type wanted, message *reply, err *e);
/* remote_tell is remote_ask for what is only acknowledged. */
int remote_tell(remote *self, message *m, err *e);

/* remote_default is the socket of a coordinator that serves this database; caller frees. */
char *remote_default(const char *db);

/* The rows of --coordinator and --key, the same in every command that has them. */
#define REMOTE_OPTIONS(options)                                                            \
    {.name = "coordinator",                                                                \
     .type = CLI_STR,                                                                      \
     .offset = offsetof(options, coordinator),                                             \
     .value = "URI",                                                                       \
     .help = "a serving coordinator (default: the one of this host with the same --db)"},  \
    {                                                                                      \
        .name = "key", .type = CLI_STR, .offset = offsetof(options, key), .value = "FILE", \
        .help = "an operator's key file, for a coordinator on another host"                \
    }

#endif
