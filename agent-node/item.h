/* item - a message on its way to the coordinator, and the list of those that are not known to be committed
 *
 * Purpose:   a task thread waits for an item's end; the loop thread sends it, keeps it until it is answered,
 *            and can send it again to a coordinator that was restarted. Blobs, which nobody answers, are
 *            kept until a record that was sent later is acknowledged.
 * Ownership: who makes an item hands it to the session; item_wait or item_abandon gives up the waiter's part.
 * Threads:   item_create, item_wait, item_abandon: any; item_finish and lists: the loop's.
 * Errors:    item_wait: the coordinator's, ERR_UNAVAILABLE at the end of the session. An outage is waited
 *            out: whoever waits cannot go on without the answer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_ITEM_H
#define CE_AGENT_NODE_ITEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "wire/message.h"

/* A message on its way out. */
typedef struct session_ticket {
    message m;
    bool wants_answer;
    int64_t sent_ms; /* monotonic, the newest time */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;      /* answered, failed or given up */
    bool abandoned; /* the caller timed out: whoever finishes it frees it */
    message answer;
    err failure;                 /* code 0: answered */
    struct session_ticket *next; /* in the list of what was sent */
} item;

/* item_create consumes m. */
item *item_create(message *m, bool wants_answer);
void item_free(item *self);
/* item_finish ends it: wakes its waiter, or frees it when nobody waits. answer (consumed) or failure may be
 * NULL. item_drop is item_finish with item_gone, for queues. */
void item_finish(item *self, message *answer, const err *failure);
void item_drop(void *pointer);
err item_gone(void);
/* item_wait waits for its end and frees it; on success *answer is the coordinator's. */
int item_wait(item *self, message *answer, err *e);
/* item_abandon: nobody waits for it any more. */
void item_abandon(item *self);
bool item_is_blob(const item *self);

/* What was sent, oldest first. */
typedef struct sent_list {
    item *first, **end; /* end is &first of an empty list */
} sent_list;

void sent_add(sent_list *self, item *last);
/* sent_oldest_ms is when the longest unanswered item was sent last; INT64_MAX: there is none. */
int64_t sent_oldest_ms(const sent_list *self);
/* sent_answered takes the item that message number `ref` was, if somebody waits for its answer. */
item *sent_answered(sent_list *self, int64_t ref);
/* sent_forget_blobs: the record with that number was acknowledged, so whole blobs before it are committed. */
void sent_forget_blobs(sent_list *self, uint64_t seq);
/* sent_fail ends all. */
void sent_fail(sent_list *self, const err *why);

#endif
