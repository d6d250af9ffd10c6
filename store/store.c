/* store - the one database: a thread, a queue, group commit
 *
 * The store thread takes a first job, begins a transaction, runs it and whatever else waits (up to
 * STORE_BATCH_MAX), each in a savepoint, commits, and only then answers the jobs in order. Where jobs come
 * in crowds it waits for the rest of the crowd before it commits, no longer than half of what the last
 * commit took: a disk that is slow gets fewer and larger commits. A failing
 * job rolls back to its savepoint. When SQLite gives up the whole transaction (disk full, I/O error),
 * every job of it so far is answered with that failure and the rest start a new one. So an answer 0
 * always means: on the disk.
 *
 * SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/queue.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/db.h"
#include "store/migrate.h"
#include "store/owner.h"

enum {
    CROWD = 16,          /* from so many jobs in one transaction on, more are waited for */
    WAIT_MAX_US = 20000, /* but no longer than this */
    LOG_PAGES = 16384    /* of the write-ahead log, before it goes into the file */
};

struct store {
    char *path;
    store_mode mode;
    int lock;          /* PATH.lock; -1 for readers */
    store_tx tx;       /* connection and statements; the store thread's while it runs */
    size_t crowd;      /* jobs of the last transaction */
    int64_t commit_us; /* how long its commit took */
    queue *jobs;       /* of job *; NULL for readers */
    pthread_t thread;
    bool started;
    pthread_mutex_t reading; /* readers: one job at a time */
};

typedef struct job {
    store_fn *fn;
    void *arg;
    store_done_fn *done;
    int result;
    err error;
} job;

/* ---- one job, one batch ---- */

static void keep_late(store_tx *tx)
{
    for (size_t i = 0; i < tx->late_count; i++) {
        const db_late *late = &tx->late[i];
        event_row row = {.at_ms = late->at_ms,
                         .run = late->run,
                         .task = late->task,
                         .kind = "late",
                         .detail = late->detail};
        event_add(tx, &row, NULL);
    }
    tx->late_count = 0;
}

static int undo_job(store_tx *tx)
{
    if (sqlite3_get_autocommit(tx->db))
        return -1; /* SQLite has rolled the whole transaction back */
    if (db_exec(tx, "ROLLBACK TO job; RELEASE job", NULL) == 0)
        keep_late(tx);
    else
        db_exec(tx, "ROLLBACK", NULL);
    return sqlite3_get_autocommit(tx->db) ? -1 : 0;
}

/* run_job: 0, or -1 when the whole transaction is gone. */
static int run_job(store_tx *tx, job *j)
{
    tx->late_count = 0;
    j->error = (err){0};
    j->result = db_run(tx, "SAVEPOINT job", &j->error);
    if (j->result == 0)
        j->result = j->fn(tx, j->arg, &j->error);
    if (j->result == 0)
        j->result = db_run(tx, "RELEASE job", &j->error);
    return j->result == 0 ? 0 : undo_job(tx);
}

/* A transaction that failed takes the jobs with it that had succeeded inside. */
static void fail_jobs(job **jobs, size_t n, const err *why)
{
    for (size_t i = 0; i < n; i++) {
        if (jobs[i]->result != 0)
            continue;
        jobs[i]->result = -1;
        jobs[i]->error = *why;
        err_wrap(&jobs[i]->error, "undone with its transaction");
    }
}

static int begin(store_tx *tx, job *j)
{
    if (db_run(tx, "BEGIN IMMEDIATE", &j->error) == 0)
        return 0;
    j->result = -1;
    return -1;
}

static void commit(store *self, job **jobs, size_t n)
{
    store_tx *tx = &self->tx;
    err why = {0};
    int64_t from = clock_mono_us();
    int result = db_run(tx, "COMMIT", &why);
    self->commit_us = clock_mono_us() - from;
    self->crowd = n;
    if (result == 0)
        return;
    if (!sqlite3_get_autocommit(tx->db))
        db_exec(tx, "ROLLBACK", NULL);
    fail_jobs(jobs, n, &why);
}

static void answer(job **jobs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (jobs[i]->done != NULL)
            jobs[i]->done(jobs[i]->arg, jobs[i]->result, &jobs[i]->error);
        free(jobs[i]);
    }
}

/* The next job of this transaction; NULL: it is time to commit. */
static job *next_job(store *self, size_t n, int64_t since_us)
{
    if (n == STORE_BATCH_MAX)
        return NULL;
    job *next = queue_pop(self->jobs, 0);
    if (next != NULL || self->crowd < CROWD || n >= self->crowd)
        return next;
    int64_t left_us = self->commit_us / 2 - (clock_mono_us() - since_us);
    left_us = left_us < WAIT_MAX_US ? left_us : WAIT_MAX_US;
    return left_us < 1000 ? NULL : queue_pop(self->jobs, left_us / 1000);
}

/* One transaction: fills jobs from the queue; gives how many it dealt with (at least the first). */
static size_t serve(store *self, job **jobs, job *first)
{
    size_t n = 1;
    int64_t since_us = clock_mono_us();
    jobs[0] = first;
    if (begin(&self->tx, first) < 0)
        return n;
    while (run_job(&self->tx, jobs[n - 1]) == 0) {
        job *next = next_job(self, n, since_us);
        if (next == NULL) {
            commit(self, jobs, n);
            return n;
        }
        jobs[n++] = next;
    }
    fail_jobs(jobs, n, &jobs[n - 1]->error);
    return n;
}

static void *thread_main(void *arg)
{
    store *self = arg;
    job *jobs[STORE_BATCH_MAX];
    job *first;
    while ((first = queue_pop(self->jobs, -1)) != NULL)
        answer(jobs, serve(self, jobs, first));
    return NULL;
}

/* ---- submitting ---- */

static job *job_new(store_fn *fn, void *arg, store_done_fn *done)
{
    job *j = xcalloc(1, sizeof *j);
    j->fn = fn;
    j->arg = arg;
    j->done = done;
    return j;
}

int store_submit(store *self, store_fn *fn, void *arg, store_done_fn *done, err *e)
{
    if (self->mode == STORE_READ)
        return err_set(e, ERR_CONFLICT, "%s is open for reading only", self->path);
    SCOPED(scoped_free) job *j = job_new(fn, arg, done);
    if (queue_push(self->jobs, j, e) < 0)
        return err_wrap(e, "store");
    (void)TAKE(j);
    return 0;
}

/* A caller of store_run waits on this; the job's own arg travels inside. */
typedef struct waiter {
    store_fn *fn;
    void *arg;
    err *error;
    int result;
    bool answered;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} waiter;

static int waiter_fn(store_tx *tx, void *arg, err *e)
{
    waiter *w = arg;
    return w->fn(tx, w->arg, e);
}

static void waiter_done(void *arg, int result, const err *e)
{
    waiter *w = arg;
    pthread_mutex_lock(&w->lock);
    w->result = result;
    if (result != 0 && w->error != NULL)
        *w->error = *e;
    w->answered = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void wait_for(waiter *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->answered)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static int run_queued(store *self, store_fn *fn, void *arg, err *e)
{
    waiter w = {.fn = fn,
                .arg = arg,
                .error = e,
                .lock = PTHREAD_MUTEX_INITIALIZER,
                .changed = PTHREAD_COND_INITIALIZER};
    job *j = job_new(waiter_fn, &w, waiter_done);
    if (queue_push_wait(self->jobs, j, -1, e) < 0) {
        free(j);
        return err_wrap(e, "store");
    }
    wait_for(&w);
    pthread_cond_destroy(&w.changed);
    pthread_mutex_destroy(&w.lock);
    return w.result;
}

static int run_reading(store *self, store_fn *fn, void *arg, err *e)
{
    pthread_mutex_lock(&self->reading);
    int rc = db_exec(&self->tx, "BEGIN", e);
    if (rc == 0) {
        rc = fn(&self->tx, arg, e);
        db_exec(&self->tx, "ROLLBACK", NULL);
    }
    pthread_mutex_unlock(&self->reading);
    return rc;
}

int store_run(store *self, store_fn *fn, void *arg, err *e)
{
    return self->mode == STORE_READ ? run_reading(self, fn, arg, e) : run_queued(self, fn, arg, e);
}

void store_interrupt(store *self)
{
    if (self->mode == STORE_READ)
        sqlite3_interrupt(self->tx.db); /* may be called while another thread is in it */
}

/* ---- opening ---- */

static int make_folder(const char *path, err *e)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path)
        return 0;
    SCOPED(scoped_free) char *folder = xstrndup(path, (size_t)(slash - path));
    return file_mkdirs(folder, e);
}

static int connect(store *self, const char *name, int flags, err *e)
{
    int rc = sqlite3_open_v2(name, &self->tx.db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return db_err_of(self->tx.db, e, self->path);
    sqlite3_extended_result_codes(self->tx.db, 1);
    sqlite3_busy_timeout(self->tx.db, STORE_BUSY_MS);
    if (db_exec(&self->tx, "PRAGMA cache_size = -16384", e) <
        0) /* KiB; the first to read the file */
        return err_wrap(e, "%s", self->path);
    return 0;
}

static int set_up_owner(store *self, err *e)
{
    if (db_exec(&self->tx,
                "PRAGMA trusted_schema = OFF; PRAGMA journal_mode = WAL; "
                "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON",
                e) < 0 ||
        sqlite3_wal_autocheckpoint(self->tx.db, LOG_PAGES) != SQLITE_OK)
        return err_wrap(e, "%s", self->path);
    return migrate_run(self->tx.db, self->path, e);
}

static int open_owner(store *self, err *e)
{
    if (make_folder(self->path, e) < 0)
        return -1;
    if ((self->lock = owner_take(self->path, e)) < 0)
        return -1;
    if (connect(self, self->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e) < 0)
        return -1;
    if (sqlite3_db_readonly(self->tx.db, "main") == 1)
        return err_set(e, ERR_DENIED, "%s is read-only: results cannot be stored in it",
                       self->path);
    if (set_up_owner(self, e) < 0)
        return -1;
    self->jobs = queue_create(STORE_QUEUE_MAX, NULL);
    if (pthread_create(&self->thread, NULL, thread_main, self) != 0)
        return err_set(e, ERR_SYSTEM, "%s: cannot start the store thread", self->path);
    self->started = true;
    return 0;
}

/* A WAL database in a folder that we may not write, left by nobody, can only be read as immutable. */
static char *reading_name(const char *path, bool *immutable)
{
    SCOPED(scoped_free) char *wal = xasprintf("%s-wal", path);
    const char *slash = strrchr(path, '/');
    SCOPED(scoped_free)
    char *folder = slash == NULL ? xstrdup(".") : xstrndup(path, (size_t)(slash - path) + 1);
    *immutable = access(folder, W_OK) < 0 && !file_exists(wal) &&
                 strpbrk(path, "?#%") == NULL; /* would need escaping in a URI */
    return *immutable ? xasprintf("file:%s?immutable=1", path) : xstrdup(path);
}

static int open_reader(store *self, err *e)
{
    struct stat facts;
    if (stat(self->path, &facts) < 0)
        return err_set(e, ERR_NOT_FOUND,
                       "there is no database %s yet: run ce-coord eval, or name one with --db",
                       self->path);
    bool immutable;
    SCOPED(scoped_free) char *name = reading_name(self->path, &immutable);
    if (connect(self, name, SQLITE_OPEN_READONLY | (immutable ? SQLITE_OPEN_URI : 0), e) < 0)
        return -1;
    return migrate_check(self->tx.db, self->path, e);
}

store *store_open(const char *path, store_mode mode, err *e)
{
    store *self = xcalloc(1, sizeof *self);
    self->path = xstrdup(path);
    self->mode = mode;
    self->lock = -1;
    pthread_mutex_init(&self->reading, NULL);
    if ((mode == STORE_OWN ? open_owner(self, e) : open_reader(self, e)) < 0)
        store_destroy(&self);
    return self;
}

void store_destroy(store **self)
{
    store *s = *self;
    if (s == NULL)
        return;
    if (s->jobs != NULL)
        queue_close(s->jobs);
    if (s->started)
        pthread_join(s->thread, NULL);
    queue_destroy(&s->jobs);
    db_forget(&s->tx);
    sqlite3_close(s->tx.db);
    owner_release(&s->lock);
    pthread_mutex_destroy(&s->reading);
    free(s->path);
    free(s);
    *self = NULL;
}

const char *store_path(const store *self)
{
    return self->path;
}

int64_t store_owned_since(const store *self)
{
    return owner_since(self->path);
}
