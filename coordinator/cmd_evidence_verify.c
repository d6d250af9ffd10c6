/* cmd_evidence_verify - ce-coord evidence verify: does a pack hold?
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "reports/evidence.h"
#include "reports/text.h"

enum { NOTES_MAX = 64 * 1024 };

typedef struct options {
    const char *manifest, *signers, *identity;
} options;

static const cli_option table[] = {
    {.name = "manifest",
     .type = CLI_STR,
     .offset = offsetof(options, manifest),
     .value = "HASH",
     .help = "the manifest must have this hash, as a page or a board tells it"},
    {.name = "signers",
     .type = CLI_STR,
     .offset = offsetof(options, signers),
     .value = "FILE",
     .help = "ssh's file of allowed signers; with --identity"},
    {.name = "identity",
     .type = CLI_STR,
     .offset = offsetof(options, identity),
     .value = "NAME",
     .help = "who of them must have signed"},
    {.name = NULL}};

static const cli_command command = {
    .name = "evidence verify",
    .summary = "check a pack, offline: every byte, every figure (exit 3: it does not hold)",
    .arguments = "DIR",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples = "ce-coord evidence verify pack\n"
                "ce-coord evidence verify pack --signers allowed --identity me@example.org\n",
    .options = table};

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
    printf("computed again: %zu tasks, %zu speedups, %zu comparisons, %zu medians, %zu stages, %zu "
           "calls; every "
           "report\n",
           v->audit.tasks, v->audit.speedups, v->audit.comparisons, v->audit.medians,
           v->audit.stages, v->audit.calls);
}

static int run_verify(const cmd_call *call, err *e)
{
    const options *o = call->options;
    hash wanted;
    if (o->manifest != NULL && !hash_parse(o->manifest, &wanted))
        return err_set(e, ERR_USAGE, "--manifest %s: want 64 hex digits", o->manifest);
    if ((o->signers == NULL) != (o->identity == NULL))
        return err_set(e, ERR_USAGE, "--signers and --identity go together");
    SCOPED(buf_fini) buf findings = {0};
    SCOPED(buf_fini) buf notes = {0};
    buf_init(&findings, TEXT_REPORT_MAX);
    buf_init(&notes, NOTES_MAX);
    const evidence_ask ask = {.folder = call->arguments[0],
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

const cmd_entry cmd_evidence_verify = {
    .cli = &command, .options_size = sizeof(options), .run = run_verify};
