/* desk - a coordinator by hand: the test itself reads and answers every message
 *
 * Purpose:   a ROUTER socket in the test's own thread, so that a test decides what a node hears, and
 *            when. Beats are read over unless they are asked for.
 * Ownership: desk_create gives an owned desk; received messages are the caller's.
 * Threads:   one.
 * Errors:    anything unexpected, and silence of DESK_PATIENCE_MS, fails the test at once.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_SUPPORT_DESK_H
#define CE_TESTS_SUPPORT_DESK_H

#include "wire/message.h"
#include "wire/sock.h"

enum { DESK_PATIENCE_MS = 20000 };

typedef struct desk desk;

desk *desk_create(void);
void desk_destroy(desk **self);
const char *desk_endpoint(const desk *self);
/* desk_folder is a folder of its own, removed at the end. */
const char *desk_folder(const desk *self);

/* desk_any is the next message that is no beat. */
void desk_any(desk *self, message *out);
/* desk_next is the next message that is no beat; it must be of this type. */
void desk_next(desk *self, message_type type, message *out);
/* desk_await reads over everything up to the next message of this type. */
void desk_await(desk *self, message_type type, message *out);
/* desk_say sends m (consumed) to who sent the last message that was read. */
void desk_say(desk *self, message *m);

void desk_welcome(desk *self, const char *instance, bool fresh);
void desk_refuse(desk *self, err_code code, const char *text);
/* desk_ack answers message number `ref`; ERR_NONE is success. */
void desk_ack(desk *self, uint64_t ref, err_code code, const char *text);
/* desk_admit reads hello and welcomes. */
void desk_admit(desk *self, const char *instance);

#endif
