/* cmd_evidence_pack - ce-coord evidence pack: a run as a folder that anybody can check
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "coordinator/keys.h"
#include "reports/evidence.h"
#include "reports/report.h"
#include "reports/text.h"
#include "store/store.h"

typedef struct options {
    const char *db, *out, *doc, *sign, *source;
} options;

static const cli_option table[] = {
    {.name = "out",
     .type = CLI_STR,
     .offset = offsetof(options, out),
     .value = "DIR",
     .help = "folder to write, new or empty"},
    {.name = "doc",
     .type = CLI_STR,
     .offset = offsetof(options, doc),
     .value = "F",
     .help = "also write a page with the board and how to check it (docs/evidence/NAME.md)"},
    {.name = "source",
     .type = CLI_STR,
     .offset = offsetof(options, source),
     .value = "DIR",
     .help = "git checkout that the programs were built from: its commit and what was changed"},
    {.name = "sign",
     .type = CLI_STR,
     .offset = offsetof(options, sign),
     .value = "KEY",
     .help = "sign the manifest with an ssh key (without a passphrase, or in ssh-agent)"},
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {
    .name = "evidence pack",
    .summary = "pack a run into a folder that anybody can check with `evidence verify`",
    .arguments = "RUN",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples = "ce-coord evidence pack latest --out pack --doc docs/evidence/first.md\n"
                "ce-coord evidence pack 01jd --out pack --source . --sign ~/.ssh/id_ed25519\n",
    .options = table};

static int write_page(const options *o, err *e)
{
    if (o->doc == NULL)
        return 0;
    SCOPED(buf_fini) buf page = {0};
    buf_init(&page, TEXT_REPORT_MAX);
    return evidence_document(o->out, &page, e) < 0 ? -1 : report_print(&page, o->doc, e);
}

static int run_pack(const cmd_call *call, err *e)
{
    const options *o = call->options;
    char hex[HASH_HEX];
    evidence_pack made = {0};
    if (o->out == NULL)
        return err_set(e, ERR_USAGE, "--out DIR is needed");
    SCOPED(keys_destroy) keys *known = keys_create(call->program->environment);
    const evidence_order order = {.run = call->arguments[0],
                                  .folder = o->out,
                                  .version = call->program->version,
                                  .source = o->source,
                                  .key = o->sign,
                                  .secrets = keys_values(known),
                                  .environment = call->program->environment};
    if (evidence_write(call->store, &order, &made, e) < 0 || write_page(o, e) < 0)
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

const cmd_entry cmd_evidence_pack = {.cli = &command,
                                     .options_size = sizeof(options),
                                     .db_offset = offsetof(options, db),
                                     .flags = CMD_DB | CMD_STORE_READ,
                                     .run = run_pack};
