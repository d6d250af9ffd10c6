/* feed - polling, a ring, cursors
 *
 * Polling instead of being told: a page then shows any database that somebody writes to, and no writer
 * has to know that it is watched. A poll without news is one lookup in an index.
 *
 * SPDX-License-Identifier: MIT */
#include "dashboards/feed.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/live.h"

const char *const feed_topics[FEED_TOPICS] = {"now", "nodes", "providers"};

typedef struct entry {
    int64_t id;
    char *text; /* one server-sent event, owned */
} entry;

typedef struct topic {
    char *text; /* JSON on one line, owned */
    uint64_t version;
} topic;

struct feed {
    store *db; /* borrowed */
    feed_tick_fn *tick;
    void *arg;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool running, stopping;
    entry *ring;  /* FEED_RING */
    size_t first; /* index of the oldest */
    size_t count;
    int64_t newest;  /* id up to which the database was read */
    int64_t dropped; /* id of the newest event that is no longer in the ring */
    topic topics[FEED_TOPICS];
    bool news; /* a topic has changed since readers were told */
    err error;
};

/* ---- rendering ---- */

static void set_optional(json *object, const char *key, const char *value)
{
    if (value != NULL)
        json_set_str(object, key, value);
}

static char *render(const live_event *row)
{
    SCOPED(json_destroy) json *object = json_new_object();
    json_set_int(object, "id", row->id);
    json_set_int(object, "at_ms", row->at_ms);
    json_set_str(object, "kind", row->kind);
    set_optional(object, "run", row->run);
    set_optional(object, "task", row->task);
    set_optional(object, "node", row->node);
    set_optional(object, "detail", row->detail);
    set_optional(object, "problem", row->problem);
    set_optional(object, "entrant", row->entrant);
    if (row->sample >= 0)
        json_set_int(object, "sample", row->sample);
    set_optional(object, "state", row->state);
    set_optional(object, "outcome", row->outcome);
    set_optional(object, "outcome_detail", row->outcome_detail);
    set_optional(object, "verdict", row->verdict);
    json_set_real(object, "speedup", row->speedup);
    SCOPED(scoped_free) char *data = json_dump(object);
    return xasprintf("id: %" PRId64 "\nevent: change\ndata: %s\n\n", row->id, data);
}

/* ---- the ring ---- */

static entry *at_index(const feed *self, size_t i)
{
    return &self->ring[(self->first + i) % FEED_RING];
}

static void append(feed *self, int64_t id, char *text)
{
    if (self->count == FEED_RING) {
        self->dropped = at_index(self, 0)->id;
        free(at_index(self, 0)->text);
        self->first = (self->first + 1) % FEED_RING;
        self->count--;
    }
    *at_index(self, self->count++) = (entry){id, text};
    self->newest = id;
}

/* How many entries of the ring are after `id`; they are the last ones. */
static size_t after(const feed *self, int64_t id)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (at_index(self, middle)->id > id)
            high = middle;
        else
            low = middle + 1;
    }
    return self->count - low;
}

/* ---- reading the database ---- */

typedef struct batch {
    int64_t after;
    live_event_list events;
} batch;

static int read_batch(store_tx *tx, void *arg, err *e)
{
    batch *b = arg;
    return live_events(tx, b->after, &b->events, e);
}

static int read_newest(store_tx *tx, void *arg, err *e)
{
    return live_newest(tx, arg, e);
}

/* One batch into the ring; the number of rows, or -1. */
static int64_t take_batch(feed *self, err *e)
{
    batch b = {.after = self->newest}; /* written by this thread only */
    if (store_run(self->db, read_batch, &b, e) < 0)
        return -1;
    char **texts = xcalloc(b.events.count + 1, sizeof *texts);
    for (size_t i = 0; i < b.events.count; i++)
        texts[i] = render(&b.events.rows[i]);
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < b.events.count; i++)
        append(self, b.events.rows[i].id, texts[i]);
    pthread_mutex_unlock(&self->lock);
    int64_t count = (int64_t)b.events.count;
    free(texts);
    live_event_list_fini(&b.events);
    return count;
}

static bool is_stopping(feed *self)
{
    pthread_mutex_lock(&self->lock);
    bool stopping = self->stopping;
    pthread_mutex_unlock(&self->lock);
    return stopping;
}

static int catch_up(feed *self, bool *news, err *e)
{
    int64_t got;
    do {
        got = take_batch(self, e);
        *news = *news || got > 0;
    } while (got == LIVE_BATCH && !is_stopping(self));
    return got < 0 ? -1 : 0;
}

static void wait_a_while(feed *self)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += FEED_POLL_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&self->lock);
    while (!self->stopping &&
           pthread_cond_timedwait(&self->wake, &self->lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&self->lock);
}

static void *follow(void *arg)
{
    feed *self = arg;
    while (!is_stopping(self)) {
        err e = {0};
        bool news = false;
        catch_up(self, &news, &e);
        pthread_mutex_lock(&self->lock);
        self->error = e;
        news = news || self->news;
        self->news = false;
        pthread_mutex_unlock(&self->lock);
        self->tick(self->arg, news);
        wait_a_while(self);
    }
    return NULL;
}

/* ---- create, destroy ---- */

static int start(feed *self, err *e)
{
    int64_t newest = 0;
    bool news = false;
    if (store_run(self->db, read_newest, &newest, e) < 0)
        return -1;
    self->newest = newest > FEED_RING ? newest - FEED_RING : 0;
    self->dropped = self->newest;
    if (catch_up(self, &news, e) < 0)
        return -1;
    int rc = pthread_create(&self->thread, NULL, follow, self);
    self->running = rc == 0;
    return rc == 0 ? 0 : err_errno(e, rc, "start the feed's thread");
}

feed *feed_create(store *db, feed_tick_fn *tick, void *arg, err *e)
{
    SCOPED(feed_destroy) feed *self = xcalloc(1, sizeof *self);
    self->db = db;
    self->tick = tick;
    self->arg = arg;
    self->ring = xcalloc(FEED_RING, sizeof *self->ring);
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (size_t i = 0; i < FEED_TOPICS; i++)
        self->topics[i] = (topic){.text = xstrdup("null")};
    return start(self, e) < 0 ? NULL : TAKE(self);
}

void feed_destroy(feed **self)
{
    feed *f = *self;
    if (f == NULL)
        return;
    pthread_mutex_lock(&f->lock);
    f->stopping = true;
    pthread_cond_signal(&f->wake);
    pthread_mutex_unlock(&f->lock);
    if (f->running)
        pthread_join(f->thread, NULL);
    for (size_t i = 0; i < f->count; i++)
        free(at_index(f, i)->text);
    for (size_t i = 0; i < FEED_TOPICS; i++)
        free(f->topics[i].text);
    free(f->ring);
    pthread_cond_destroy(&f->wake);
    pthread_mutex_destroy(&f->lock);
    free(f);
    *self = NULL;
}

/* ---- topics ---- */

void feed_set(feed *self, feed_topic which, const char *text)
{
    pthread_mutex_lock(&self->lock);
    topic *t = &self->topics[which];
    if (strcmp(t->text, text) != 0) {
        free(t->text);
        t->text = xstrdup(text);
        t->version++;
        self->news = true;
    }
    pthread_mutex_unlock(&self->lock);
}

char *feed_get(feed *self, feed_topic which)
{
    pthread_mutex_lock(&self->lock);
    char *text = xstrdup(self->topics[which].text);
    pthread_mutex_unlock(&self->lock);
    return text;
}

/* ---- readers ---- */

feed_cursor feed_begin(feed *self, int64_t last_id)
{
    pthread_mutex_lock(&self->lock);
    feed_cursor at = {.id = last_id < 0 ? self->newest : last_id};
    pthread_mutex_unlock(&self->lock);
    return at;
}

static void write_topics(feed *self, feed_cursor *at, buf *out)
{
    for (size_t i = 0; i < FEED_TOPICS; i++) {
        const topic *t = &self->topics[i];
        if (at->seen[i] == t->version)
            continue;
        at->seen[i] = t->version;
        buf_printf(out, "event: %s\ndata: %s\n\n", feed_topics[i], t->text);
    }
}

static void write_events(feed *self, feed_cursor *at, buf *out)
{
    size_t missed = after(self, at->id);
    bool gone =
        at->id < self->dropped || at->id > self->newest; /* too long ago; another database */
    if (!gone && missed == 0)
        return;
    if (gone || missed > FEED_BEHIND)
        buf_printf(out, "id: %" PRId64 "\nevent: many\ndata: {\"missed\": %zu}\n\n", self->newest,
                   missed);
    else
        for (size_t i = self->count - missed; i < self->count; i++)
            buf_puts(out, at_index(self, i)->text);
    at->id = self->newest;
}

bool feed_read(feed *self, feed_cursor *at, buf *out)
{
    size_t before = out->size;
    pthread_mutex_lock(&self->lock);
    write_events(self, at, out);
    write_topics(self, at, out);
    pthread_mutex_unlock(&self->lock);
    return out->size > before;
}

void feed_error(feed *self, err *out)
{
    pthread_mutex_lock(&self->lock);
    *out = self->error;
    pthread_mutex_unlock(&self->lock);
}
