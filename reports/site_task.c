/* site_task - the page of a candidate
 *
 * SPDX-License-Identifier: MIT */
#include "reports/site_task.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/html.h"
#include "reports/site_text.h"
#include "reports/text.h"
#include "store/artifact.h"
#include "store/stage.h"

enum { CELL_MAX = 64 * 1024, MORE_MAX = 96, PREFIX_MAX = 32, VALUES_MAX = 400 };

/* ---- texts ---- */

static int keep_whole(const site_store *self, const hash *name, const buf *text,
                      char more[MORE_MAX], err *e)
{
    char hex[HASH_HEX];
    hash_hex(name, hex);
    SCOPED(scoped_free) char *folder = file_join(self->folder, "x");
    SCOPED(scoped_free) char *path = xasprintf("%s/%s.txt", folder, hex);
    snprintf(more, MORE_MAX, "../x/%s.txt", hex);
    if (file_exists(path))
        return 0;
    return file_mkdirs(folder, e) < 0 ? -1 : file_write(path, buf_text(text), text->size, e);
}

int site_store_read(const site_store *self, const hash *name, buf *text, char more[MORE_MAX],
                    err *e)
{
    err why = {0};
    more[0] = '\0';
    buf_init(text, ARTIFACT_MAX);
    if (artifact_get(self->tx, name, text, &why) < 0) {
        buf_clear(text);
        buf_printf(text, "[not here: %s]", why.text);
        return 0;
    }
    const bool whole = text->size <= SITE_TEXT_MAX && strlen(buf_text(text)) == text->size;
    return whole ? 0 : keep_whole(self, name, text, more, e);
}

typedef enum look { LOOK_PLAIN, LOOK_SOURCE, LOOK_LOG, LOOK_PROMPT } look;

/* A text that opens; nothing where there is none. */
typedef struct piece {
    const char *title;
    const hash *name; /* zero or NULL: none */
    look as;
    const char *prefix; /* of line ids */
    bool open;
} piece;

static int put_piece(const site_store *self, const piece *p, buf *out, err *e)
{
    SCOPED(buf_fini) buf text = {0};
    char more[MORE_MAX];
    if (p->name == NULL || hash_is_zero(p->name))
        return 0;
    if (site_store_read(self, p->name, &text, more, e) < 0)
        return -1;
    const site_text shown = {buf_text(&text), more[0] != '\0' ? more : NULL};
    buf_printf(out, "<details%s><summary>%s</summary>\n", p->open ? " open" : "", p->title);
    switch (p->as) {
    case LOOK_PLAIN:
        site_text_plain(&shown, out);
        break;
    case LOOK_SOURCE:
        site_text_source(&shown, p->prefix, out);
        break;
    case LOOK_LOG:
        site_text_log(&shown, p->prefix, out);
        break;
    case LOOK_PROMPT:
        site_text_prompt(&shown, out);
        break;
    }
    buf_puts(out, "</details>\n");
    return 0;
}

/* ---- what became of it ---- */

static void put_term(const char *term, const char *value, buf *out)
{
    if (value == NULL || value[0] == '\0')
        return;
    buf_printf(out, "<dt>%s</dt><dd>", term);
    html_text(out, value);
    buf_puts(out, "</dd>\n");
}

static void put_speed(const board_task *t, buf *out)
{
    SCOPED(buf_fini) buf value = {0};
    buf_init(&value, CELL_MAX);
    text_factor(&value, t->speedup);
    if (!isnan(t->ci_low))
        buf_printf(&value, " [%.3f, %.3f]", t->ci_low, t->ci_high);
    if (t->verdict != NULL)
        buf_printf(&value, " %s", t->verdict);
    if (t->verdict != NULL && t->row->outcome.verdict_reason != NULL)
        buf_printf(&value, " (%s)", t->row->outcome.verdict_reason);
    put_term("speedup", buf_text(&value), out);
    put_term("why no speedup", t->reason, out);
}

static void put_ms(const char *term, double ms, buf *out)
{
    char value[64];
    if (isnan(ms))
        return;
    snprintf(value, sizeof value, "%.6g ms", ms);
    put_term(term, value, out);
}

static void put_result(const board_task *t, buf *out)
{
    const board_outcome *r = &t->row->outcome;
    SCOPED(buf_fini) buf cost = {0};
    buf_init(&cost, CELL_MAX);
    text_usd(&cost, t->usage->cost_usd, t->usage->cost_unknown);
    buf_printf(&cost, ", %" PRId32 " calls, %" PRId32 " attempts", t->usage->calls,
               t->usage->attempts);
    buf_puts(out, "<dl>\n<dt>outcome</dt><dd>");
    buf_puts(out, t->row->state == TASK_DONE ? outcome_name(r->result) : "not scored");
    buf_puts(out, "</dd>\n");
    put_term("detail", r->detail, out);
    put_term("decided in", r->stage, out);
    put_term("finding", r->text, out);
    put_speed(t, out);
    put_ms("candidate", t->candidate_ms, out);
    put_ms("best baseline", t->baseline_ms, out);
    if (!isnan(t->baseline_ms))
        put_term("baseline mode", t->row->facts->baseline_mode, out);
    if (!isnan(t->speedup))
        put_ms("least that the card allows", r->floor_ms, out);
    put_term("marks", r->marks, out);
    put_term("device", t->row->facts->device, out);
    put_term("checked by", t->row->facts->correct_protocol, out);
    put_term("timed by", t->row->facts->timing_protocol, out);
    put_term("cost", buf_text(&cost), out);
    put_term("task", t->row->id, out);
    buf_puts(out, "</dl>\n");
}

static int put_kernel(const site_store *self, const board_task *t, buf *out, err *e)
{
    const board_outcome *r = &t->row->outcome;
    const piece source = {"source", r->source, LOOK_SOURCE, "L", true};
    const piece plan = {"launch plan", r->plan, LOOK_PLAIN, NULL, false};
    buf_puts(out, "<h2 id=\"kernel\">Kernel</h2>\n");
    if (r->source == NULL)
        buf_puts(out, "<p>There is none.</p>\n");
    return put_piece(self, &source, out, e) < 0 ? -1 : put_piece(self, &plan, out, e);
}

/* ---- attempts ---- */

/* A source that an earlier attempt has is shown there. */
static size_t first_with(const attempt_list *list, size_t i)
{
    size_t k = 0;
    while (k < i && !hash_equal(&list->rows[k].source, &list->rows[i].source))
        k++;
    return k;
}

static int put_attempt(const site_store *self, const attempt_list *list, size_t i, buf *out, err *e)
{
    const attempt_row *a = &list->rows[i];
    const size_t first = hash_is_zero(&a->source) ? i : first_with(list, i);
    char prefix[PREFIX_MAX];
    snprintf(prefix, sizeof prefix, "a%zuL", first + 1);
    buf_printf(out, "<h3 id=\"a%zu\">Attempt %zu: ", i + 1, i + 1);
    html_text(out, a->stage);
    buf_printf(out, ", %s", outcome_name(a->result));
    if (a->detail != NULL && a->detail[0] != '\0') {
        buf_puts(out, " (");
        html_text(out, a->detail);
        buf_puts(out, ")");
    }
    buf_puts(out, "</h3>\n");
    if (a->text != NULL) {
        const site_text words = {a->text, NULL};
        site_text_plain(&words, out);
    }
    if (first < i)
        buf_printf(out, "<p>The source of <a href=\"#a%zu\">attempt %zu</a>.</p>\n", first + 1,
                   first + 1);
    const piece pieces[] = {
        {"compiler's log", &a->log, LOOK_LOG, prefix, a->result == OUTCOME_COMPILE_FAILED},
        {"source", first < i ? NULL : &a->source, LOOK_SOURCE, prefix,
         a->result == OUTCOME_COMPILE_FAILED},
        {"launch plan", first < i ? NULL : &a->plan, LOOK_PLAIN, NULL, false},
        {"findings", &a->report, LOOK_PLAIN, NULL, false},
    };
    for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++)
        if (put_piece(self, &pieces[k], out, e) < 0)
            return -1;
    return 0;
}

static int put_attempts(const site_store *self, const char *task, buf *out, err *e)
{
    SCOPED(attempt_list_fini) attempt_list list = {0};
    if (attempt_list_read(self->tx, task, &list, e) < 0)
        return -1;
    buf_puts(out, "<h2 id=\"attempts\">Attempts</h2>\n");
    for (size_t i = 0; i < list.count; i++)
        if (put_attempt(self, &list, i, out, e) < 0)
            return -1;
    buf_puts(out, list.count == 0 ? "<p>There is none.</p>\n" : "");
    return 0;
}

/* ---- calls ---- */

static int put_call(const site_store *self, const call_row *c, size_t number, buf *out, err *e)
{
    const piece prompt = {"prompt", &c->prompt, LOOK_PROMPT, NULL, false};
    const piece answer = {"answer", &c->answer, LOOK_PLAIN, NULL, false};
    buf_printf(out, "<h3 id=\"c%zu\">Call %zu: ", number, number);
    html_text(out, c->stage);
    buf_puts(out, ", ");
    html_text(out, c->provider);
    buf_puts(out, ":");
    html_text(out, c->model);
    buf_puts(out, "</h3>\n<p class=\"soft\">stopped: ");
    html_text(out, c->stop);
    if (c->tokens_in >= 0 && c->tokens_out >= 0)
        buf_printf(out, "; tokens in %" PRId64 ", out %" PRId64, c->tokens_in, c->tokens_out);
    if (!isnan(c->cost_usd))
        buf_printf(out, "; $%.4f", c->cost_usd);
    buf_printf(out, "; %.1f s</p>\n", c->latency_ms / 1000);
    return put_piece(self, &prompt, out, e) < 0 ? -1 : put_piece(self, &answer, out, e);
}

static int put_calls(const site_store *self, const char *task, buf *out, err *e)
{
    SCOPED(call_list_fini) call_list list = {0};
    if (call_list_read(self->tx, task, NULL, &list, e) < 0)
        return -1;
    buf_puts(out, "<h2 id=\"calls\">Calls</h2>\n");
    for (size_t i = 0; i < list.count; i++)
        if (put_call(self, &list.rows[i], i + 1, out, e) < 0)
            return -1;
    buf_puts(out, list.count == 0 ? "<p>No model was asked.</p>\n" : "");
    return 0;
}

/* ---- samples ---- */

static void put_values(const json *ms, buf *out)
{
    const size_t count = json_size(ms);
    for (size_t i = 0; i < count && i < VALUES_MAX; i++)
        buf_printf(out, "%s%.6g", i > 0 ? " " : "", json_real(json_at(ms, i), (double)NAN));
    if (count > VALUES_MAX)
        buf_printf(out, " … %zu more", count - VALUES_MAX);
}

static json *read_json(const site_store *self, const hash *name)
{
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, ARTIFACT_MAX);
    if (hash_is_zero(name) || artifact_get(self->tx, name, &text, NULL) < 0)
        return NULL;
    return json_parse_tree(buf_text(&text), text.size, "samples", NULL);
}

static void put_measurement(const site_store *self, const measurement_row *m, buf *out)
{
    SCOPED(json_destroy) json *ms = read_json(self, &m->samples);
    buf_puts(out, "<details><summary>");
    html_text(out, m->side);
    buf_puts(out, ", ");
    html_text(out, m->mode);
    buf_puts(out, ": ");
    if (isnan(m->median_ms))
        html_text(out, m->reason);
    else
        buf_printf(out, "median %.6g ms of %" PRId64, m->median_ms, m->sample_count);
    buf_puts(out, "</summary>\n<pre class=\"wrap\" tabindex=\"0\">");
    if (ms != NULL)
        put_values(ms, out);
    else
        buf_puts(out, "[no samples are here]");
    buf_puts(out, "</pre></details>\n");
}

static void put_pairs(const json *pairs, buf *out)
{
    static const char *const sides[] = {"baseline", "candidate"};
    for (size_t i = 0; i < json_size(pairs); i++) {
        const json *pair = json_at(pairs, i);
        const char *why = json_str(json_get(pair, "void"), NULL);
        for (size_t k = 0; k < 2; k++) {
            buf_printf(out, "pair %zu %s: ", i + 1, sides[k]);
            put_values(json_get(json_get(pair, sides[k]), "ms"), out);
            buf_puts(out, "\n");
        }
        if (why != NULL) {
            buf_printf(out, "pair %zu does not count: ", i + 1);
            html_text(out, why);
            buf_puts(out, "\n");
        }
    }
}

static void put_comparison(const site_store *self, const comparison_row *c, buf *out)
{
    SCOPED(json_destroy) json *raw = read_json(self, &c->raw);
    buf_puts(out, "<details><summary>in pairs with ");
    html_text(out, c->baseline_mode);
    buf_puts(out, ", ");
    html_text(out, c->purpose);
    buf_printf(out, ": %" PRId64 " pairs, ", c->pairs);
    html_text(out, c->verdict);
    buf_puts(out, "</summary>\n<pre class=\"wrap\" tabindex=\"0\">");
    if (raw != NULL)
        put_pairs(json_get(raw, "pairs"), out);
    else
        buf_puts(out, "[no samples are here]");
    buf_puts(out, "</pre></details>\n");
}

/* Scripted times are no samples of anything. */
static int put_samples(const site_store *self, const board_task *t, buf *out, err *e)
{
    SCOPED(measurement_list_fini) measurement_list measured = {0};
    SCOPED(comparison_list_fini) comparison_list compared = {0};
    const char *kind = t->row->facts->device_kind;
    buf_puts(out, "<h2 id=\"samples\">Samples</h2>\n");
    if (kind != NULL && strcmp(kind, "cuda") != 0) {
        buf_puts(out, "<p>");
        html_text(out, t->reason);
        buf_puts(out, "</p>\n");
        return 0;
    }
    if (measurement_list_read(self->tx, t->row->id, &measured, e) < 0 ||
        comparison_list_read(self->tx, t->row->id, &compared, e) < 0)
        return -1;
    for (size_t i = 0; i < measured.count; i++)
        put_measurement(self, &measured.rows[i], out);
    for (size_t i = 0; i < compared.count; i++)
        put_comparison(self, &compared.rows[i], out);
    buf_puts(out, measured.count + compared.count == 0 ? "<p>There is none.</p>\n" : "");
    return 0;
}

/* ---- all ---- */

int site_task_write(const site_store *self, const board *b, const board_task *task, buf *out,
                    err *e)
{
    buf_puts(out, "<h1>");
    html_text(out, task->row->problem);
    buf_puts(out, ": ");
    html_text(out, b->entrants[task->entrant].row->name);
    buf_printf(out, ", sample %" PRId32 "</h1>\n", task->row->sample);
    put_result(task, out);
    if (put_kernel(self, task, out, e) < 0 || put_attempts(self, task->row->id, out, e) < 0 ||
        put_calls(self, task->row->id, out, e) < 0)
        return -1;
    return put_samples(self, task, out, e);
}
