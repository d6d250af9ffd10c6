/* evidence - a run as a folder that anybody can check
 *
 * Reports are a pure function of the database, and a pack holds a run's slice of it as text. So packing
 * reads that text back into a fresh database and writes the reports from there, and verifying does the
 * same and compares bytes.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/subproc.h"
#include "common/xalloc.h"
#include "reports/board.h"
#include "reports/checkout.h"
#include "reports/closure.h"
#include "reports/derive.h"
#include "reports/folder.h"
#include "reports/leaderboard.h"
#include "reports/manifest.h"
#include "reports/rerun.h"
#include "reports/rows.h"
#include "reports/text.h"
#include "store/run.h"

#define CODE_FILE "code.json"
#define CODE_DIFF "code.diff"

enum { VERSION_MAX = 256, DEADLINE_MS = 10000 };

/* ---- packing ---- */

static int prepare(const char *folder, err *e)
{
    SCOPED(folder_list_fini) folder_list there = {0};
    if (file_mkdirs(folder, e) < 0 || folder_read(folder, &there, e) < 0)
        return -1;
    return there.count == 0
               ? 0
               : err_set(e, ERR_USAGE, "%s is not empty: a pack needs a folder of its own", folder);
}

static int put_json(const char *folder, const char *path, const json *value, err *e)
{
    SCOPED(scoped_free) char *text = json_dump_pretty(value);
    SCOPED(buf_fini) buf bytes = {0};
    buf_init(&bytes, TEXT_REPORT_MAX);
    buf_puts(&bytes, text);
    return parcel_put(folder, path, &bytes, e);
}

static int put_diff(const evidence_order *order, const checkout *code, json *facts, err *e)
{
    SCOPED(buf_fini) buf clean = {0};
    buf_init(&clean, TEXT_REPORT_MAX);
    json_set_str(facts, "commit", buf_text(&code->commit));
    json_set_bool(facts, "dirty", code->status.size > 0);
    json_set_str(facts, "status", buf_text(&code->status));
    if (code->diff.size == 0)
        return 0;
    keyscan_mask(order->secrets, buf_text(&code->diff), code->diff.size, &clean);
    json_set_str(facts, "diff", CODE_DIFF);
    return parcel_put(order->folder, CODE_DIFF, &clean, e);
}

static int put_code(const evidence_order *order, err *e)
{
    SCOPED(json_destroy) json *facts = json_new_object();
    SCOPED(checkout_fini) checkout code = {0};
    json_set_str(facts, "packed_by", order->version);
    if (order->source == NULL) {
        json_set_null(facts, "commit");
        json_set_str(facts, "reason", "not told: --source names the checkout");
    } else if (checkout_read(order->source, order->environment, &code, e) < 0 ||
               put_diff(order, &code, facts, e) < 0) {
        return -1;
    }
    return put_json(order->folder, CODE_FILE, facts, e);
}

/* "gnuplot 5.4 patchlevel 4"; empty without one. */
static void gnuplot_version(buf *out)
{
    const char *const argv[] = {"gnuplot", "--version", NULL};
    const subproc_options options = {.argv = argv};
    SCOPED(buf_fini) buf words = {0};
    int status = 0;
    buf_init(out, VERSION_MAX);
    buf_init(&words, VERSION_MAX);
    if (subproc_run(&options, DEADLINE_MS, out, &words, &status, NULL) < 0 || status != 0)
        buf_clear(out);
    else if (out->size > 0)
        out->data[strcspn(out->data, "\n")] = '\0';
}

static int put_manifest(const evidence_order *order, const evidence_pack *pack, err *e)
{
    SCOPED(json_destroy) json *about = json_new_object();
    SCOPED(buf_fini) buf gnuplot = {0};
    gnuplot_version(&gnuplot);
    json_set_str(about, "run", pack->counts.run);
    json_set_str(about, "packed_by", order->version);
    json_set_str(about, "gnuplot", gnuplot.size > 0 ? buf_text(&gnuplot) : NULL);
    json_set_bool(about, "signed", order->key != NULL);
    json_set_int(about, "withheld", (int64_t)pack->counts.withheld);
    return manifest_write(order->folder, about, e);
}

static int sign(const evidence_order *order, err *e)
{
    SCOPED(scoped_free) char *path = file_join(order->folder, MANIFEST_FILE);
    return order->key == NULL ? 0 : signature_make(path, order->key, order->environment, e);
}

static int derive(const evidence_order *order, const evidence_pack *pack, err *e)
{
    SCOPED(parcel_close) parcel data = {.db = NULL};
    if (parcel_open(order->folder, &data, e) < 0)
        return err_wrap(e, "reading back what was packed");
    return derive_write(data.db, pack->counts.run, order->folder, order->folder, e);
}

int evidence_write(store *db, const evidence_order *order, evidence_pack *out, err *e)
{
    if (prepare(order->folder, e) < 0 ||
        parcel_write(db, order->run, order->secrets, order->folder, &out->counts, e) < 0 ||
        put_code(order, e) < 0 || derive(order, out, e) < 0 || put_manifest(order, out, e) < 0 ||
        sign(order, e) < 0)
        return -1;
    SCOPED(manifest_destroy) manifest *made = manifest_read(order->folder, e);
    if (made == NULL)
        return -1;
    out->manifest = *manifest_hash(made);
    return 0;
}

/* ---- the page ---- */

static void put_page(const board *b, const char *folder, const hash *own, buf *out)
{
    char hex[HASH_HEX];
    hash_hex(own, hex);
    buf_puts(out, "# Evidence: ");
    text_cell(out, b->runs[0].row.suite);
    buf_puts(out, ", run ");
    text_cell(out, b->runs[0].row.id);
    buf_puts(out, "\n\nThe pack ");
    text_cell(out, folder);
    buf_printf(out,
               " holds everything that the figures below follow from: prompts, answers, kernels, "
               "raw samples.\n\n```sh\nce-coord evidence verify ");
    rerun_quote(out, folder);
    buf_printf(out, " --manifest %s\n```\n\n", hex);
}

int evidence_document(const char *folder, buf *out, err *e)
{
    SCOPED(parcel_close) parcel data = {.db = NULL};
    SCOPED(manifest_destroy) manifest *made = manifest_read(folder, e);
    if (made == NULL || parcel_open(folder, &data, e) < 0)
        return -1;
    const char *run = data.counts.run;
    const board_ask ask = {.runs = &run, .run_count = 1};
    SCOPED(board_destroy) board *b = board_read(data.db, &ask, e);
    if (b == NULL)
        return -1;
    SCOPED(scoped_free) char *missing = file_join(folder, "not-tested.md");
    put_page(b, folder, manifest_hash(made), out);
    if (file_read(missing, out, e) < 0)
        return -1;
    buf_puts(out, "\n");
    SCOPED(figures_destroy) figures *f = figures_create(b);
    leaderboard_write(f, false, out);
    return 0;
}

/* ---- verifying ---- */

typedef struct check {
    const evidence_ask *ask;
    evidence_verdict *out;
    buf *findings;
    manifest *listed;
    parcel data;
} check;

static void check_fini(check *self)
{
    manifest_destroy(&self->listed);
    parcel_close(&self->data);
}

static void find(check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void find(check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vprintf(c->findings, format, args);
    va_end(args);
    buf_puts(c->findings, "\n");
    c->out->findings++;
}

/* What is wrong with the pack is a finding; that we cannot look is an error. */
static int blame(check *c, const err *why, err *e)
{
    switch (why->code) {
    case ERR_USAGE:
    case ERR_CONFIG:
    case ERR_PROTOCOL:
    case ERR_CONFLICT:
    case ERR_NOT_FOUND:
        find(c, "%s", why->text);
        return 0;
    case ERR_NONE:
    case ERR_TIMEOUT:
    case ERR_LIMIT:
    case ERR_UNAVAILABLE:
    case ERR_DENIED:
    case ERR_GPU:
    case ERR_SYSTEM:
    case ERR_INTERNAL:
        break;
    }
    return err_set(e, why->code, "%s", why->text);
}

static int check_files(check *c, err *e)
{
    struct stat facts;
    err why = {0};
    size_t n = 0;
    if (stat(c->ask->folder, &facts) < 0)
        return err_errno(e, errno, "%s", c->ask->folder);
    c->listed = manifest_read(c->ask->folder, &why);
    if (c->listed == NULL)
        return blame(c, &why, e);
    c->out->manifest = *manifest_hash(c->listed);
    if (c->ask->manifest != NULL && !hash_equal(c->ask->manifest, &c->out->manifest))
        find(c, MANIFEST_FILE " does not have the hash that was asked for: it is another pack");
    if (manifest_check(c->listed, c->ask->folder, &n, c->findings, &why) < 0)
        return blame(c, &why, e);
    c->out->findings += n;
    return 0;
}

static int check_signature(check *c, err *e)
{
    SCOPED(scoped_free) char *path = file_join(c->ask->folder, MANIFEST_FILE);
    SCOPED(scoped_free) char *sig = file_join(c->ask->folder, MANIFEST_SIGNATURE);
    bool there = file_exists(sig);
    bool promised = json_bool(json_get(manifest_about(c->listed), "signed"), false);
    err why = {0};
    c->out->is_signed = there;
    if (promised && !there)
        find(c, MANIFEST_SIGNATURE ": missing, and the manifest says that it is signed");
    else if (!promised && there)
        find(c, MANIFEST_SIGNATURE ": the manifest says that it is not signed");
    else if (!there && c->ask->signer.signers != NULL)
        find(c, "the pack is not signed");
    else if (there && signature_check(path, &c->ask->signer, &why) < 0)
        return blame(c, &why, e);
    return 0;
}

/* ---- verifying: the same figures again ---- */

/* The number of the first line that differs. */
static size_t first_difference(const buf *a, const buf *b)
{
    size_t line = 1;
    for (size_t i = 0; i < a->size && i < b->size && a->data[i] == b->data[i]; i++)
        line += a->data[i] == '\n' ? 1 : 0;
    return line;
}

static int compare_file(check *c, const char *fresh, const char *path, err *e)
{
    SCOPED(buf_fini) buf packed = {0};
    SCOPED(buf_fini) buf again = {0};
    if (folder_text(c->ask->folder, path, TEXT_REPORT_MAX, &packed, e) < 0 ||
        folder_text(fresh, path, TEXT_REPORT_MAX, &again, e) < 0)
        return -1;
    if (packed.size == again.size && memcmp(buf_text(&packed), buf_text(&again), again.size) == 0)
        return 0;
    find(c, "%s: line %zu is not what the data of the pack give", path,
         first_difference(&packed, &again));
    return 0;
}

/* Not computed from the data. */
static bool is_given(const char *path)
{
    static const char *const names[] = {MANIFEST_FILE, MANIFEST_SIGNATURE, CODE_FILE, CODE_DIFF};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(path, names[i]) == 0)
            return true;
    return str_starts(path, PARCEL_BLOBS "/") || strcmp(path, PARCEL_INDEX) == 0;
}

/* A picture is drawn by gnuplot: only by the same version is it the same. */
static bool same_gnuplot(check *c)
{
    SCOPED(buf_fini) buf ours = {0};
    gnuplot_version(&ours);
    const char *theirs = json_str(json_get(manifest_about(c->listed), "gnuplot"), "");
    if (strcmp(buf_text(&ours), theirs) == 0)
        return true;
    buf_printf(c->out->notes,
               "the pictures were drawn by \"%s\" and are not drawn again by \"%s\"; "
               "their data are compared\n",
               theirs, buf_text(&ours));
    return false;
}

static int compare_files(check *c, const char *fresh, err *e)
{
    SCOPED(folder_list_fini) folder_list packed = {0};
    SCOPED(folder_list_fini) folder_list again = {0};
    bool pictures = same_gnuplot(c);
    if (folder_read(c->ask->folder, &packed, e) < 0 || folder_read(fresh, &again, e) < 0)
        return -1;
    for (size_t i = 0; i < again.count; i++) {
        const char *path = again.paths[i];
        if (str_ends(path, ".svg") && !pictures)
            continue;
        if (!folder_has(&packed, path))
            find(c, "%s: missing: the data of the pack give such a file", path);
        else if (compare_file(c, fresh, path, e) < 0)
            return -1;
    }
    for (size_t i = 0; i < packed.count; i++) {
        const char *path = packed.paths[i];
        bool drawn = str_ends(path, ".svg") && !pictures;
        if (!is_given(path) && !drawn && !folder_has(&again, path))
            find(c, "%s: too many: nothing in the data gives such a file", path);
    }
    return 0;
}

/* Data and derived files once more, in a folder beside the fresh database. */
static int write_again(check *c, char **fresh, err *e)
{
    parcel_counts counts;
    *fresh = file_join(c->data.folder, "again");
    SCOPED(scoped_free) char *blobs = file_join(*fresh, PARCEL_BLOBS);
    SCOPED(scoped_free) char *index = file_join(*fresh, PARCEL_INDEX);
    if (file_mkdirs(*fresh, e) < 0 ||
        parcel_write(c->data.db, c->data.counts.run, NULL, *fresh, &counts, e) < 0 ||
        derive_write(c->data.db, c->data.counts.run, c->ask->folder, *fresh, e) < 0)
        return -1;
    if (counts.blobs != c->data.counts.blobs)
        find(c, PARCEL_INDEX ": %zu artifacts, but the run stands on %zu", c->data.counts.blobs,
             counts.blobs);
    return file_remove_tree(blobs, e) < 0 || file_remove_tree(index, e) < 0 ? -1 : 0;
}

static int withheld_fn(store_tx *tx, void *arg, err *e)
{
    check *c = arg;
    SCOPED(run_row_fini) run_row run = {0};
    SCOPED(buf_fini) buf text = {0};
    if (run_find(tx, c->data.counts.run, &run, e) < 0 ||
        folder_text(c->ask->folder, PARCEL_INDEX, TEXT_REPORT_MAX, &text, e) < 0)
        return -1;
    SCOPED(rows_destroy) rows *index = rows_create(buf_text(&text), e);
    for (size_t i = 0; index != NULL && i < index->count; i++) {
        const char *why = rows_text(index->all[i], "withheld");
        bool redacted = why != NULL && strcmp(why, CLOSURE_REDACTED) == 0;
        if (why != NULL && !redacted && strcmp(why, CLOSURE_KEY) != 0)
            find(c, PARCEL_INDEX ": \"%.40s\" is no reason to withhold a text", why);
        if (redacted && run.redacted_ms == 0)
            find(c, PARCEL_INDEX ": %.12s is withheld as redacted, but the run was not redacted",
                 rows_text(index->all[i], "hash"));
    }
    return index != NULL ? 0 : -1;
}

static void note_withheld(check *c)
{
    if (c->data.counts.withheld > 0)
        buf_printf(c->out->notes,
                   "%zu texts are withheld (redactions.md); %zu records and sample "
                   "lists could not be looked at\n",
                   c->data.counts.withheld, c->out->audit.withheld);
    const char *by = json_str(json_get(manifest_about(c->listed), "packed_by"), "");
    if (strcmp(by, c->ask->version) != 0)
        buf_printf(c->out->notes,
                   "packed by ce %s, verified by ce %s: where only the wording of a "
                   "report differs, use that version\n",
                   by, c->ask->version);
}

static int check_figures(check *c, err *e)
{
    SCOPED(scoped_free) char *fresh = NULL;
    err why = {0};
    if (parcel_open(c->ask->folder, &c->data, &why) < 0)
        return blame(c, &why, e);
    c->out->counts = c->data.counts;
    if (strcmp(c->data.counts.run, json_str(json_get(manifest_about(c->listed), "run"), "")) != 0)
        find(c, MANIFEST_FILE ": the run in the data is %s", c->data.counts.run);
    if (store_run(c->data.db, withheld_fn, c, &why) < 0 ||
        audit_run(c->data.db, c->data.counts.run, &c->out->audit, c->findings, &why) < 0)
        return blame(c, &why, e);
    c->out->findings += c->out->audit.findings;
    if (write_again(c, &fresh, &why) < 0 || compare_files(c, fresh, &why) < 0)
        return blame(c, &why, e);
    note_withheld(c);
    return 0;
}

/* Figures are looked at once every byte is the one that was packed. */
int evidence_verify(const evidence_ask *ask, evidence_verdict *out, buf *findings, err *e)
{
    SCOPED(check_fini) check c = {.ask = ask, .out = out, .findings = findings};
    if (check_files(&c, e) < 0)
        return -1;
    if (c.listed == NULL)
        return 0;
    if (check_signature(&c, e) < 0)
        return -1;
    return out->findings > 0 ? 0 : check_figures(&c, e);
}
