/* feed - what happens in a database, as a stream that many can read
 *
 * Purpose:   a thread looks for new rows of table event a few times a second and keeps the newest ones,
 *            rendered as server-sent events. An event's id is its row's id: a reader that comes back,
 *            also to a server that was started anew, goes on after the id it saw last. Beside events
 *            there are topics: facts of this moment, of which only the newest text matters. A reader
 *            that fell behind is told how much it missed instead of being buffered for.
 * Ownership: feed_create gives an owned object; it borrows the store until feed_destroy.
 * Threads:   feed_set and feed_read from any thread. `tick` is called on the feed's own thread, and
 *            delays the next look as long as it takes.
 * Errors:    feed_create: what the first reading says. Later a database that cannot be read leaves the
 *            stream as it was; feed_error says why.
 *
 * The form of the stream is that of the HTML standard, section "Server-sent events".
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_DASHBOARDS_FEED_H
#define CE_DASHBOARDS_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "store/store.h"

enum {
    FEED_RING = 16384,  /* events kept for readers that come back */
    FEED_POLL_MS = 250, /* so a reader hears at most four times a second */
    FEED_BEHIND = 256   /* a reader further behind than this hears `many`, not each event */
};

/* Facts of this moment; each is one JSON text. */
typedef enum feed_topic {
    FEED_NOW,       /* the run: counts, spend, what is being worked on */
    FEED_NODES,     /* who is connected, and with what room */
    FEED_PROVIDERS, /* who may be asked, who is waited for */
    FEED_TOPICS
} feed_topic;
extern const char *const feed_topics[FEED_TOPICS]; /* "now", "nodes", "providers" */

typedef struct feed feed;
/* Called after every look at the database; news: there is something for readers. */
typedef void feed_tick_fn(void *arg, bool news);

feed *feed_create(store *db, feed_tick_fn *tick, void *arg, err *e);
void feed_destroy(feed **self);
/* feed_set replaces a topic's text; the same text again is no news. */
void feed_set(feed *self, feed_topic which, const char *text);
/* feed_get is a topic's newest text, "null" before the first; caller frees. */
char *feed_get(feed *self, feed_topic which);

/* Where a reader is. Begin with feed_begin. */
typedef struct feed_cursor {
    int64_t id;
    uint64_t seen[FEED_TOPICS];
} feed_cursor;
/* feed_begin: last_id is what the reader saw last, -1: nothing, it starts with what comes next. */
feed_cursor feed_begin(feed *self, int64_t last_id);
/* feed_read appends what is new for the reader and moves it on; false: nothing was. */
bool feed_read(feed *self, feed_cursor *at, buf *out);
/* feed_error is why the newest reading failed; code ERR_NONE: it did not. */
void feed_error(feed *self, err *out);

#endif
