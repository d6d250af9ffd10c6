/* export - what is stored of a run or a task, as files for others
 *
 * Rows are streamed: a table is handed to its file in pieces that end with a line, and keys are looked for in
 * each piece.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/export.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/json.h"
#include "common/json_out.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/inspect.h"
#include "reports/figures.h"
#include "reports/rerun.h"
#include "reports/text.h"
#include "store/artifact.h"
#include "store/call.h"
#include "store/dump.h"
#include "store/run.h"
#include "store/stage.h"
#include "store/task.h"

enum { PIECE_MAX = 4 * 1024 * 1024, ROW_MAX = 16 * 1024 * 1024 };

/* ---- a file that is written in pieces, without keys ---- */

typedef struct sink {
    file_out *file;
    keyscan_list known;
} sink;

static int drain(void *arg, const void *data, size_t size)
{
    const sink *s = arg;
    SCOPED(buf_fini) buf clean = {0};
    buf_init(&clean, (size_t)2 * ROW_MAX);
    keyscan_mask(s->known, data, size, &clean);
    return clean.overflow ? -1 : file_out_add(s->file, buf_text(&clean), clean.size);
}

typedef struct tables {
    const export_ask *ask;
    const char *run;
    bool csv;
} tables;

typedef int fill_fn(store_tx *tx, const tables *t, size_t table, buf *out, err *e);

static int write_level(store_tx *tx, const tables *t, const char *level, fill_fn *fill,
                       size_t table, err *e)
{
    SCOPED(scoped_free) char *name = xasprintf("%s.%s", level, t->csv ? "csv" : "jsonl");
    SCOPED(scoped_free) char *path = file_join(t->ask->folder, name);
    SCOPED(file_out_destroy) file_out *file = file_out_create(path, e);
    if (file == NULL)
        return -1;
    sink s = {file, t->ask->known};
    SCOPED(buf_fini) buf text = {0};
    buf_init_drain(&text, ROW_MAX, drain, &s);
    if (fill(tx, t, table, &text, e) < 0)
        return err_wrap(e, "%s", path);
    if (text.overflow || drain(&s, buf_text(&text), text.size) < 0)
        return err_set(e, ERR_LIMIT, "%s: a line is larger than %d bytes", path, ROW_MAX);
    return file_out_commit(file, e);
}

static int fill_table(store_tx *tx, const tables *t, size_t table, buf *out, err *e)
{
    return t->csv ? dump_csv(tx, table, t->run, out, e) : dump_write(tx, table, t->run, out, e);
}

/* ---- samples ---- */

/* One raw time, and where it belongs. */
typedef struct sample {
    const char *task, *stage, *side, *mode;
    int64_t pair, index; /* pair -1: not of a pair */
    int process;
    const char *void_reason; /* why its pair does not count; NULL: it does */
    double ms;
} sample;

static void sample_json(const sample *s, buf *line)
{
    json_out o = json_out_open(line);
    json_out_int(&o, "index", s->index);
    json_out_str(&o, "mode", s->mode);
    json_out_real(&o, "ms", s->ms);
    if (s->pair >= 0) {
        json_out_int(&o, "pair", s->pair);
        json_out_int(&o, "process", s->process);
    }
    json_out_str(&o, "side", s->side);
    json_out_str(&o, "stage", s->stage);
    json_out_str(&o, "task", s->task);
    if (s->void_reason != NULL)
        json_out_str(&o, "void", s->void_reason);
    json_out_close(&o);
    buf_puts(line, "\n");
}

static void sample_csv(const sample *s, buf *line)
{
    const char *const texts[] = {s->task, s->stage, s->side, s->mode};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        dump_csv_text(line, texts[i]);
        buf_puts(line, ",");
    }
    if (s->pair >= 0)
        buf_printf(line, "%" PRId64 ",%d", s->pair, s->process);
    else
        buf_puts(line, ",");
    buf_printf(line, ",%" PRId64 ",", s->index);
    json_number(line, s->ms);
    buf_puts(line, ",");
    dump_csv_text(line, s->void_reason != NULL ? s->void_reason : "");
    buf_puts(line, "\r\n");
}

static void put_samples(const tables *t, const sample *where, const json *ms, buf *out)
{
    sample one = *where;
    for (size_t i = 0; i < json_size(ms); i++) {
        SCOPED(buf_fini) buf line = {0};
        buf_init(&line, ROW_MAX);
        one.index = (int64_t)i;
        one.ms = json_real(json_at(ms, i), (double)NAN);
        (t->csv ? sample_csv : sample_json)(&one, &line);
        buf_add(out, buf_text(&line), line.size);
    }
}

/* A text that was redacted has no samples; the row in measurement still says how many there were. */
static json *read_json(store_tx *tx, const hash *name)
{
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, ARTIFACT_MAX);
    if (hash_is_zero(name) || artifact_get(tx, name, &text, NULL) < 0)
        return NULL;
    return json_parse_tree(buf_text(&text), text.size, "samples", NULL);
}

static int put_measurements(store_tx *tx, const tables *t, const char *task, buf *out, err *e)
{
    SCOPED(measurement_list_fini) measurement_list list = {0};
    if (measurement_list_read(tx, task, &list, e) < 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        const measurement_row *m = &list.rows[i];
        SCOPED(json_destroy) json *ms = read_json(tx, &m->samples);
        const sample where = {
            .task = task, .stage = m->stage, .side = m->side, .mode = m->mode, .pair = -1};
        put_samples(t, &where, ms, out);
    }
    return 0;
}

static void put_pair(const tables *t, const comparison_row *c, const char *task, const json *pair,
                     int64_t number, buf *out)
{
    static const char *const sides[] = {"baseline", "candidate"};
    for (size_t i = 0; i < 2; i++) {
        const sample where = {
            .task = task,
            .stage = c->stage,
            .side = sides[i],
            .mode = i == 0 ? c->baseline_mode : c->purpose,
            .pair = number,
            .process = (int)json_int(json_get(pair, "process"), -1),
            .void_reason = json_str(json_get(pair, "void"), NULL),
        };
        put_samples(t, &where, json_get(json_get(pair, sides[i]), "ms"), out);
    }
}

static int put_comparisons(store_tx *tx, const tables *t, const char *task, buf *out, err *e)
{
    SCOPED(comparison_list_fini) comparison_list list = {0};
    if (comparison_list_read(tx, task, &list, e) < 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        SCOPED(json_destroy) json *raw = read_json(tx, &list.rows[i].raw);
        const json *pairs = json_get(raw, "pairs");
        for (size_t k = 0; k < json_size(pairs); k++)
            put_pair(t, &list.rows[i], task, json_at(pairs, k), (int64_t)k, out);
    }
    return 0;
}

static int fill_samples(store_tx *tx, const tables *t, size_t table, buf *out, err *e)
{
    (void)table;
    SCOPED(task_list_fini) task_list tasks = {0};
    if (task_list_read(tx, t->run, "synthesize", &tasks, e) < 0)
        return -1;
    if (t->csv)
        buf_puts(out, "task,stage,side,mode,pair,process,index,ms,void\r\n");
    for (size_t i = 0; i < tasks.count; i++)
        if (put_measurements(tx, t, tasks.rows[i].id, out, e) < 0 ||
            put_comparisons(tx, t, tasks.rows[i].id, out, e) < 0)
            return -1;
    return 0;
}

static int tables_fn(store_tx *tx, void *arg, err *e)
{
    tables *t = arg;
    SCOPED(run_row_fini) run_row run = {0};
    if (run_find(tx, t->ask->name, &run, e) < 0)
        return -1;
    t->run = run.id;
    for (size_t i = 0; dump_name(i) != NULL; i++)
        if (write_level(tx, t, dump_name(i), fill_table, i, e) < 0)
            return -1;
    return write_level(tx, t, "sample", fill_samples, 0, e);
}

int export_tables(store *db, const export_ask *ask, bool csv, err *e)
{
    tables t = {.ask = ask, .csv = csv};
    return file_mkdirs(ask->folder, e) < 0 ? -1 : store_run(db, tables_fn, &t, e);
}

/* ---- one task ---- */

typedef struct taking {
    const export_ask *ask;
    task_row task;
    run_row run;
} taking;

static int put_file(const export_ask *ask, const char *name, const buf *text, err *e)
{
    SCOPED(scoped_free) char *path = file_join(ask->folder, name);
    return file_write(path, buf_text(text), text->size, e);
}

/* A text that is not there, or holds a key, leaves a sentence in its place. */
static int put_text(store_tx *tx, const export_ask *ask, const char *name, const hash *which,
                    err *e)
{
    SCOPED(buf_fini) buf text = {0};
    err why = {0};
    buf_init(&text, ARTIFACT_MAX);
    if (hash_is_zero(which))
        return 0;
    if (artifact_get(tx, which, &text, &why) < 0) {
        buf_clear(&text);
        buf_printf(&text, "[not here: %s]\n", why.text);
    } else if (keyscan_in(ask->known, buf_text(&text), text.size)) {
        buf_clear(&text);
        buf_puts(&text, "[withheld: it may hold a key]\n");
    }
    return put_file(ask, name, &text, e);
}

static int put_calls(store_tx *tx, const taking *t, err *e)
{
    SCOPED(call_list_fini) call_list calls = {0};
    if (call_list_read(tx, t->task.id, NULL, &calls, e) < 0)
        return -1;
    for (size_t i = 0; i < calls.count; i++) {
        const call_row *c = &calls.rows[i];
        SCOPED(scoped_free)
        char *prompt = xasprintf("call-%02zu-%s-prompt.json", i + 1, c->stage);
        SCOPED(scoped_free) char *answer = xasprintf("call-%02zu-%s-answer.md", i + 1, c->stage);
        if (put_text(tx, t->ask, prompt, &c->prompt, e) < 0 ||
            put_text(tx, t->ask, answer, &c->answer, e) < 0)
            return -1;
    }
    return 0;
}

static int put_attempt(store_tx *tx, const taking *t, const attempt_row *a, err *e)
{
    const struct {
        const char *ending;
        const hash *which;
    } files[] = {{"kernel.cu", &a->source},
                 {"plan.json", &a->plan},
                 {"log.txt", &a->log},
                 {"findings.json", &a->report}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        SCOPED(scoped_free)
        char *name =
            xasprintf("attempt-%02" PRId64 "-%s-%s", a->number + 1, a->stage, files[i].ending);
        if (put_text(tx, t->ask, name, files[i].which, e) < 0)
            return -1;
    }
    return 0;
}

static int put_attempts(store_tx *tx, const taking *t, err *e)
{
    SCOPED(attempt_list_fini) attempt_list attempts = {0};
    if (attempt_list_read(tx, t->task.id, &attempts, e) < 0)
        return -1;
    for (size_t i = 0; i < attempts.count; i++)
        if (put_attempt(tx, t, &attempts.rows[i], e) < 0)
            return -1;
    return 0;
}

static int put_raw(store_tx *tx, const taking *t, err *e)
{
    SCOPED(comparison_list_fini) comparison_list list = {0};
    if (comparison_list_read(tx, t->task.id, &list, e) < 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        SCOPED(scoped_free)
        char *name = xasprintf("comparison-%02zu-%s.json", i + 1, list.rows[i].purpose);
        if (put_text(tx, t->ask, name, &list.rows[i].raw, e) < 0)
            return -1;
    }
    return 0;
}

/* The recorded answers once more, without a model. */
static int put_script(const taking *t, err *e)
{
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, PIECE_MAX);
    buf_puts(&text, "#!/bin/sh\n# Builds, checks and times the recorded answers again; no model is "
                    "asked. Give --db FILE of the\n# database that holds the run; options that "
                    "follow are passed on.\nexec ce-coord eval --suite ");
    rerun_quote(&text, t->run.suite);
    buf_puts(&text, " --only ");
    rerun_quote(&text, t->task.problem);
    buf_printf(&text, " --samples %" PRId64 " --model-id ", t->run.samples);
    SCOPED(scoped_free) char *model = xasprintf("replay:%s", t->run.id);
    rerun_quote(&text, model);
    buf_puts(&text, " \"$@\"\n");
    return put_file(t->ask, "reproduce.sh", &text, e);
}

static int task_fn(store_tx *tx, void *arg, err *e)
{
    taking *t = arg;
    if (task_find(tx, t->ask->name, &t->task, e) < 0 || run_find(tx, t->task.run, &t->run, e) < 0)
        return -1;
    if (put_text(tx, t->ask, "kernel.cu", &t->task.outcome.source, e) < 0 ||
        put_text(tx, t->ask, "plan.json", &t->task.outcome.plan, e) < 0 ||
        put_calls(tx, t, e) < 0 || put_attempts(tx, t, e) < 0 || put_raw(tx, t, e) < 0)
        return -1;
    return put_script(t, e);
}

static int put_facts(store *db, const taking *t, err *e)
{
    SCOPED(buf_fini) buf facts = {0};
    SCOPED(buf_fini) buf clean = {0};
    buf_init(&facts, ROW_MAX);
    buf_init(&clean, (size_t)2 * ROW_MAX);
    if (inspect_write(db, t->task.id, true, &facts, e) < 0)
        return -1;
    keyscan_mask(t->ask->known, buf_text(&facts), facts.size, &clean);
    return put_file(t->ask, "task.json", &clean, e);
}

int export_task(store *db, const export_ask *ask, err *e)
{
    taking t = {.ask = ask};
    if (file_mkdirs(ask->folder, e) < 0)
        return -1;
    int rc = store_run(db, task_fn, &t, e);
    if (rc == 0)
        rc = put_facts(db, &t, e);
    task_row_fini(&t.task);
    run_row_fini(&t.run);
    return rc;
}

/* ---- badge ---- */

/* A badge claims no more than the board: without a rank it is grey and says so. */
void export_badge(const board *b, buf *out)
{
    SCOPED(figures_destroy) figures *f = figures_create(b);
    const ranking *ranks = f->ranks;
    SCOPED(buf_fini) buf message = {0};
    buf_init(&message, PIECE_MAX);
    size_t best = ranks->order[0];
    for (size_t i = 0; i < ranks->count && ranks->rows[best].is_human; i++)
        best = ranks->order[i];
    const agg *a = &f->aggs->rows[best];
    const bool ranked = ranks->rows[best].unranked == NULL && !ranks->rows[best].is_human;
    buf_printf(&message, "%s: ", b->entrants[best].row->name);
    text_share(&message, a->correct, a->declared);
    buf_puts(&message, " correct");
    if (a->measured > 0) {
        buf_puts(&message, ", ");
        text_factor(&message, a->geomean);
    }
    if (!ranked)
        buf_puts(&message, ", not ranked");
    SCOPED(scoped_free)
    char *label = xasprintf("ce %s %s", b->runs[0].row.suite, b->runs[0].row.suite_version);
    json_out o = json_out_open(out);
    json_out_int(&o, "schemaVersion", 1);
    json_out_str(&o, "label", label);
    json_out_str(&o, "message", buf_text(&message));
    json_out_str(&o, "color", ranked ? "blue" : "lightgrey");
    json_out_close(&o);
    buf_puts(out, "\n");
}
