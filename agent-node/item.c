/* item - a message on its way to the coordinator, and the list of those that are not known to be committed
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/item.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/xalloc.h"

/* ---- one item ---- */

item *item_create(message *m, bool wants_answer)
{
    item *self = xcalloc(1, sizeof(*self));
    self->m = *m;
    memset(m, 0, sizeof(*m));
    self->wants_answer = wants_answer;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    return self;
}

void item_free(item *self)
{
    message_fini(&self->m);
    message_fini(&self->answer);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Ends an item: wakes its caller, or frees it when nobody waits. answer may be NULL. */
void item_finish(item *self, message *answer, const err *failure)
{
    pthread_mutex_lock(&self->lock);
    self->done = true;
    if (answer != NULL) {
        self->answer = *answer;
        memset(answer, 0, sizeof(*answer));
    }
    if (failure != NULL) {
        self->failure = *failure;
    }
    bool nobody = self->abandoned || !self->wants_answer;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    if (nobody) {
        item_free(self);
    }
}

err item_gone(void)
{
    err why;
    err_set(&why, ERR_UNAVAILABLE, "the node is leaving its coordinator");
    return why;
}

void item_drop(void *pointer)
{
    err why = item_gone();
    item_finish(pointer, NULL, &why);
}

int item_wait(item *self, message *answer, err *e)
{
    pthread_mutex_lock(&self->lock);
    while (!self->done) {
        pthread_cond_wait(&self->changed, &self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    int rc = 0;
    if (self->failure.code != ERR_NONE) {
        if (e != NULL) {
            *e = self->failure;
        }
        rc = -1;
    } else {
        *answer = self->answer;
        memset(&self->answer, 0, sizeof(self->answer));
    }
    item_free(self);
    return rc;
}

void item_abandon(item *self)
{
    pthread_mutex_lock(&self->lock);
    bool done = self->done;
    self->abandoned = true;
    pthread_mutex_unlock(&self->lock);
    if (done) {
        item_free(self);
    }
}

/* ---- what was sent ---- */

void sent_add(sent_list *self, item *last)
{
    last->next = NULL;
    *self->end = last;
    self->end = &last->next;
}

int64_t sent_oldest_ms(const sent_list *self)
{
    int64_t oldest = INT64_MAX;
    for (const item *at = self->first; at != NULL; at = at->next) {
        if (at->wants_answer && at->sent_ms < oldest) {
            oldest = at->sent_ms;
        }
    }
    return oldest;
}

static item *sent_take(sent_list *self, item **link)
{
    item *found = *link;
    *link = found->next;
    if (self->end == &found->next) {
        self->end = link;
    }
    return found;
}

void sent_fail(sent_list *self, const err *why)
{
    while (self->first != NULL) {
        item_finish(sent_take(self, &self->first), NULL, why);
    }
}

bool item_is_blob(const item *self)
{
    return self->m.type == MSG_BLOB_PUT;
}

static bool ends_blob(const item *self)
{
    const struct msg_blob_put *b = &self->m.body.blob_put;
    return b->offset + (int64_t)b->data.size == b->total;
}

/* Whether the last chunk of this chunk's blob went out before `seq`. */
static bool blob_whole(const sent_list *self, const item *chunk, uint64_t seq)
{
    for (const item *at = self->first; at != NULL && at->m.seq < seq; at = at->next) {
        if (item_is_blob(at) && ends_blob(at) &&
            hash_equal(&at->m.body.blob_put.blob, &chunk->m.body.blob_put.blob)) {
            return true;
        }
    }
    return false;
}

/* A record was acknowledged: blobs that went out before it are committed. Chunks of a blob go together. */
void sent_forget_blobs(sent_list *self, uint64_t seq)
{
    for (item **link = &self->first; *link != NULL && (*link)->m.seq < seq;) {
        item *at = *link;
        if (item_is_blob(at) && !ends_blob(at) && blob_whole(self, at, seq)) {
            item_free(sent_take(self, link));
        } else {
            link = &at->next;
        }
    }
    for (item **link = &self->first; *link != NULL && (*link)->m.seq < seq;) {
        if (item_is_blob(*link) && ends_blob(*link)) {
            item_free(sent_take(self, link));
        } else {
            link = &(*link)->next;
        }
    }
}

item *sent_answered(sent_list *self, int64_t ref)
{
    for (item **link = &self->first; *link != NULL; link = &(*link)->next) {
        if ((int64_t)(*link)->m.seq == ref && (*link)->wants_answer) {
            return sent_take(self, link);
        }
    }
    return NULL;
}
