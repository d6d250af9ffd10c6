/* cmd_redact - ce-coord redact: take references and transcripts out of a run
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "coordinator/redact.h"

typedef struct options {
    const char *db;
    bool yes;
} options;

static const cli_option table[] = {{.name = "yes",
                                    .type = CLI_FLAG,
                                    .offset = offsetof(options, yes),
                                    .help = "remove without a question"},
                                   CMD_OPTION_DB(options),
                                   {.name = NULL}};

static const cli_command command = {
    .name = "redact",
    .summary = "remove a run's references, prompts and answers from the database for good; hashes, "
               "scores, kernels, logs and measurements stay",
    .arguments = "RUN",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples = "ce-coord redact latest\nce-coord redact 01jdq --yes\n",
    .options = table};

static void describe(const redact_plan *plan, FILE *out)
{
    fprintf(out, "run %s: %lld texts go (references, prompts, answers); hashes, scores, kernels, ",
            plan->run, (long long)plan->counts.texts);
    fprintf(out, "logs and measurements stay\n");
    if (plan->counts.shared)
        fprintf(out, "%lld texts stay: a kernel or another run is the same text\n",
                (long long)plan->counts.shared);
    if (!plan->finished && !plan->already)
        fprintf(out, "the run is not complete: it cannot be resumed afterwards\n");
}

static int confirm(const redact_plan *plan, bool yes, bool *go, err *e)
{
    *go = true;
    if (yes || plan->counts.texts == 0)
        return 0;
    if (isatty(STDIN_FILENO) != 1)
        return err_set(e, ERR_USAGE,
                       "%lld texts of run %s would be removed for good: say --yes to do it without "
                       "a question",
                       (long long)plan->counts.texts, plan->run);
    describe(plan, stderr);
    fprintf(stderr, "There is no way back. Remove them? [y/N] ");
    fflush(stderr);
    char answer[16] = "";
    *go = fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
    return 0;
}

/* Removes in a store of its own, which is closed before the file is rewritten. */
static int remove_texts(const cmd_call *call, bool yes, redact_plan *plan, bool *go, err *e)
{
    SCOPED(store_destroy) store *s = store_open(call->db, STORE_OWN, e);
    if (!s || redact_look(s, call->arguments[0], plan, e) || confirm(plan, yes, go, e))
        return -1;
    return *go ? redact_do(s, plan->run, clock_wall_ms(), plan, e) : 0;
}

static int run_redact(const cmd_call *call, err *e)
{
    const options *o = call->options;
    redact_plan plan = {.finished = false};
    bool go = false;
    if (!file_exists(call->db))
        return err_set(e, ERR_NOT_FOUND, "there is no database %s", call->db);
    if (remove_texts(call, o->yes, &plan, &go, e))
        return -1;
    if (!go) {
        fprintf(stderr, "nothing was removed\n");
        return CMD_EXIT_COMPLETE;
    }
    if (redact_compact(call->db, e))
        return err_wrap(e, "the texts are removed, but traces may be left in the file");
    printf("run %s is redacted: %lld texts removed%s\n", plan.run, (long long)plan.counts.texts,
           plan.already ? " (it was redacted before)" : "");
    if (plan.counts.shared)
        printf("%lld texts stay: a kernel or another run is the same text\n",
               (long long)plan.counts.shared);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_redact = {.cli = &command,
                              .options_size = sizeof(options),
                              .db_offset = offsetof(options, db),
                              .flags = CMD_DB,
                              .run = run_redact};
