/* cmd_nightly - ce-coord nightly: a night by its configuration
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/night.h"
#include "coordinator/survey.h"
#include "suites/kernelbench.h"

typedef struct options {
    const char *config, *accept, *http;
    bool dry_run, list, overdue, json;
} options;

#define AT(member) offsetof(options, member)

static const cli_option table[] = {
    {.name = "config",
     .type = CLI_STR,
     .offset = AT(config),
     .value = "F",
     .help = "what a night is: a YAML file (docs/nightly.md; deploy/nightly.yaml is one to copy)"},
    {.name = "dry-run",
     .type = CLI_FLAG,
     .offset = AT(dry_run),
     .help = "check the file, print what would be done and may be spent, start nothing"},
    {.name = "list",
     .type = CLI_FLAG,
     .offset = AT(list),
     .help = "print the nights of the series, newest first"},
    {.name = "overdue",
     .type = CLI_FLAG,
     .offset = AT(overdue),
     .help = "was there a good night in the last overdue_hours? exit 3 and a call of the hook: no"},
    {.name = "accept",
     .type = CLI_STR,
     .offset = AT(accept),
     .value = "NIGHT",
     .help = "a changed machine or suite is the new normal: hold later nights against this one "
             "(`latest` or its number)"},
    {.name = "http",
     .type = CLI_STR,
     .offset = AT(http),
     .value = "ADDR",
     .help = "serve the live page, and /metrics, at PORT or HOST:PORT while the night goes on"},
    {.name = "json", .type = CLI_FLAG, .offset = AT(json), .help = "print night.json to stdout"},
    {.name = NULL}};

static const cli_command command = {
    .name = "nightly",
    .summary = "run a night: suites x entrants, canaries, gate against the last good nights, "
               "report, evidence (exit 3: worse)",
    .arguments = "",
    .examples = "ce-coord nightly --config nightly.yaml --dry-run\n"
                "ce-coord nightly --config nightly.yaml\n"
                "ce-coord nightly --config nightly.yaml --list\n"
                "ce-coord nightly --config nightly.yaml --overdue\n"
                "ce-coord nightly --config nightly.yaml --accept latest\n",
    .options = table};

/* "1/19" is how people write a problem of KernelBench. */
static void prepare_checkout(settings *s, const char *db)
{
    for (size_t i = 0; i < s->only_count; i++) {
        SCOPED(scoped_free) char *word = s->only[i].name;
        s->only[i].name = kernelbench_id(word);
    }
    s->found = s->root ? survey_found(db) : NULL;
}

static int choose(const options *o, const night_request *request, err *e)
{
    if ((o->dry_run ? 1 : 0) + (o->list ? 1 : 0) + (o->overdue ? 1 : 0) + (o->accept ? 1 : 0) > 1)
        return err_set(e, ERR_USAGE, "one of --dry-run, --list, --overdue, --accept at a time");
    if (o->dry_run)
        return night_dry_run(request, e);
    if (o->list)
        return night_list_print(request, e);
    if (o->overdue)
        return night_overdue(request, e);
    return o->accept ? night_take(request, o->accept, e) : night_run(request, e);
}

static int run_nightly(const cmd_call *call, err *e)
{
    const options *o = call->options;
    const cmd_program *program = call->program;
    if (!o->config)
        return err_set(e, ERR_USAGE, "--config F is needed (deploy/nightly.yaml is one to copy)");
    SCOPED(night_config_destroy) night_config *config = night_config_load(o->config, e);
    SCOPED(scoped_free) char *db = config ? cmd_db_path(program, config->db, e) : NULL;
    SCOPED(scoped_free) char *keys = db ? cmd_keys_path(program, config->keys, NULL) : NULL;
    if (!db)
        return -1;
    SCOPED(scoped_free) char *typed = cmd_typed(call);
    prepare_checkout(&config->run, db);
    const night_request request = {.config = config,
                                   .db = db,
                                   .keys = keys,
                                   .program = call->argv[0],
                                   .command = typed,
                                   .version = program->version,
                                   .http = o->http,
                                   .http_token = program->http_token,
                                   .environment = program->environment,
                                   .term = program->term,
                                   .json = o->json};
    return choose(o, &request, e);
}

const cmd_entry cmd_nightly = {
    .cli = &command, .options_size = sizeof(options), .run = run_nightly};
