/* kernelbench_runs - a run in the files that KernelBench's own scripts read
 *
 * Theory of operation. Every task becomes one `entry`: level, number and file name from the task's spec,
 * what was true of the candidate, its time and its baselines. Entries are dealt into books, one for each
 * entrant and level, since KernelBench has one folder for each; each book writes its files.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/kernelbench_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/json_doc.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/artifact.h"
#include "store/run.h"
#include "store/stage.h"
#include "store/task.h"

enum { LEVELS = 4, KS = 4 };

static const double thresholds[] = {0.0, 0.5, 0.8, 1.0, 1.5, 2.0};
static const int64_t pass_ks[KS] = {1, 3, 5, 10};
static const double tolerance = 1e-4;

typedef struct entry {
    const task_row *task; /* borrowed */
    int64_t level, number;
    char *file; /* 19_ReLU.py */
    bool compiled, close;
    double difference;            /* largest, on own inputs; NaN: not compared */
    json *runtime, *eager, *best; /* stats; NULL: not measured */
    char *source, *plan;          /* NULL: none */
} entry;

typedef struct pages {
    const char *folder;
    store_tx *tx;
    run_row run;
    task_list tasks;
    entrant_list entrants;
    entry *entries;
    size_t count;
} pages;

/* One entrant at one level. */
typedef struct book {
    const pages *p;
    const entrant_row *entrant;
    int64_t level;
    char *name, *folder;
} book;

static void entry_fini(entry *self)
{
    json_destroy(&self->runtime);
    json_destroy(&self->eager);
    json_destroy(&self->best);
    free(self->file);
    free(self->source);
    free(self->plan);
}

static void pages_fini(pages *self)
{
    for (size_t i = 0; i < self->count; i++)
        entry_fini(&self->entries[i]);
    free(self->entries);
    entrant_list_fini(&self->entrants);
    task_list_fini(&self->tasks);
    run_row_fini(&self->run);
}

static void book_fini(book *self)
{
    free(self->name);
    free(self->folder);
}

/* ---- reading ---- */

static char *read_text(store_tx *tx, const hash *name)
{
    SCOPED(buf_fini) buf text;
    buf_init(&text, ARTIFACT_MAX);
    if (hash_is_zero(name) || artifact_get(tx, name, &text, NULL) < 0)
        return NULL;
    return xstrdup(buf_text(&text));
}

static json_doc *read_json(store_tx *tx, const hash *name)
{
    SCOPED(scoped_free) char *text = read_text(tx, name);
    return text != NULL ? json_parse(text, strlen(text), "artifact", NULL) : NULL;
}

/* "l1_19" */
static bool read_id(const char *id, entry *out)
{
    char end = '\0';
    long long level = 0, number = 0;
    if (sscanf(id, "l%lld_%lld%c", &level, &number, &end) != 2)
        return false;
    out->level = level;
    out->number = number;
    return level >= 1 && level <= LEVELS && number >= 1;
}

static void read_file_name(store_tx *tx, entry *out)
{
    SCOPED(json_doc_destroy) json_doc *spec = read_json(tx, &out->task->spec);
    const char *path =
        spec != NULL ? json_str(json_get(json_doc_root(spec), "reference_file"), "") : "";
    const char *slash = strrchr(path, '/');
    out->file = xstrdup(slash != NULL ? slash + 1 : path);
}

/* The own inputs' comparison in a correctness report: what KernelBench would have said. */
static bool own_comparison(const json *report, bool *close, double *difference)
{
    const json *shapes = json_get(report, "shapes");
    bool found = false;
    for (size_t i = 0; i < json_size(shapes); i++) {
        const json *comparison = json_get(json_at(shapes, i), "comparison");
        const json *said = json_get(json_at(json_get(comparison, "outputs"), 0), "kernelbench");
        if (json_typeof(said) != JSON_TYPE_OBJECT)
            continue;
        *close = json_bool(json_get(said, "close"), false) && (*close || !found);
        double d = json_real(json_get(said, "max_difference"), (double)NAN);
        *difference = !found || d > *difference ? d : *difference;
        found = true;
    }
    return found;
}

static int read_attempts(store_tx *tx, entry *out, err *e)
{
    SCOPED(attempt_list_fini) attempt_list list = {0};
    if (attempt_list_read(tx, out->task->id, &list, e) < 0)
        return -1;
    out->close = out->task->outcome.result == OUTCOME_OK;
    for (size_t i = 0; i < list.count; i++) {
        const attempt_row *a = &list.rows[i];
        out->compiled =
            out->compiled || (!isnan(a->compile_ms) && a->result != OUTCOME_COMPILE_FAILED);
        SCOPED(json_doc_destroy) json_doc *report = read_json(tx, &a->report);
        bool close = false;
        if (report != NULL && own_comparison(json_doc_root(report), &close, &out->difference))
            out->close = close;
        if (!hash_is_zero(&a->source)) {
            free(out->source);
            free(out->plan);
            out->source = read_text(tx, &a->source);
            out->plan = read_text(tx, &a->plan);
        }
    }
    return 0;
}

static void set_rounded(json *out, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", value); /* KernelBench keeps three digits */
    json_set_real(out, key, strtod(text, NULL));
}

/* KernelBench's statistics of a measurement: of its samples, or of its median alone. */
static json *stats_of(store_tx *tx, const measurement_row *m, const result_row *on)
{
    SCOPED(json_doc_destroy) json_doc *samples = read_json(tx, &m->samples);
    const json *list = samples != NULL ? json_doc_root(samples) : NULL;
    size_t n = json_size(list);
    double sum = 0, squares = 0, low = m->median_ms, high = m->median_ms;
    for (size_t i = 0; i < n; i++) {
        double ms = json_real(json_at(list, i), m->median_ms);
        sum += ms;
        low = fmin(low, ms);
        high = fmax(high, ms);
    }
    double mean = n > 0 ? sum / (double)n : m->median_ms;
    for (size_t i = 0; i < n; i++)
        squares += pow(json_real(json_at(list, i), mean) - mean, 2);
    json *out = json_new_object();
    set_rounded(out, "mean", mean);
    set_rounded(out, "std", n > 1 ? sqrt(squares / (double)n) : 0.0);
    set_rounded(out, "min", low);
    set_rounded(out, "max", high);
    json_set_int(out, "num_trials", n > 0 ? (int64_t)n : 1);
    json_set_str(out, "hardware", on->device != NULL ? on->device : "unknown");
    json_set_str(out, "device", on->device_kind != NULL ? on->device_kind : "none");
    return out;
}

/* The published pairs' medians are what a speedup is of; before them, what was measured alone and cold. */
static void read_published(store_tx *tx, entry *out)
{
    const result_row *r = &out->task->outcome;
    const measurement_row candidate = {.median_ms = r->candidate_ms},
                          baseline = {.median_ms = r->baseline_ms};
    if (r->result == OUTCOME_OK && r->candidate_ms > 0) {
        json_destroy(&out->runtime);
        out->runtime = stats_of(tx, &candidate, r);
    }
    if (r->baseline_ms > 0) {
        json_destroy(&out->best);
        out->best = stats_of(tx, &baseline, r);
    }
}

static void replace(json **kept, json *fresh)
{
    json_destroy(kept);
    *kept = fresh;
}

/* The last measurement of each kind stands. */
static int read_measurements(store_tx *tx, entry *out, err *e)
{
    SCOPED(measurement_list_fini) measurement_list list = {0};
    if (measurement_list_read(tx, out->task->id, &list, e) < 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        const measurement_row *m = &list.rows[i];
        bool baseline = strcmp(m->side, "baseline") == 0;
        if (!(m->median_ms > 0) || m->l2 == NULL || strcmp(m->l2, "cold") != 0)
            continue;
        if (!baseline && out->task->outcome.result == OUTCOME_OK)
            replace(&out->runtime, stats_of(tx, m, &out->task->outcome));
        if (baseline && strcmp(m->mode, "eager") == 0)
            replace(&out->eager, stats_of(tx, m, &out->task->outcome));
        if (baseline && m->winner)
            replace(&out->best, stats_of(tx, m, &out->task->outcome));
    }
    read_published(tx, out);
    return 0;
}

static int read_entry(pages *p, const task_row *task, err *e)
{
    entry *out = &p->entries[p->count];
    *out = (entry){.task = task, .difference = (double)NAN};
    if (!read_id(task->problem, out))
        return err_set(e, ERR_CONFIG,
                       "run %s is of suite %s: only kernelbench has KernelBench's files", p->run.id,
                       p->run.suite);
    p->count++;
    read_file_name(p->tx, out);
    return read_attempts(p->tx, out, e) < 0 ? -1 : read_measurements(p->tx, out, e);
}

static int read_pages(pages *p, const char *run, err *e)
{
    if (run_find(p->tx, run, &p->run, e) < 0 ||
        task_list_read(p->tx, p->run.id, "synthesize", &p->tasks, e) < 0 ||
        entrant_list_read(p->tx, p->run.id, &p->entrants, e) < 0)
        return -1;
    p->entries = xcalloc(p->tasks.count + 1, sizeof *p->entries);
    for (size_t i = 0; i < p->tasks.count; i++)
        if (read_entry(p, &p->tasks.rows[i], e) < 0)
            return -1;
    return 0;
}

/* ---- writing ---- */

static int put_text(const char *folder, const char *name, const char *text, err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    return file_write(path, text, strlen(text), e);
}

static int put_json(const char *folder, const char *name, const json *value, err *e)
{
    SCOPED(scoped_free) char *text = json_dump_pretty(value);
    return put_text(folder, name, text, e);
}

static bool is_of(const book *b, const entry *one)
{
    return one->level == b->level && one->task->entrant == b->entrant->id;
}

/* book_next steps through the entries of a book. */
static const entry *book_next(const book *b, size_t *at)
{
    while (*at < b->p->count) {
        const entry *one = &b->p->entries[(*at)++];
        if (is_of(b, one))
            return one;
    }
    return NULL;
}

static json *metadata_of(const entry *one)
{
    const result_row *r = &one->task->outcome;
    json *out = json_new_object(), *differences = json_new_array();
    char text[40];
    json_set_str(out, "hardware", r->device != NULL ? r->device : "none");
    json_set_str(out, "device", r->device_kind != NULL ? r->device_kind : "none");
    if (!isnan(one->difference)) {
        snprintf(text, sizeof text, "%.6f", one->difference);
        json *value = json_new_str(text);
        json_append(differences, &value);
    }
    json_set(out, "max_difference", &differences);
    json_set_real(out, "tolerance", tolerance);
    json_set_str(out, "ce_outcome", outcome_name(r->result));
    json_set_str(out, "ce_detail", r->detail);
    json_set_str(out, "ce_text", r->text);
    json_set_str(out, "ce_verdict", r->verdict);
    json_set_str(out, "ce_baseline_mode", r->baseline_mode);
    json_set_str(out, "ce_protocol", r->correct_protocol);
    return out;
}

static json *result_of(const entry *one)
{
    json *out = json_new_object(), *metadata = metadata_of(one);
    json *stats = one->runtime != NULL ? json_copy(one->runtime) : json_new_object();
    json_set_int(out, "sample_id", one->task->sample);
    json_set_bool(out, "compiled", one->compiled);
    json_set_bool(out, "correctness", one->close);
    json_set(out, "metadata", &metadata);
    json_set_real(out, "runtime", json_real(json_get(one->runtime, "mean"), -1.0));
    json_set(out, "runtime_stats", &stats);
    return out;
}

/* {"19": [{…}, …]}, by number. */
static int put_results(const book *b, err *e)
{
    SCOPED(json_destroy) json *root = json_new_object();
    const entry *one;
    for (size_t at = 0; (one = book_next(b, &at)) != NULL;) {
        char key[24];
        snprintf(key, sizeof key, "%lld", (long long)one->number);
        json *list =
            json_get(root, key) != NULL ? json_copy(json_get(root, key)) : json_new_array();
        json *row = result_of(one);
        json_append(list, &row);
        json_set(root, key, &list);
    }
    return put_json(b->folder, "eval_results.json", root, e);
}

/* A kernel and its plan, as Python text: to read, since KernelBench cannot launch a plan. */
static int put_kernels(const book *b, err *e)
{
    const entry *one;
    for (size_t at = 0; (one = book_next(b, &at)) != NULL;) {
        if (one->source == NULL)
            continue;
        SCOPED(json_destroy) json *source = json_new_str(one->source);
        SCOPED(json_destroy) json *plan = json_new_str(one->plan != NULL ? one->plan : "");
        SCOPED(scoped_free) char *quoted = json_dump(source);
        SCOPED(scoped_free) char *launch = json_dump(plan);
        SCOPED(scoped_free)
        char *text = xasprintf("# CUDA device code and its launch plan, run by ce: no ModelNew.\n"
                               "SOURCE = %s\nPLAN = %s\n",
                               quoted, launch);
        SCOPED(scoped_free)
        char *name = xasprintf("level_%lld_problem_%lld_sample_%lld_kernel.py", (long long)b->level,
                               (long long)one->number, (long long)one->task->sample);
        if (put_text(b->folder, name, text, e) < 0)
            return -1;
    }
    return 0;
}

/* ---- metrics ---- */

typedef struct tally {
    size_t problems, evaluated, compiled, correct, aligned, measured;
    size_t above[sizeof thresholds / sizeof *thresholds],
        ours[sizeof thresholds / sizeof *thresholds];
    double logs;
} tally;

/* KernelBench looks at sample 0 alone, and leaves out problems without a baseline. */
static void count(tally *t, const entry *one)
{
    double base = json_real(json_get(one->best, "mean"), (double)NAN);
    double mine = json_real(json_get(one->runtime, "mean"), (double)NAN);
    const result_row *r = &one->task->outcome;
    if (one->task->sample != 0)
        return;
    t->problems++;
    t->evaluated += one->task->state == TASK_DONE ? 1 : 0;
    t->compiled += one->compiled ? 1 : 0;
    t->correct += one->close ? 1 : 0;
    t->aligned += isnan(base) ? 0 : 1;
    if (one->close && base / mine > 0) {
        t->measured++;
        t->logs += log(base / mine);
    }
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
        t->above[i] += one->close && base / mine > thresholds[i];
        t->ours[i] += r->result == OUTCOME_OK && r->speedup > thresholds[i];
    }
}

static double share(size_t part, size_t of)
{
    return of > 0 ? (double)part / (double)of : 0.0;
}

static json *fast_p_json(const size_t *above, size_t of)
{
    json *out = json_new_object();
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
        char key[16];
        snprintf(key, sizeof key, "%.1f", thresholds[i]);
        json_set_real(out, key, share(above[i], of));
    }
    return out;
}

static int put_analysis(const book *b, err *e)
{
    tally t = {0};
    const entry *one;
    for (size_t at = 0; (one = book_next(b, &at)) != NULL;)
        count(&t, one);
    SCOPED(json_destroy) json *root = json_new_object();
    json *theirs = fast_p_json(t.above, t.aligned), *ours = fast_p_json(t.ours, t.problems);
    json_set_str(root, "run_name", b->name);
    json_set_int(root, "level", b->level);
    json_set_int(root, "total_count", (int64_t)t.problems);
    json_set_int(root, "total_eval", (int64_t)t.evaluated);
    json_set_int(root, "compiled_count", (int64_t)t.compiled);
    json_set_int(root, "correct_count", (int64_t)t.correct);
    json_set_real(root, "compilation_rate", share(t.compiled, t.problems));
    json_set_real(root, "correctness_rate", share(t.correct, t.problems));
    json_set_real(root, "geo_mean_speedup",
                  t.measured > 0 ? exp(t.logs / (double)t.measured) : 0.0);
    json_set(root, "fast_p", &theirs);
    json_set(root, "ce_fast_p", &ours);
    return put_json(b->folder, "analysis.json", root, e);
}

/* 1 - C(n-c, k) / C(n, k) */
static double pass_at(int64_t n, int64_t c, int64_t k)
{
    double miss = 1.0;
    for (int64_t i = n - c + 1; i <= n; i++)
        miss *= 1.0 - (double)k / (double)i;
    return n - c < k ? 1.0 : 1.0 - miss;
}

static void count_samples(const book *b, int64_t number, int64_t *n, int64_t *c)
{
    const entry *one;
    *n = *c = 0;
    for (size_t at = 0; (one = book_next(b, &at)) != NULL;) {
        *n += one->number == number;
        *c += one->number == number && one->close;
    }
}

typedef struct sums {
    double pass[KS];
    int64_t problems, samples, correct;
} sums;

static json *pass_row(const book *b, const entry *one, sums *all)
{
    int64_t n, c;
    json *row = json_new_object();
    count_samples(b, one->number, &n, &c);
    json_set_int(row, "total_samples", n);
    json_set_int(row, "correct_samples", c);
    for (size_t i = 0; i < KS; i++) {
        char key[24];
        snprintf(key, sizeof key, "pass@%lld", (long long)pass_ks[i]);
        if (pass_ks[i] <= b->p->run.samples && pass_ks[i] <= n) {
            json_set_real(row, key, pass_at(n, c, pass_ks[i]));
            all->pass[i] += pass_at(n, c, pass_ks[i]);
        }
    }
    all->problems++;
    all->samples += n;
    all->correct += c;
    return row;
}

static json *averages_of(const book *b, const sums *all)
{
    json *out = json_new_object();
    for (size_t i = 0; i < KS; i++) {
        char key[24];
        snprintf(key, sizeof key, "avg_pass@%lld", (long long)pass_ks[i]);
        if (pass_ks[i] <= b->p->run.samples && all->problems > 0)
            json_set_real(out, key, all->pass[i] / (double)all->problems);
    }
    return out;
}

static int put_pass(const book *b, err *e)
{
    sums all = {{0}, 0, 0, 0};
    SCOPED(json_destroy) json *root = json_new_object();
    json *problems = json_new_object(), *metadata = json_new_object();
    const entry *one;
    for (size_t at = 0; (one = book_next(b, &at)) != NULL;) {
        char key[24];
        snprintf(key, sizeof key, "%lld", (long long)one->number);
        json *row = one->task->sample == 0 ? pass_row(b, one, &all) : NULL;
        if (row != NULL)
            json_set(problems, key, &row);
    }
    json_set_int(metadata, "total_problems", all.problems);
    json_set_int(metadata, "problems_with_samples", all.problems);
    json_set_int(metadata, "total_evaluated_samples", all.samples);
    json_set_int(metadata, "total_correct_samples", all.correct);
    json_set_int(metadata, "pass@k_count", all.problems);
    json *averages = averages_of(b, &all);
    json_set(root, "averages", &averages);
    json_set(root, "metadata", &metadata);
    json_set(root, "problems", &problems);
    return put_json(b->folder, "pass_at_k_results.json", root, e);
}

/* ---- books and baselines ---- */

static char *slug(const char *text)
{
    char *out = xstrdup(text);
    for (char *at = out; *at != '\0'; at++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", *at) == NULL)
            *at = '_';
    return out;
}

static int put_config(const book *b, err *e)
{
    SCOPED(json_destroy) json *about = json_new_object();
    json_set_str(about, "run_name", b->name);
    json_set_int(about, "level", b->level);
    json_set_str(about, "model", b->entrant->name);
    json_set_str(about, "suite", b->p->run.suite_version);
    json_set_str(about, "made_by", "ce");
    return put_json(b->folder, "generation_config.yaml", about, e); /* JSON is YAML */
}

static int put_book(const pages *p, const entrant_row *entrant, int64_t level, err *e)
{
    SCOPED(scoped_free) char *who = slug(entrant->name);
    SCOPED(book_fini) book b = {.p = p, .entrant = entrant, .level = level};
    size_t at = 0;
    if (book_next(&b, &at) == NULL)
        return 0;
    b.name = xasprintf("%.8s_%.100s_level%lld", p->run.id, who, (long long)level);
    SCOPED(scoped_free) char *tail = xasprintf("runs/%s", b.name);
    b.folder = file_join(p->folder, tail);
    if (file_mkdirs(b.folder, e) < 0 || put_config(&b, e) < 0 || put_results(&b, e) < 0 ||
        put_kernels(&b, e) < 0 || put_pass(&b, e) < 0)
        return -1;
    return put_analysis(&b, e);
}

static const json *baseline_of(const entry *one, bool best)
{
    return best ? one->best : one->eager;
}

/* {"level1": {"19_ReLU.py": {…}}}, one entry a file; a file without a time is left out. */
static json *timing_json(const pages *p, bool best)
{
    json *root = json_new_object();
    for (int64_t level = 1; level < LEVELS; level++) {
        char key[16];
        snprintf(key, sizeof key, "level%d", (int)level);
        json *files = json_new_object();
        for (size_t i = 0; i < p->count; i++) {
            const entry *one = &p->entries[i];
            const json *stats = baseline_of(one, best);
            json *copy = stats != NULL && one->level == level ? json_copy(stats) : NULL;
            if (copy != NULL)
                json_set(files, one->file, &copy);
        }
        json_set(root, key, &files);
    }
    return root;
}

static const char *hardware_of(const pages *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->entries[i].task->outcome.device != NULL)
            return p->entries[i].task->outcome.device;
    return "none";
}

static int put_timing(const pages *p, err *e)
{
    SCOPED(scoped_free) char *hardware = slug(hardware_of(p));
    SCOPED(scoped_free) char *tail = xasprintf("results/timing/%s", hardware);
    SCOPED(scoped_free) char *folder = file_join(p->folder, tail);
    SCOPED(json_destroy) json *eager = timing_json(p, false);
    SCOPED(json_destroy) json *best = timing_json(p, true);
    if (file_mkdirs(folder, e) < 0 || put_json(folder, "baseline_time_torch.json", eager, e) < 0)
        return -1;
    return put_json(folder, "baseline_time_ce_fastest.json", best, e);
}

static int write_job(store_tx *tx, void *arg, err *e)
{
    SCOPED(pages_fini) pages p = {.folder = ((pages *)arg)->folder, .tx = tx};
    if (read_pages(&p, ((pages *)arg)->run.id, e) < 0)
        return -1;
    for (size_t i = 0; i < p.entrants.count; i++)
        for (int64_t level = 1; level <= LEVELS; level++)
            if (put_book(&p, &p.entrants.rows[i], level, e) < 0)
                return -1;
    return put_timing(&p, e);
}

int kernelbench_runs_write(store *db, const char *run, const char *folder, err *e)
{
    pages ask = {.folder = folder, .run = {.id = run}};
    return store_run(db, write_job, &ask, e);
}
