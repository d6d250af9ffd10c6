/* derive - the files of an evidence pack that follow from its data
 *
 * SPDX-License-Identifier: MIT */
#include "reports/derive.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/board.h"
#include "reports/leaderboard.h"
#include "reports/parcel.h"
#include "reports/report.h"
#include "reports/rerun.h"
#include "reports/rows.h"
#include "reports/text.h"
#include "store/call.h"
#include "store/node.h"
#include "store/stage.h"

/* What is derived from. */
typedef struct source {
    const board *b;
    const board_run *run;
    node_list nodes;
    rows *artifacts;
    store *db;
} source;

static json *parsed(const char *text)
{
    json *value = json_parse_tree(text, strlen(text), "database", NULL);
    return value != NULL ? value : json_new_str(text);
}

static void set_tree(json *object, const char *key, json *value)
{
    json_set(object, key, &value);
}

static void put_json(buf *out, const json *value)
{
    SCOPED(scoped_free) char *text = json_dump_pretty(value);
    buf_puts(out, text);
}

/* ---- what was asked, and of which machines ---- */

static int write_run(const source *s, buf *out, err *e)
{
    (void)e;
    char hex[HASH_HEX];
    const run_row *r = &s->run->row;
    SCOPED(json_destroy) json *root = json_new_object();
    hash_hex(&r->suite_hash, hex);
    json_set_str(root, "id", r->id);
    json_set_str(root, "state", run_state_name(r->state));
    json_set_int(root, "created_ms", r->created_ms);
    json_set_int(root, "finished_ms", r->finished_ms);
    json_set_str(root, "suite", r->suite);
    json_set_str(root, "suite_version", r->suite_version);
    json_set_str(root, "suite_hash", hex);
    json_set_str(root, "device", r->device);
    json_set_int(root, "seed", r->seed);
    json_set_int(root, "samples", r->samples);
    json_set_str(root, "command", r->command);
    json_set_str(root, "version", r->version);
    set_tree(root, "settings", parsed(r->settings));
    put_json(out, root);
    return 0;
}

/* The facts that differ between the tasks of a node. */
static json *seen_on(const source *s, const char *node)
{
    static const char *const keys[] = {"device", "uuid", "driver", "torch", "nvrtc"};
    static const size_t offsets[] = {
        offsetof(board_facts, device), offsetof(board_facts, device_uuid),
        offsetof(board_facts, driver), offsetof(board_facts, torch), offsetof(board_facts, nvrtc)};
    json *out = json_new_array();
    for (size_t i = 0; i < s->b->facts_count; i++) {
        const board_facts *t = s->b->facts[i];
        if (t->node == NULL || strcmp(t->node, node) != 0 || t->device == NULL)
            continue;
        json *facts = json_new_object();
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            const char *value;
            memcpy(&value, (const char *)t + offsets[k], sizeof value);
            json_set_str(facts, keys[k], value);
        }
        bool known = false;
        for (size_t k = 0; k < json_size(out); k++)
            known |= json_equal(json_at(out, k), facts);
        if (known)
            json_destroy(&facts);
        else
            json_append(out, &facts);
    }
    return out;
}

static const node_row *find_node(const source *s, const char *name)
{
    for (size_t i = 0; i < s->nodes.count; i++)
        if (strcmp(s->nodes.rows[i].name, name) == 0)
            return &s->nodes.rows[i];
    return NULL;
}

static json *node_json(const source *s, const char *name)
{
    const node_row *n = find_node(s, name);
    json *one = json_new_object();
    json_set_str(one, "node", name);
    if (n != NULL) {
        set_tree(one, "devices", parsed(n->devices));
        set_tree(one, "software", parsed(n->software));
        json_set_int(one, "told_ms", n->joined_ms);
    } else {
        json_set_null(one, "devices");
        json_set_str(one, "reason", "the node has joined again since, with what it is now");
    }
    set_tree(one, "used", seen_on(s, name));
    return one;
}

static bool is_listed(const json *list, const char *node)
{
    for (size_t i = 0; i < json_size(list); i++)
        if (strcmp(json_str(json_get(json_at(list, i), "node"), ""), node) == 0)
            return true;
    return false;
}

static int write_system(const source *s, buf *out, err *e)
{
    (void)e;
    SCOPED(json_destroy) json *root = json_new_object();
    json *list = json_new_array();
    for (size_t i = 0; i < s->b->task_count; i++) {
        const char *node = s->b->tasks[i].row->facts->node;
        if (node == NULL || is_listed(list, node))
            continue;
        json *one = node_json(s, node);
        json_append(list, &one);
    }
    json_set(root, "nodes", &list);
    put_json(out, root);
    return 0;
}

/* ---- how to do it again ---- */

static int write_script(const source *s, buf *out, err *e)
{
    (void)e;
    buf_puts(out,
             "#!/bin/sh\n# Checks this pack, then asks the same of the same entrants, with the "
             "same seed.\n# Models behind HTTP are paid again: eval asks before it does. Options "
             "that follow are passed on.\nset -eu\nhere=$(cd \"$(dirname \"$0\")\" && pwd)\n"
             "ce-coord evidence verify \"$here\"\n# suite ");
    char hex[HASH_HEX];
    hash_hex(&s->run->row.suite_hash, hex);
    buf_printf(out, "hash was %s, ce was ", hex);
    rerun_quote(out, s->run->row.version);
    buf_puts(out, "\nexec ");
    rerun_command(&s->run->row, "\"$here/" DERIVE_REPORT "/entrants.json\"", out);
    buf_puts(out, " \"$@\"\n");
    return 0;
}

/* ---- where the texts are ---- */

static void put_link(buf *out, const char *label, const hash *name)
{
    char hex[HASH_HEX];
    if (name == NULL || hash_is_zero(name))
        return;
    hash_hex(name, hex);
    buf_printf(out, " [%s](" PARCEL_BLOBS "/%s)", label, hex);
}

static int put_task_texts(store_tx *tx, const board_task *t, buf *out, err *e)
{
    SCOPED(call_list_fini) call_list calls = {0};
    SCOPED(attempt_list_fini) attempt_list attempts = {0};
    SCOPED(measurement_list_fini) measurement_list measured = {0};
    const char *id = t->row->id;
    if (call_list_read(tx, id, NULL, &calls, e) < 0 ||
        attempt_list_read(tx, id, &attempts, e) < 0 ||
        measurement_list_read(tx, id, &measured, e) < 0)
        return -1;
    for (size_t i = 0; i < calls.count; i++) {
        buf_printf(out, "\n* call %s %" PRId64 ":", calls.rows[i].stage, calls.rows[i].number);
        put_link(out, "prompt", &calls.rows[i].prompt);
        put_link(out, "answer", &calls.rows[i].answer);
    }
    for (size_t i = 0; i < attempts.count; i++) {
        const attempt_row *a = &attempts.rows[i];
        buf_printf(out, "\n* attempt %" PRId64 " (%s, %s):", a->number, a->stage,
                   outcome_name(a->result));
        put_link(out, "kernel", &a->source);
        put_link(out, "plan", &a->plan);
        put_link(out, "log", &a->log);
        put_link(out, "findings", &a->report);
    }
    for (size_t i = 0; i < measured.count; i++) {
        buf_printf(out, "\n* %s ", measured.rows[i].side);
        text_cell(out, measured.rows[i].mode);
        buf_puts(out, ":");
        put_link(out, "samples", &measured.rows[i].samples);
    }
    return 0;
}

typedef struct listing {
    const source *s;
    buf *out;
} listing;

static int list_fn(store_tx *tx, void *arg, err *e)
{
    const listing *l = arg;
    for (size_t i = 0; i < l->s->b->task_count; i++) {
        const board_task *t = &l->s->b->tasks[i];
        buf_puts(l->out, "\n## ");
        text_cell(l->out, t->row->problem);
        buf_puts(l->out, ", ");
        text_cell(l->out, l->s->b->entrants[t->entrant].row->name);
        buf_printf(l->out, ", sample %" PRId32 "\n\n", t->row->sample);
        text_outcome(l->out, t->row);
        buf_printf(l->out, ", task `%s`:", t->row->id);
        put_link(l->out, "problem text", &t->problem->prompt);
        put_link(l->out, "reference", &t->problem->reference);
        put_link(l->out, "final kernel", t->row->outcome.source);
        put_link(l->out, "final plan", t->row->outcome.plan);
        buf_puts(l->out, "\n");
        if (put_task_texts(tx, t, l->out, e) < 0)
            return -1;
        buf_puts(l->out, "\n");
    }
    return 0;
}

static int write_tasks(const source *s, buf *out, err *e)
{
    listing l = {s, out};
    buf_puts(out, "# Every task and its texts\n");
    return store_run(s->db, list_fn, &l, e);
}

/* ---- what is missing ---- */

static int write_redactions(const source *s, buf *out, err *e)
{
    (void)e;
    size_t withheld = 0;
    buf_puts(out,
             "# Redactions\n\nTexts that the run stands on and that are not in this pack:\n\n");
    for (size_t i = 0; i < s->artifacts->count; i++) {
        const json *row = s->artifacts->all[i];
        const char *why = rows_text(row, "withheld");
        if (why == NULL)
            continue;
        buf_printf(out, "* `%s`, %" PRId64 " bytes: ", rows_text(row, "hash"),
                   rows_int(row, "size"));
        text_cell(out, why);
        buf_puts(out, "\n");
        withheld++;
    }
    buf_puts(out, withheld > 0 ? "\nWhat was computed from them cannot be computed again from this "
                                 "pack; `evidence verify` counts it.\n"
                               : "None.\n");
    buf_puts(out, "\nIn `data/`, what looked like a key reads `[key removed]`.\n");
    return 0;
}

static size_t count_unscored(const board *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->task_count; i++)
        n += board_task_scored(&b->tasks[i]) ? 0 : 1;
    return n;
}

static void put_unscored(const board *b, buf *out)
{
    for (size_t i = 0; i < b->task_count; i++) {
        const board_task *t = &b->tasks[i];
        if (board_task_scored(t))
            continue;
        buf_puts(out, "  * ");
        text_cell(out, t->row->problem);
        buf_puts(out, ", ");
        text_cell(out, b->entrants[t->entrant].row->name);
        buf_printf(out, ", sample %" PRId32 ": ", t->row->sample);
        text_outcome(out, t->row);
        buf_puts(out, ": ");
        text_cell(out, t->reason);
        buf_puts(out, "\n");
    }
}

static size_t count_untimed(const board *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->task_count; i++)
        n += board_task_correct(&b->tasks[i]) && isnan(b->tasks[i].speedup) ? 1 : 0;
    return n;
}

static int write_not_tested(const source *s, buf *out, err *e)
{
    (void)e;
    const board_protocols used = s->run->protocols;
    size_t unscored = count_unscored(s->b), untimed = count_untimed(s->b);
    buf_puts(out, "# What was not tested\n\n");
    leaderboard_claims(s->b, "* ", out);
    buf_printf(out,
               "* Whatever %s%s%s leave%s out: docs/measurement.md and docs/adr/ of ce say what "
               "that is.\n",
               used.correctness, used.timing != NULL ? " and " : "",
               used.timing != NULL ? used.timing : "", used.timing != NULL ? "" : "s");
    buf_printf(out, "* %zu of %zu tasks have no scored outcome%s\n", unscored, s->b->task_count,
               unscored > 0 ? ":" : ".");
    put_unscored(s->b, out);
    buf_printf(out, "* %zu correct kernels have no speedup.\n", untimed);
    buf_puts(
        out,
        "* No second machine has repeated the run: reproduce.sh does it.\n"
        "* Other shapes, dtypes and devices than those in data/problem.jsonl and system.json.\n"
        "* Clocks, power and temperature are what the records hold, no more.\n"
        "* A pack proves that its figures follow from its data, not that the data were "
        "measured: that rests on who signed it.\n");
    return 0;
}

/* ---- all ---- */

typedef int write_fn(const source *s, buf *out, err *e);

static const struct {
    const char *path;
    write_fn *write;
} files[] = {
    {"run.json", write_run},
    {"system.json", write_system},
    {"reproduce.sh", write_script},
    {"tasks.md", write_tasks},
    {"redactions.md", write_redactions},
    {"not-tested.md", write_not_tested},
};

static int write_all(const source *s, const char *folder, err *e)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        SCOPED(buf_fini) buf text = {0};
        buf_init(&text, TEXT_REPORT_MAX);
        if (files[i].write(s, &text, e) < 0 || parcel_put(folder, files[i].path, &text, e) < 0)
            return err_wrap(e, "%s", files[i].path);
    }
    return 0;
}

static int nodes_fn(store_tx *tx, void *arg, err *e)
{
    return node_list_read(tx, arg, e);
}

static void source_fini(source *s)
{
    node_list_fini(&s->nodes);
    rows_destroy(&s->artifacts);
}

static int read_source(source *s, const char *data, err *e)
{
    SCOPED(scoped_free) char *index = file_join(data, PARCEL_INDEX);
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_REPORT_MAX);
    if (file_read(index, &text, e) < 0 || store_run(s->db, nodes_fn, &s->nodes, e) < 0)
        return -1;
    s->artifacts = rows_create(buf_text(&text), e);
    return s->artifacts != NULL ? 0 : -1;
}

int derive_write(struct store *db, const char *run, const char *data, const char *folder, err *e)
{
    SCOPED(scoped_free) char *report = file_join(folder, DERIVE_REPORT);
    const board_ask ask = {.runs = &run, .run_count = 1};
    SCOPED(board_destroy) board *b = board_read(db, &ask, e);
    const report_ask whole = {.run = run};
    if (b == NULL || report_write_all(db, &whole, report, e) < 0)
        return -1;
    SCOPED(source_fini) source s = {.b = b, .run = &b->runs[0], .db = db};
    return read_source(&s, data, e) < 0 ? -1 : write_all(&s, folder, e);
}
