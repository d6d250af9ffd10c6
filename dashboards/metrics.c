/* metrics - totals, rendered
 *
 * SPDX-License-Identifier: MIT */
#include "dashboards/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/live.h"
#include "store/night.h"

/* What is read in one snapshot. */
typedef struct totals {
    live_count_list counts[LIVE_RUNS + 1];
    live_model_list models;
    live_durations durations;
    int64_t last_complete_ms;
    night_success_list nights;
} totals;

struct metrics {
    char *version;
    pthread_mutex_t lock; /* over all below */
    double gauges[METRICS_GAUGES];
    totals now;
    bool read;          /* totals are there */
    double wal_bytes;   /* of the write-ahead log; NaN: not known */
    bool dirty;         /* news came since the last reading */
    int64_t next_ms;    /* monotonic: not before */
    int64_t read_at_ms; /* monotonic */
};

typedef enum family_type { FAMILY_COUNTER, FAMILY_GAUGE, FAMILY_HISTOGRAM } family_type;

typedef struct family {
    const char *name; /* a counter's without _total */
    family_type type;
    const char *help;
} family;

static const family gauges[METRICS_GAUGES] = {
    [METRICS_LEASES_ACTIVE] = {"ce_leases_active", FAMILY_GAUGE, "Tasks that nodes hold."},
    [METRICS_QUEUE_WAITING] = {"ce_queue_tasks", FAMILY_GAUGE, "Tasks that wait for a node."},
    [METRICS_NODES_CONNECTED] = {"ce_nodes_connected", FAMILY_GAUGE, "Nodes that are connected."},
    [METRICS_LOOP_LAG] = {"ce_loop_lag_seconds", FAMILY_GAUGE,
                          "How late the coordinator's loop came to its last tick."},
    [METRICS_BUDGET_REMAINING] = {"ce_budget_remaining_usd", FAMILY_GAUGE,
                                  "What the run may still spend; absent without a budget."},
    [METRICS_EVENT_STREAMS] = {"ce_event_streams", FAMILY_GAUGE,
                               "Pages that follow the event stream."},
};

/* One family of one list of counts. */
typedef struct count_family {
    live_total total;
    family family;
    const char *labels[2]; /* NULL: that name is not shown */
} count_family;

static const count_family count_families[] = {
    {LIVE_RUNS, {"ce_runs", FAMILY_GAUGE, "Runs in the database."}, {"state", NULL}},
    {LIVE_TASKS,
     {"ce_tasks", FAMILY_GAUGE, "Tasks of runs that are not finished."},
     {"suite", "state"}},
    {LIVE_RESULTS,
     {"ce_results", FAMILY_COUNTER, "Finished tasks by what is true of their candidate."},
     {"suite", "outcome"}},
    {LIVE_EVENTS, {"ce_events", FAMILY_COUNTER, "Recorded transitions."}, {"kind", NULL}},
    {LIVE_NODES, {"ce_nodes", FAMILY_GAUGE, "Nodes that have worked here."}, {"state", NULL}},
};

/* ---- the form ---- */

typedef struct page {
    buf *out;
    bool openmetrics;
} page;

static void add_escaped(buf *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\\' || *c == '"')
            buf_printf(out, "\\%c", *c);
        else if (*c == '\n')
            buf_puts(out, "\\n");
        else
            buf_add(out, c, 1);
    }
}

static void head(const page *p, const family *f)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};
    const char *suffix = f->type == FAMILY_COUNTER && !p->openmetrics ? "_total" : "";
    buf_printf(p->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", f->name, suffix, f->help, f->name,
               suffix, types[f->type]);
}

/* A sample: name (a counter's with _total), labels as name-value pairs, NULL-ended. */
static void sample(const page *p, const family *f, const char *const *labels, double value)
{
    buf_printf(p->out, "%s%s", f->name, f->type == FAMILY_COUNTER ? "_total" : "");
    const char *before = "{";
    for (size_t i = 0; labels != NULL && labels[i] != NULL; i += 2) {
        if (labels[i + 1] == NULL)
            continue;
        buf_printf(p->out, "%s%s=\"", before, labels[i]);
        add_escaped(p->out, labels[i + 1]);
        buf_puts(p->out, "\"");
        before = ",";
    }
    buf_printf(p->out, "%s %.15g\n", *before == ',' ? "}" : "", value);
}

static void single(const page *p, const family *f, double value)
{
    if (isnan(value))
        return;
    head(p, f);
    sample(p, f, NULL, value);
}

/* ---- the families ---- */

static void write_counts(const page *p, const count_family *c, const live_count_list *list)
{
    if (list->count == 0)
        return;
    head(p, &c->family);
    for (size_t i = 0; i < list->count; i++) {
        const live_count *row = &list->rows[i];
        const char *labels[] = {c->labels[0], row->name, c->labels[1] != NULL ? c->labels[1] : NULL,
                                c->labels[1] != NULL ? row->other : NULL, NULL};
        sample(p, &c->family, labels, (double)row->count);
    }
}

/* Alerts ask for these: they must be there, as 0, before the first one happens. */
static void write_events_by_name(const page *p, const live_count_list *events)
{
    static const struct {
        const char *kind;
        family family;
    } named[] = {
        {"lost", {"ce_lease_expirations", FAMILY_COUNTER, "Leases that ended with their node."}},
        {"late",
         {"ce_fenced_results", FAMILY_COUNTER, "Words of holders whose lease had ended, refused."}},
        {"failed", {"ce_tasks_given_up", FAMILY_COUNTER, "Tasks that no node could finish."}},
    };
    for (size_t n = 0; n < sizeof named / sizeof named[0]; n++) {
        double count = 0;
        for (size_t i = 0; i < events->count; i++)
            if (strcmp(events->rows[i].name, named[n].kind) == 0)
                count = (double)events->rows[i].count;
        single(p, &named[n].family, count);
    }
}

typedef struct model_family {
    family family;
    double (*value)(const live_model *row);
    const char *kind; /* of tokens, or NULL */
} model_family;

static double model_calls(const live_model *row)
{
    return (double)row->calls;
}
static double model_unknown(const live_model *row)
{
    return (double)row->cost_unknown;
}
static double model_latency(const live_model *row)
{
    return row->latency_ms / 1e3;
}
static double model_cost(const live_model *row)
{
    return row->cost_usd;
}
static double tokens_in(const live_model *row)
{
    return (double)row->tokens_in;
}
static double tokens_out(const live_model *row)
{
    return (double)row->tokens_out;
}
static double tokens_cache_read(const live_model *row)
{
    return (double)row->tokens_cache_read;
}
static double tokens_cache_write(const live_model *row)
{
    return (double)row->tokens_cache_write;
}

/* Rows of one family stand together. */
static const model_family model_families[] = {
    {{"ce_model_calls", FAMILY_COUNTER, "Answers of models."}, model_calls, NULL},
    {{"ce_model_latency_seconds", FAMILY_COUNTER, "Time that answers took, summed."},
     model_latency,
     NULL},
    {{"ce_cost_usd", FAMILY_COUNTER, "Known cost of answers."}, model_cost, NULL},
    {{"ce_cost_unknown_calls", FAMILY_COUNTER, "Answers whose cost is not known."},
     model_unknown,
     NULL},
    {{"ce_tokens", FAMILY_COUNTER, "Tokens, in disjoint kinds."}, tokens_in, "in"},
    {{"ce_tokens", FAMILY_COUNTER, ""}, tokens_out, "out"},
    {{"ce_tokens", FAMILY_COUNTER, ""}, tokens_cache_read, "cache_read"},
    {{"ce_tokens", FAMILY_COUNTER, ""}, tokens_cache_write, "cache_write"},
};

static void write_models(const page *p, const live_model_list *models)
{
    if (models->count == 0)
        return;
    const char *name = "";
    for (size_t f = 0; f < sizeof model_families / sizeof model_families[0]; f++) {
        const model_family *m = &model_families[f];
        if (strcmp(name, m->family.name) != 0)
            head(p, &m->family);
        name = m->family.name;
        for (size_t i = 0; i < models->count; i++) {
            const live_model *row = &models->rows[i];
            const char *labels[] = {"provider", row->provider,           "model",
                                    row->model, m->kind ? "kind" : NULL, m->kind,
                                    NULL};
            sample(p, &m->family, labels, m->value(row));
        }
    }
}

static void write_durations(const page *p, const live_durations *d)
{
    static const family f = {"ce_task_duration_seconds", FAMILY_HISTOGRAM,
                             "Wall time of finished tasks."};
    head(p, &f);
    for (size_t i = 0; i < LIVE_BUCKETS; i++)
        buf_printf(p->out, "%s_bucket{le=\"%g\"} %" PRId64 "\n", f.name, live_bucket_s[i],
                   d->below[i]);
    buf_printf(p->out, "%s_bucket{le=\"+Inf\"} %" PRId64 "\n", f.name, d->count);
    buf_printf(p->out, "%s_sum %.15g\n%s_count %" PRId64 "\n", f.name, d->sum_ms / 1e3, f.name,
               d->count);
}

static void write_nights(const page *p, const night_success_list *nights)
{
    static const family f = {"ce_nightly_last_success_timestamp_seconds", FAMILY_GAUGE,
                             "When the newest good night of a series ended; 0: none was."};
    head(p, &f);
    for (size_t i = 0; i < nights->count; i++) {
        const char *labels[] = {"series", nights->rows[i].series, NULL};
        sample(p, &f, labels, (double)nights->rows[i].ended_ms / 1e3);
    }
}

static void write_totals(const page *p, const totals *t)
{
    static const family last = {"ce_last_complete_run_timestamp_seconds", FAMILY_GAUGE,
                                "When the newest complete run was finished; 0: none was."};
    for (size_t i = 0; i < sizeof count_families / sizeof count_families[0]; i++)
        write_counts(p, &count_families[i], &t->counts[count_families[i].total]);
    write_events_by_name(p, &t->counts[LIVE_EVENTS]);
    write_models(p, &t->models);
    write_durations(p, &t->durations);
    single(p, &last, (double)t->last_complete_ms / 1e3);
    write_nights(p, &t->nights);
}

void metrics_copy(metrics *self, bool openmetrics, int64_t now_ms, buf *out)
{
    static const family build = {"ce_build_info", FAMILY_GAUGE, "The version that answers."};
    static const family age = {"ce_metrics_age_seconds", FAMILY_GAUGE,
                               "How long ago the totals were read from the database."};
    static const family wal = {"ce_db_wal_bytes", FAMILY_GAUGE,
                               "Size of the database's write-ahead log."};
    const page p = {out, openmetrics};
    pthread_mutex_lock(&self->lock);
    head(&p, &build);
    sample(&p, &build, (const char *const[]){"version", self->version, NULL}, 1);
    for (size_t i = 0; i < METRICS_GAUGES; i++)
        single(&p, &gauges[i], self->gauges[i]);
    if (self->read) {
        single(&p, &age, (double)(now_ms - self->read_at_ms) / 1e3);
        single(&p, &wal, self->wal_bytes);
        write_totals(&p, &self->now);
    }
    pthread_mutex_unlock(&self->lock);
    if (openmetrics)
        buf_puts(out, "# EOF\n");
}

/* ---- reading ---- */

static void totals_fini(totals *t)
{
    for (size_t i = 0; i <= LIVE_RUNS; i++)
        live_count_list_fini(&t->counts[i]);
    live_model_list_fini(&t->models);
    night_success_list_fini(&t->nights);
}

static int read_totals(store_tx *tx, void *arg, err *e)
{
    totals *t = arg;
    for (live_total i = LIVE_RESULTS; i <= LIVE_RUNS; i++)
        if (live_count_read(tx, i, &t->counts[i], e) < 0)
            return -1;
    return live_model_read(tx, &t->models, e) < 0 ||
                   live_durations_read(tx, &t->durations, e) < 0 ||
                   live_last_complete(tx, &t->last_complete_ms, e) < 0 ||
                   night_success_read(tx, &t->nights, e) < 0
               ? -1
               : 0;
}

static double wal_size(const store *db)
{
    struct stat st;
    SCOPED(scoped_free) char *path = xasprintf("%s-wal", store_path(db));
    return stat(path, &st) == 0 ? (double)st.st_size : 0;
}

static bool is_due(metrics *self, bool news, int64_t now_ms)
{
    pthread_mutex_lock(&self->lock);
    self->dirty = self->dirty || news;
    bool due = (self->dirty || !self->read) && now_ms >= self->next_ms;
    pthread_mutex_unlock(&self->lock);
    return due;
}

void metrics_refresh(metrics *self, store *db, bool news, int64_t now_ms)
{
    if (!is_due(self, news, now_ms))
        return;
    totals fresh = {.last_complete_ms = 0};
    int64_t before = clock_mono_ms();
    int rc = store_run(db, read_totals, &fresh, NULL);
    int64_t took = clock_mono_ms() - before, pause = took * METRICS_SHARE;
    pthread_mutex_lock(&self->lock);
    self->next_ms = now_ms + took + (pause > METRICS_PACE_MS ? pause : METRICS_PACE_MS);
    if (rc == 0) {
        totals old = self->now;
        self->now = fresh;
        fresh = old;
        self->read = true;
        self->dirty = false;
        self->read_at_ms = now_ms;
        self->wal_bytes = wal_size(db);
    }
    pthread_mutex_unlock(&self->lock);
    totals_fini(&fresh);
}

void metrics_set(metrics *self, metrics_gauge which, double value)
{
    pthread_mutex_lock(&self->lock);
    self->gauges[which] = value;
    pthread_mutex_unlock(&self->lock);
}

/* ---- create, destroy ---- */

metrics *metrics_create(const char *version)
{
    metrics *self = xcalloc(1, sizeof *self);
    self->version = xstrdup(version);
    self->wal_bytes = (double)NAN;
    pthread_mutex_init(&self->lock, NULL);
    for (size_t i = 0; i < METRICS_GAUGES; i++)
        self->gauges[i] = (double)NAN;
    return self;
}

void metrics_destroy(metrics **self)
{
    metrics *m = *self;
    if (m == NULL)
        return;
    totals_fini(&m->now);
    pthread_mutex_destroy(&m->lock);
    free(m->version);
    free(m);
    *self = NULL;
}
