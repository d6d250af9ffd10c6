/* sanitize - see sanitize.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/sanitize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/specimen.h"
#include "agent-node/trial.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "suites/cases.h"

enum {
    PLAN_MS = 60000, /* of one launch of a plan: tools slow it down a hundred times and more */
    PLANTED_FLOATS = 4096,
    TOOL_OPTIONS = 4
};

/* What a tool wants beside its name. Padding: a stride past an allocation must not land in the next one. */
typedef struct tool {
    const char *name;
    const char *options[TOOL_OPTIONS + 1];
} tool;

/* In the order of specimen_planted. */
static const tool tools[] = {
    {"memcheck", {"--padding", "4096", "--report-api-errors", "no", NULL}},
    {"initcheck", {"--check-api-memory-access", "no", NULL}},
    {"racecheck", {NULL}},
    {"synccheck", {NULL}},
};

/* For every tool. Errors are few words, and the runner's exit code tells nothing. */
static const char *const common_options[] = {
    "--show-backtrace", "no", "--print-limit", "4", "--check-exit-code", "no", NULL};

/* ---- which program ---- */

static char *executable(char *path)
{
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *sanitize_find(const char *given, const char *device_kind)
{
    static const char name[] = "compute-sanitizer";
    const char *path = getenv("PATH");
    if (given != NULL)
        return executable(xstrdup(given));
    if (strcmp(device_kind, "cuda") != 0)
        return NULL;
    str rest = str_of(path != NULL ? path : "");
    for (str folder; str_split(&rest, ':', &folder);) {
        char *found = executable(xasprintf("%.*s/%s", (int)folder.size, folder.data, name));
        if (found != NULL)
            return found;
    }
    return executable(xasprintf("/usr/local/cuda/bin/%s", name));
}

/* ---- one tool ---- */

/* A tool at work on the candidate. */
typedef struct watcher {
    const pipeline *p;
    lane *held;
    const candidate *c;
    judge *judge;
    const char *program;
    const tool *tool;
    runner_proc *runner;
} watcher;

static void list_arguments(const watcher *w, const char *out[RUNNER_TOOL_ARGS + 1])
{
    size_t n = 0;
    out[n++] = w->program;
    out[n++] = "--tool";
    out[n++] = w->tool->name;
    for (size_t i = 0; common_options[i] != NULL; i++)
        out[n++] = common_options[i];
    for (size_t i = 0; w->tool->options[i] != NULL; i++)
        out[n++] = w->tool->options[i];
    out[n] = NULL;
}

static int load(watcher *w, runner_verdict *verdict, err *e)
{
    const char *arguments[RUNNER_TOOL_ARGS + 1];
    list_arguments(w, arguments);
    const candidate *c = w->c;
    const runner_options options = {.device = lane_get_facts(w->held)->device,
                                    .fake_script = w->p->node->settings->fake,
                                    .problem = c->alias != NULL ? c->alias : w->p->spec->problem,
                                    .tool = arguments};
    w->runner =
        runner_proc_spawn(&options, e); /* what the tool says is read even if it ends at once */
    if (w->runner == NULL)
        return -1;
    const runner_candidate loaded = {.cubin = c->compiled.cubin.data,
                                     .cubin_size = c->compiled.cubin.size,
                                     .contract = w->p->spec->contract,
                                     .plan = c->plan_text,
                                     .kernels = c->compiled.kernels,
                                     .kernel_count = c->compiled.kernel_count};
    return runner_proc_load(w->runner, &loaded, verdict, e);
}

/* What an error means: the judge's and the task's own go up, the tool's do not. */
typedef enum fault_of { FAULT_OF_NOBODY, FAULT_OF_TOOL, FAULT_OF_HARNESS } fault_of;

static fault_of run_shape(watcher *w, const cases_shape *at, int64_t number,
                          runner_verdict *verdict, err *e)
{
    const pipeline *p = w->p;
    SCOPED(judge_staging_fini) judge_staging staging = {0};
    const judge_draw_request draw = {.shape = &at->shape,
                                     .seed = trial_problem_seed(p->spec, "sanitizer", number),
                                     .family = at->family,
                                     .slots = 1};
    if (ledger_check(p->ledger, e) != 0 || judge_draw(w->judge, &draw, &staging, e) != 0)
        return FAULT_OF_HARNESS;
    const runner_check request = {.terms = p->terms,
                                  .shape = &at->shape,
                                  .salt = number,
                                  .staging = &staging,
                                  .deadline_ms = PLAN_MS};
    return runner_proc_check(w->runner, &request, verdict, e) == 0 ? FAULT_OF_NOBODY
                                                                   : FAULT_OF_TOOL;
}

/* The shapes that are looked at lie evenly in the list, the largest one among them. */
static fault_of run_shapes(watcher *w, const cases *all, runner_verdict *verdict, err *e)
{
    fault_of fault = FAULT_OF_NOBODY;
    size_t count = all->count < SANITIZE_SHAPES ? all->count : SANITIZE_SHAPES;
    for (size_t i = 0; i < count && fault == FAULT_OF_NOBODY && verdict_is_ok(verdict); i++) {
        size_t at = (i + 1) * all->count / count - 1;
        if (all->shapes[at].elements > 0)
            fault = run_shape(w, &all->shapes[at], (int64_t)at, verdict, e);
    }
    return fault;
}

/* Lets the tool say what it has seen. */
static void conclude(watcher *w, const runner_verdict *verdict, const err *broken,
                     sanitizer_log *out)
{
    err why = {0};
    SCOPED(buf_fini) buf said;
    buf_init(&said, RUNNER_SAID_MAX + 1);
    if (w->runner == NULL || runner_proc_end(w->runner, &said, &why) != 0)
        *out = (sanitizer_log){.state = SANITIZER_LOG_UNUSABLE};
    else
        sanitizer_log_read(w->tool->name, buf_text(&said), said.size, out);
    if (out->state == SANITIZER_LOG_FINDING)
        return;
    const char *told = broken->code != ERR_NONE  ? broken->text
                       : why.code != ERR_NONE    ? why.text
                       : !verdict_is_ok(verdict) ? verdict->text
                                                 : NULL;
    /* What stopped the run says less than what the tool says of itself. */
    if (told != NULL && (out->state == SANITIZER_LOG_CLEAN || out->why[0] == '\0')) {
        out->state = SANITIZER_LOG_UNUSABLE;
        snprintf(out->why, sizeof(out->why), "%.*s", (int)sizeof(out->why) - 1, told);
    }
}

static int run_tool(watcher *w, const cases *all, sanitizer_log *out, err *e)
{
    err why = {0};
    runner_verdict verdict;
    verdict_ok(&verdict);
    fault_of fault = load(w, &verdict, &why) != 0 ? FAULT_OF_TOOL
                     : verdict_is_ok(&verdict)    ? run_shapes(w, all, &verdict, &why)
                                                  : FAULT_OF_NOBODY;
    if (fault == FAULT_OF_HARNESS && e != NULL)
        *e = why;
    if (fault != FAULT_OF_HARNESS)
        conclude(w, &verdict, &why, out);
    runner_proc_destroy(&w->runner);
    return fault == FAULT_OF_HARNESS ? -1 : 0;
}

/* ---- all of them ---- */

/* A finding stands before "not run", and that before "clean". */
static void note(const watcher *w, const sanitizer_log *log, sanitize_report *out)
{
    if (log->state == SANITIZER_LOG_FINDING) {
        out->verdict = log->verdict;
        snprintf(out->state, sizeof(out->state), "%.*s", (int)sizeof(out->state) - 1,
                 log->verdict.text);
    } else if (log->state == SANITIZER_LOG_UNUSABLE && out->state[0] == '\0') {
        snprintf(out->state, sizeof(out->state), "not run (%s: %s)", w->tool->name, log->why);
    }
}

/* ---- whether they see ---- */

static bool must_find(const specimen *planted, const runner_verdict *found)
{
    for (size_t i = 0; i < planted->must_count; i++)
        if (planted->must[i] == found->result)
            return true;
    return false;
}

/* A tool over its planted defect; `why` stays empty when it finds it. */
static int try_planted(watcher *w, const specimen_bench *bench, const specimen *planted, char *why,
                       err *e)
{
    sanitizer_log log;
    SCOPED(candidate_destroy) candidate *c = NULL;
    SCOPED(cases_fini) cases all = {0};
    if (specimen_build(bench, planted, &c, e) != 0)
        return -1;
    w->c = c;
    cases_build(bench->p.terms, true, &all);
    if (c->compiled.result == OUTCOME_OK && run_tool(w, &all, &log, e) != 0)
        return -1;
    if (c->compiled.result != OUTCOME_OK)
        snprintf(why, SANITIZE_STATE_MAX, "not run (%s does not compile)", planted->name);
    else if (log.state == SANITIZER_LOG_UNUSABLE)
        snprintf(why, SANITIZE_STATE_MAX, "not run (%s: %s)", w->tool->name, log.why);
    else if (log.state != SANITIZER_LOG_FINDING || !must_find(planted, &log.verdict))
        snprintf(why, SANITIZE_STATE_MAX,
                 "not run (%s found nothing, and nothing in a kernel that %s)", w->tool->name,
                 planted->why);
    return 0;
}

static int try_all(watcher *w, const specimen_bench *bench, char *why, err *e)
{
    if (judge_open(w->judge, bench->p.terms, bench->reference, bench->spec.reference_file, e) != 0)
        return -1;
    for (size_t i = 0; specimen_planted[i].name != NULL && why[0] == '\0'; i++) {
        w->tool = &tools[i];
        if (try_planted(w, bench, &specimen_planted[i], why, e) != 0)
            return -1;
    }
    return 0;
}

/* Fills `why` unless each tool sees its planted defect on this device. */
static int prove(const watcher *of, char *why, err *e)
{
    if (lane_sees(of->held))
        return 0;
    node_parts alone = *of->p->node; /* nobody is told of these kernels */
    alone.session = NULL;
    specimen_bench bench;
    int status =
        specimen_open(&bench, &alone, of->p->facts, PLANTED_FLOATS, PLANTED_FLOATS, NULL, e);
    bench.account.cancelled = of->p->ledger->cancelled;
    watcher w = *of;
    w.p = &bench.p;
    if (status == 0)
        status = try_all(&w, &bench, why, e);
    if (status == 0 && why[0] == '\0')
        lane_note_sight(of->held);
    /* The judge lets go of the bench's contract before that ends. */
    err reopened = {0};
    if (judge_open(of->judge, of->p->terms, of->p->reference, of->p->spec->reference_file,
                   status == 0 ? e : &reopened) != 0)
        status = -1;
    specimen_close(&bench);
    return status;
}

int sanitize_candidate(const pipeline *p, lane *held, const candidate *c, sanitize_report *out,
                       err *e)
{
    SCOPED(scoped_free)
    char *program = sanitize_find(p->node->settings->sanitizer, lane_get_facts(held)->kind);
    SCOPED(cases_fini) cases all = {0};
    *out = (sanitize_report){.state = ""};
    verdict_ok(&out->verdict);
    if (program == NULL) {
        snprintf(out->state, sizeof(out->state), "not run (no compute-sanitizer on this node)");
        return 0;
    }
    watcher w = {.p = p, .held = held, .c = c, .judge = lane_judge(held, e), .program = program};
    if (w.judge == NULL ||
        judge_open(w.judge, p->terms, p->reference, p->spec->reference_file, e) != 0) {
        return -1;
    }
    cases_build(p->terms, true, &all);
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]) && verdict_is_ok(&out->verdict); i++) {
        sanitizer_log log;
        w.tool = &tools[i];
        if (run_tool(&w, &all, &log, e) != 0)
            return -1;
        note(&w, &log, out);
    }
    if (out->state[0] == '\0' && prove(&w, out->state, e) != 0)
        return -1;
    if (out->state[0] == '\0')
        snprintf(out->state, sizeof(out->state), "clean");
    return 0;
}
