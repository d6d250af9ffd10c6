/* cmd_evidence - ce-coord evidence: a run as a folder that anybody can check
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/keys.h"
#include "reports/evidence.h"
#include "reports/report.h"
#include "reports/text.h"
#include "store/store.h"

enum { NOTES_MAX = 64 * 1024 };

typedef struct options {
    const char *db, *out, *doc, *sign, *source, *manifest, *signers, *identity;
} options;

static const cli_option table[] = {
    {.name = "out",
     .type = CLI_STR,
     .offset = offsetof(options, out),
     .value = "DIR",
     .help = "pack: folder to write, new or empty"},
    {.name = "doc",
     .type = CLI_STR,
     .offset = offsetof(options, doc),
     .value = "F",
     .help = "pack: also write a page with the board and how to check it (docs/evidence/NAME.md)"},
    {.name = "source",
     .type = CLI_STR,
     .offset = offsetof(options, source),
     .value = "DIR",
     .help =
         "pack: git checkout that the programs were built from: its commit and what was changed"},
    {.name = "sign",
     .type = CLI_STR,
     .offset = offsetof(options, sign),
     .value = "KEY",
     .help = "pack: sign the manifest with an ssh key (without a passphrase, or in ssh-agent)"},
    {.name = "manifest",
     .type = CLI_STR,
     .offset = offsetof(options, manifest),
     .value = "HASH",
     .help = "verify: the manifest must have this hash, as a page or a board tells it"},
    {.name = "signers",
     .type = CLI_STR,
     .offset = offsetof(options, signers),
     .value = "FILE",
     .help = "verify: ssh's file of allowed signers; with --identity"},
    {.name = "identity",
     .type = CLI_STR,
     .offset = offsetof(options, identity),
     .value = "NAME",
     .help = "verify: who of them must have signed"},
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {
    .name = "evidence",
    .summary =
        "pack a run into a folder that anybody can check, or check one (exit 3: it does not hold)",
    .arguments = "pack RUN | verify DIR",
    .arguments_min = 2,
    .arguments_max = 2,
    .examples = "ce-coord evidence pack latest --out pack --doc docs/evidence/first.md\n"
                "ce-coord evidence pack 01jd --out pack --source . --sign ~/.ssh/id_ed25519\n"
                "ce-coord evidence verify pack\n"
                "ce-coord evidence verify pack --signers allowed --identity me@example.org\n",
    .options = table};

/* ---- pack ---- */

static int write_page(const options *o, err *e)
{
    if (o->doc == NULL)
        return 0;
    SCOPED(buf_fini) buf page = {0};
    buf_init(&page, TEXT_REPORT_MAX);
    return evidence_document(o->out, &page, e) < 0 ? -1 : report_print(&page, o->doc, e);
}

static int pack(const cmd_call *call, const options *o, err *e)
{
    char hex[HASH_HEX];
    evidence_pack made = {0};
    if (o->out == NULL)
        return err_set(e, ERR_USAGE, "pack needs --out DIR");
    SCOPED(store_destroy) store *db = store_open(call->db, STORE_READ, e);
    SCOPED(keys_destroy) keys *known = keys_create(call->program->environment);
    const evidence_order order = {.run = call->arguments[1],
                                  .folder = o->out,
                                  .version = call->program->version,
                                  .source = o->source,
                                  .key = o->sign,
                                  .secrets = keys_values(known),
                                  .environment = call->program->environment};
    if (db == NULL || evidence_write(db, &order, &made, e) < 0 || write_page(o, e) < 0)
        return -1;
    hash_hex(&made.manifest, hex);
    printf("run %s is packed in %s\nmanifest %s%s\n%zu texts", made.counts.run, o->out, hex,
           o->sign != NULL ? ", signed" : "", made.counts.blobs);
    if (made.counts.withheld + made.counts.masked > 0)
        printf("; %zu withheld, %zu keys removed from rows (redactions.md)", made.counts.withheld,
               made.counts.masked);
    printf("\n");
    return CMD_EXIT_COMPLETE;
}

/* ---- verify ---- */

static void print_verdict(const evidence_verdict *v, const buf *findings, const char *folder)
{
    char hex[HASH_HEX];
    hash_hex(&v->manifest, hex);
    if (v->findings > 0) {
        printf("%s does NOT hold: %zu finding%s\n%s", folder, v->findings,
               v->findings == 1 ? "" : "s", buf_text(findings));
        return;
    }
    printf("%s holds: run %s\nmanifest %s, %s\n", folder, v->counts.run, hex,
           v->is_signed ? "signed" : "not signed");
    printf("computed again: %zu tasks, %zu speedups, %zu medians, %zu stages, %zu calls; every "
           "report\n",
           v->audit.tasks, v->audit.speedups, v->audit.medians, v->audit.stages, v->audit.calls);
}

static int verify(const cmd_call *call, const options *o, err *e)
{
    hash wanted;
    if (o->manifest != NULL && !hash_parse(o->manifest, &wanted))
        return err_set(e, ERR_USAGE, "--manifest %s: want 64 hex digits", o->manifest);
    if ((o->signers == NULL) != (o->identity == NULL))
        return err_set(e, ERR_USAGE, "--signers and --identity go together");
    SCOPED(buf_fini) buf findings = {0};
    SCOPED(buf_fini) buf notes = {0};
    buf_init(&findings, TEXT_REPORT_MAX);
    buf_init(&notes, NOTES_MAX);
    const evidence_ask ask = {.folder = call->arguments[1],
                              .version = call->program->version,
                              .manifest = o->manifest != NULL ? &wanted : NULL,
                              .signer = {o->signers, o->identity}};
    evidence_verdict verdict = {.notes = &notes};
    if (evidence_verify(&ask, &verdict, &findings, e) < 0)
        return -1;
    print_verdict(&verdict, &findings, ask.folder);
    fputs(buf_text(&notes), stdout);
    return verdict.findings > 0 ? CMD_EXIT_NO : CMD_EXIT_COMPLETE;
}

/* ---- which ---- */

static int run_evidence(const cmd_call *call, err *e)
{
    const options *o = call->options;
    if (strcmp(call->arguments[0], "pack") == 0)
        return o->manifest != NULL || o->signers != NULL || o->identity != NULL
                   ? err_set(e, ERR_USAGE, "--manifest, --signers and --identity go with verify")
                   : pack(call, o, e);
    if (strcmp(call->arguments[0], "verify") == 0)
        return o->out != NULL || o->doc != NULL || o->sign != NULL || o->source != NULL
                   ? err_set(e, ERR_USAGE, "--out, --doc, --sign and --source go with pack")
                   : verify(call, o, e);
    return err_set(e, ERR_USAGE, "%s: pack RUN or verify DIR", call->arguments[0]);
}

const cmd_entry cmd_evidence = {.cli = &command,
                                .options_size = sizeof(options),
                                .db_offset = offsetof(options, db),
                                .flags = CMD_DB,
                                .run = run_evidence};
