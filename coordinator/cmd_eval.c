/* cmd_eval - ce-coord eval: run a suite
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "coordinator/survey.h"
#include "coordinator/cmd.h"
#include "coordinator/entrants.h"
#include "coordinator/eval.h"
#include "coordinator/follow.h"
#include "coordinator/crier.h"
#include "coordinator/settings.h"
#include "coordinator/start.h"

enum { SAMPLES_MAX = 1000 };

typedef struct options {
    start_options start;
    const char *suite, *root, *level, *shots, *only, *arch, *bind, *coordinator, *keys, *key;
    const char *entrants, *effort, *escalate, *http, *hook;
    cli_list models, stages;
    int64_t samples, limit;
    const char *on_rate_limit;
    cli_list ceilings;
    double target, temperature, node_timeout_s, budget_usd;
    bool dry_run, yes, selftest;
} options;

#define AT(member) offsetof(options, member)

static const cli_option table[] = {
    {.name = "suite",
     .type = CLI_STR,
     .offset = AT(suite),
     .value = "S[,S]",
     .help = "suites to run"},
    {.name = "root",
     .type = CLI_STR,
     .offset = AT(root),
     .value = "DIR",
     .help = "with --suite kernelbench: the checkout"},
    {.name = "level",
     .type = CLI_STR,
     .offset = AT(level),
     .value = "1,2,3",
     .help = "with --suite kernelbench: levels to run (default 1,2,3)"},
    {.name = "shots",
     .type = CLI_STR,
     .offset = AT(shots),
     .value = "zero|one|few",
     .help = "with --suite kernelbench: solved examples in the prompts (default zero)"},
    {.name = "model-id",
     .type = CLI_LIST,
     .offset = AT(models),
     .value = "P:M",
     .help = "an entrant: gold, openai:M, anthropic:M, gemini:M, compat:M@URL, mock:FILE, "
             "replay:RUN, or "
             "a known server: openrouter:M, together:M, groq:M, vllm:M, llama.cpp:M, ollama:M"},
    {.name = "stage",
     .type = CLI_LIST,
     .offset = AT(stages),
     .value = "STAGE=P:M",
     .help = "another model for one stage of every --model-id"},
    {.name = "entrants",
     .type = CLI_STR,
     .offset = AT(entrants),
     .value = "FILE",
     .help = "entrants and servers with names, from a YAML file (docs/entrants.md)"},
    {.name = "effort",
     .type = CLI_STR,
     .offset = AT(effort),
     .value = "LEVEL",
     .help =
         "how much the models of --model-id think: none, minimal, low, medium, high, xhigh or max, "
         "as each takes"},
    {.name = "temperature",
     .type = CLI_REAL,
     .offset = AT(temperature),
     .value = "X",
     .help = "sampling temperature of the models of --model-id (default: none is sent)",
     .min = 0,
     .max = 2},
    {.name = "escalate",
     .type = CLI_STR,
     .offset = AT(escalate),
     .value = "P:M",
     .help = "who is asked once more in a stage when the calls of a --model-id have ended"},
    {.name = "samples",
     .type = CLI_INT,
     .offset = AT(samples),
     .value = "N",
     .help = "independent attempts at each problem (default 1)",
     .min = 1,
     .max = SAMPLES_MAX},
    {.name = "only",
     .type = CLI_STR,
     .offset = AT(only),
     .value = "A,B",
     .help = "only these problems (of KernelBench: 1/19 is level 1, number 19)"},
    {.name = "limit",
     .type = CLI_INT,
     .offset = AT(limit),
     .value = "N",
     .help = "only the first N problems",
     .min = 1,
     .max = SETTINGS_NAMES_MAX},
    START_OPTIONS(options, start),
    {.name = "arch",
     .type = CLI_STR,
     .offset = AT(arch),
     .value = "sm_NN",
     .help = "compile target where there is no device (default sm_90a)"},
    {.name = "target",
     .type = CLI_REAL,
     .offset = AT(target),
     .value = "X",
     .help = "speedup at which repair stops (default 1.0)",
     .min = 0.01,
     .max = 1000},
    {.name = "budget-usd",
     .type = CLI_REAL,
     .offset = AT(budget_usd),
     .value = "X",
     .help =
         "spend at most X: a call is sent only when its worst case still fits (exit 4 at the end)",
     .min = 0.0001,
     .max = 1000000},
    {.name = "on-rate-limit",
     .type = CLI_STR,
     .offset = AT(on_rate_limit),
     .value = "wait|fail",
     .help = "when a provider says \"too fast\": wait (default), or leave its tasks for --resume"},
    {.name = "rate-limit",
     .type = CLI_LIST,
     .offset = AT(ceilings),
     .value = "P[:M]=R[,T]",
     .help = "at most R calls (and T tokens) a minute to P or its model M, all nodes together"},
    {.name = "selftest",
     .type = CLI_FLAG,
     .offset = AT(selftest),
     .help = "every node tests its cards before its first task; a card that fails is not timed on"},
    {.name = "dry-run",
     .type = CLI_FLAG,
     .offset = AT(dry_run),
     .help = "print the plan, start nothing"},
    {.name = "yes",
     .type = CLI_FLAG,
     .offset = AT(yes),
     .help = "start paid calls without a question"},
    {.name = "bind",
     .type = CLI_STR,
     .offset = AT(bind),
     .value = "URI",
     .help = "also accept nodes that join here: ipc://PATH, tcp://127.0.0.1:PORT, or with keys "
             "tcp://HOST:PORT and curve://HOST:PORT"},
    CMD_OPTION_KEYS(options),
    {.name = "http",
     .type = CLI_STR,
     .offset = AT(http),
     .value = "ADDR",
     .help = "serve the live page, and /metrics, at PORT or HOST:PORT while the run goes on; off "
             "loopback it needs a token in CE_HTTP_TOKEN"},
    CRIER_OPTION(options),
    {.name = "node-timeout",
     .type = CLI_REAL,
     .offset = AT(node_timeout_s),
     .value = "S",
     .help = "a node silent for S seconds is lost (default 15)",
     .min = 0.3,
     .max = 3600},
    {.name = "coordinator",
     .type = CLI_STR,
     .offset = AT(coordinator),
     .value = "URI",
     .help = "submit to a coordinator that serves there, and follow the run (ce-coord serve)"},
    {.name = "key",
     .type = CLI_STR,
     .offset = AT(key),
     .value = "FILE",
     .help = "an operator's key file, for a coordinator on another host"},
    {.name = NULL}};

static const cli_command command = {
    .name = "eval",
    .summary = "run a suite: every entrant at every problem, through all five stages",
    .arguments = "",
    .examples =
        "ce-coord eval --suite internal --model-id gold\n"
        "ce-coord eval --suite internal --model-id gold --only softmax_lastdim_fp16 --db x.db\n"
        "ce-coord eval --suite internal --model-id openai:gpt-6.2-sol --effort high --stage "
        "polish=claude-haiku-5-5\n"
        "ce-coord eval --suite internal --entrants docs/examples/entrants.yaml --dry-run\n"
        "ce-coord eval --suite internal --model-id replay:latest --samples 1\n"
        "ce-coord eval --suite internal --model-id claude-opus-5-5 --budget-usd 5 --yes\n"
        "ce-coord eval --suite kernelbench --root ~/KernelBench --only 1/19,2/9 --model-id gold\n"
        "ce-coord eval --resume latest --http 8700\n",
    .options = table};

static void defaults(void *target)
{
    options *o = target;
    start_defaults(&o->start);
    o->temperature = (double)NAN;
}

/* ---- options → settings ---- */
static int split_names(const char *text, const char *option, settings_name **out, size_t *count,
                       err *e)
{
    if (!text)
        return 0;
    str rest = str_of(text), piece;
    while (str_split(&rest, ',', &piece)) {
        str word = str_trim(piece);
        if (!word.size)
            return err_set(e, ERR_USAGE, "--%s %s: an empty name", option, text);
        if (*count == SETTINGS_NAMES_MAX)
            return err_set(e, ERR_USAGE, "--%s: more than %d names", option, SETTINGS_NAMES_MAX);
        *out = xreallocarray(*out, *count + 1, sizeof **out);
        (*out)[(*count)++].name = xstrndup(word.data, word.size);
    }
    return 0;
}

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}
static int check_arch(const char *arch, err *e)
{
    size_t digits = arch && str_starts(arch, "sm_") ? strspn(arch + 3, "0123456789") : 0;
    if (!arch || (digits >= 2 && strlen(arch + 3 + digits) <= 1))
        return 0;
    return err_set(e, ERR_USAGE, "--arch %s: write sm_NN, for example sm_80 or sm_90a", arch);
}

static int add_ceilings(const options *o, settings *s, err *e)
{
    if (!o->ceilings.count)
        return 0;
    s->ceilings = xcalloc(o->ceilings.count, sizeof *s->ceilings);
    for (size_t i = 0; i < o->ceilings.count; i++) {
        if (i == DOOR_CEILINGS_MAX)
            return err_set(e, ERR_USAGE, "--rate-limit: more than %d", DOOR_CEILINGS_MAX);
        if (door_read_ceiling(o->ceilings.items[i], &s->ceilings[i], e))
            return err_wrap(e, "--rate-limit");
        s->ceiling_count = i + 1;
    }
    return 0;
}

/* What a new and a resumed run may both say. */
static int fill_common(const options *o, settings *s, err *e)
{
    s->bind = copy(o->bind);
    s->selftest = o->selftest;
    s->node_timeout_ms = (int64_t)(o->node_timeout_s * 1000);
    s->budget_usd = o->budget_usd;
    s->on_rate_limit = copy(o->on_rate_limit);
    if (o->on_rate_limit && strcmp(o->on_rate_limit, "wait") != 0 &&
        strcmp(o->on_rate_limit, "fail") != 0)
        return err_set(e, ERR_USAGE, "--on-rate-limit %s: want wait or fail", o->on_rate_limit);
    return add_ceilings(o, s, e) || start_fill(&o->start, s, e) ? -1 : 0;
}

/* "1/19" is how people write a problem of KernelBench. */
static void rename_only(settings *s)
{
    for (size_t i = 0; i < s->only_count; i++) {
        SCOPED(scoped_free) char *word = s->only[i].name;
        s->only[i].name = kernelbench_id(word);
    }
}

static void fill_checkout(const options *o, const char *db, settings *s)
{
    s->root = copy(o->root);
    s->level = copy(o->level);
    s->shots = copy(o->shots);
    s->found = o->root ? survey_found(db) : NULL;
}

static int fill_new(const options *o, const char *db, settings *s, err *e)
{
    if (!o->suite)
        return err_set(e, ERR_USAGE, "--suite is missing (ce-coord suite list names them)");
    if (!o->models.count && !o->entrants)
        return err_set(e, ERR_USAGE, "--model-id is missing: who competes? (gold costs nothing)");
    fill_checkout(o, db, s);
    s->arch = copy(o->arch);
    s->samples = o->samples ? o->samples : 1;
    s->limit = o->limit;
    s->target = o->target > 0 ? o->target : 1.0;
    if (start_fill_new(&o->start, s, e) || check_arch(s->arch, e) ||
        split_names(o->suite, "suite", &s->suites, &s->suite_count, e) ||
        split_names(o->only, "only", &s->only, &s->only_count, e))
        return -1;
    rename_only(s);
    const entrants_wanted wanted = {.models = o->models.items,
                                    .model_count = o->models.count,
                                    .stages = o->stages.items,
                                    .stage_count = o->stages.count,
                                    .file = o->entrants,
                                    .effort = o->effort,
                                    .temperature = o->temperature,
                                    .escalate = o->escalate};
    return entrants_make(&wanted, s, e);
}

static int check_resume(const options *o, err *e)
{
    const start_fixed own[] = {
        {"--suite", o->suite},        {"--model-id", o->models.count},
        {"--stage", o->stages.count}, {"--samples", o->samples},
        {"--entrants", o->entrants},  {"--effort", o->effort},
        {"--escalate", o->escalate},  {"--temperature", !isnan(o->temperature)},
        {"--only", o->only},          {"--limit", o->limit},
        {"--arch", o->arch},          {"--target", o->target > 0},
        {"--dry-run", o->dry_run},    {"--root", o->root},
        {"--level", o->level},        {"--shots", o->shots},
    };
    return start_check_resume(&o->start, own, sizeof own / sizeof own[0], e);
}

static int run_eval(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(settings_fini) settings wanted = {.suites = NULL};
    if (o->coordinator && o->start.resume)
        return err_set(e, ERR_USAGE,
                       "--coordinator goes on with its runs by itself: leave --resume out");
    if (fill_common(o, &wanted, e) ||
        (o->start.resume ? check_resume(o, e) : fill_new(o, call->db, &wanted, e)))
        return -1;
    SCOPED(scoped_free) char *as_typed = cmd_typed(call);
    SCOPED(scoped_free) char *keys = cmd_keys_path(call->program, o->keys, NULL);
    eval_request request = start_request(call, &o->start, &wanted, as_typed);
    request.keys = keys;
    request.http = o->http;
    request.http_token = call->program->http_token;
    const crier_options told = {
        .command = o->hook, .db = call->db, .environment = call->program->environment};
    request.hook = o->hook ? &told : NULL;
    request.dry_run = o->dry_run;
    request.yes = o->yes;
    if (o->coordinator && !o->dry_run) {
        const follow_request there = {
            .coordinator = o->coordinator, .key = o->key, .eval = &request};
        return follow_run(&there, e);
    }
    return eval_run(&request, e);
}

const cmd_entry cmd_eval = {.cli = &command,
                            .options_size = sizeof(options),
                            .defaults = defaults,
                            .db_offset = START_AT(options, start, db),
                            .flags = CMD_DB,
                            .run = run_eval};
