/* eval - prepare, work, settle, report
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/eval.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/broadcast.h"
#include "coordinator/cmd.h"
#include "coordinator/coord.h"
#include "coordinator/estimate.h"
#include "coordinator/crier.h"
#include "coordinator/local_node.h"
#include "coordinator/paid.h"
#include "coordinator/progress.h"
#include "coordinator/selection.h"
#include "coordinator/verdict.h"
#include "providers/catalog.h"
#include "reports/report.h"

enum { PROGRESS_MS = 100 };
#define OUT_DEFAULT "ce-runs"

typedef struct evaluation {
    const eval_request *request;
    store *store;
    run *run;
    char *out; /* folder of the reports */
    coord *coord;
    local_node *node;
    progress *progress;
    broadcast *live; /* NULL: no page */
    crier *hook;     /* NULL: none */
    int signals;     /* signalfd; -1: none */
    int stops;       /* signals seen */
    coord_end end;
} evaluation;

/* ---- a new run ---- */
static int print_plan(const eval_request *r, const selection *chosen)
{
    estimate plan = estimate_of(r->wanted, chosen, clock_wall_ms());
    if (!r->json) {
        estimate_print(&plan, r->wanted, chosen, stdout);
        return CMD_EXIT_COMPLETE;
    }
    SCOPED(json_destroy) json *root = estimate_json(&plan, r->wanted, chosen);
    SCOPED(scoped_free) char *text = json_dump_pretty(root);
    fputs(text, stdout);
    return CMD_EXIT_COMPLETE;
}

/* Asks when money is at stake. 0: go; else *code says how to leave, or -1. */
static int confirm(const eval_request *r, const selection *chosen, bool *go, err *e)
{
    estimate plan = estimate_of(r->wanted, chosen, clock_wall_ms());
    const estimate_ask ask = {
        .in = stdin, .out = stderr, .terminal = isatty(STDIN_FILENO) == 1, .yes = r->yes};
    return estimate_confirm(&plan, &ask, go, e);
}

static int watch_signals(evaluation *self, err *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    /* Before the store's thread begins, so that no thread takes them. */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    self->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return self->signals >= 0 ? 0 : err_errno(e, errno, "watch for signals");
}

static int begin_new(evaluation *self, const selection *chosen, err *e)
{
    const eval_request *r = self->request;
    char id[ID_TEXT];
    SCOPED(docket_destroy) docket *cases = NULL;
    if (r->purpose && !(cases = r->purpose->docket(r, chosen, e)))
        return -1;
    const run_request wanted = {.settings = r->wanted,
                                .selection = chosen,
                                .docket = cases,
                                .command = r->command,
                                .version = r->version,
                                .now_ms = clock_wall_ms(),
                                .night = r->night,
                                .again = r->again};
    self->store = store_open(r->db, STORE_OWN, e);
    if (!self->store || run_create(self->store, &wanted, id, e))
        return -1;
    self->run = run_open(self->store, id, clock_wall_ms(), e);
    return self->run ? 0 : -1;
}

/* *code < 0: the run is ready; else how to leave. */
static int prepare_new(evaluation *self, int *code, err *e)
{
    const eval_request *r = self->request;
    bool go = true;
    SCOPED(selection_destroy) selection *chosen = NULL;
    if (estimate_check_budget(r->wanted, r->wanted->budget_usd, clock_wall_ms(), e))
        return -1;
    chosen = selection_create(r->wanted, e);
    if (!chosen)
        return -1;
    if (r->dry_run) {
        *code = print_plan(r, chosen);
        return 0;
    }
    if (confirm(r, chosen, &go, e))
        return -1;
    if (!go) {
        fprintf(stderr, "nothing was started\n");
        *code = CMD_EXIT_COMPLETE;
        return 0;
    }
    return watch_signals(self, e) || begin_new(self, chosen, e) ? -1 : 0;
}

/* ---- a resumed run ---- */
static void replace_text(char **stored, const char *wanted)
{
    if (!wanted)
        return;
    free(*stored);
    *stored = xstrdup(wanted);
}

static void replace_ceilings(settings *s, const settings *wanted)
{
    for (size_t i = 0; i < s->ceiling_count && wanted->ceiling_count; i++)
        free(s->ceilings[i].name);
    if (!wanted->ceiling_count)
        return;
    s->ceilings = xreallocarray(s->ceilings, wanted->ceiling_count, sizeof *s->ceilings);
    s->ceiling_count = wanted->ceiling_count;
    for (size_t i = 0; i < s->ceiling_count; i++) {
        s->ceilings[i] = wanted->ceilings[i];
        s->ceilings[i].name = xstrdup(wanted->ceilings[i].name);
    }
}

typedef struct budget_job {
    const char *run;
    double usd;
} budget_job;

static int write_budget(store_tx *tx, void *arg, err *e)
{
    const budget_job *job = arg;
    return run_set_budget(tx, job->run, job->usd, e);
}

/* A new budget counts from the beginning of the run, like the old one. */
static int replace_budget(evaluation *self, double usd, err *e)
{
    if (usd <= 0)
        return 0;
    budget_job job = {.run = self->run->id, .usd = usd};
    self->run->budget_usd = usd;
    return estimate_check_budget(&self->run->settings, usd, clock_wall_ms(), e) ||
                   store_run(self->store, write_budget, &job, e)
               ? -1
               : 0;
}

static int check_purpose(const evaluation *self, err *e)
{
    bool validates = self->request->purpose != NULL;
    if (validates == (self->run->kind == RUN_VALIDATE))
        return 0;
    return err_set(e, ERR_USAGE, "run %s is %s: resume it with `%s --resume %s`", self->run->id,
                   validates ? "an evaluation" : "a validation",
                   validates ? "eval" : "suite validate", self->run->id);
}

static int prepare_resumed(evaluation *self, err *e)
{
    const eval_request *r = self->request;
    if (watch_signals(self, e))
        return -1;
    if (!file_exists(r->db))
        return err_set(e, ERR_NOT_FOUND, "there is no database %s", r->db);
    self->store = store_open(r->db, STORE_OWN, e);
    self->run = self->store ? run_open(self->store, r->resume, clock_wall_ms(), e) : NULL;
    if (!self->run)
        return -1;
    if (check_purpose(self, e))
        return -1;
    settings *s = &self->run->settings;
    replace_text(&s->out, r->wanted->out);
    replace_text(&s->bind, r->wanted->bind);
    replace_text(&s->python, r->wanted->python);
    replace_text(&s->fake, r->wanted->fake);
    replace_text(&s->on_rate_limit, r->wanted->on_rate_limit);
    replace_ceilings(s, r->wanted);
    s->slots = r->wanted->slots ? r->wanted->slots : s->slots;
    s->node_timeout_ms =
        r->wanted->node_timeout_ms ? r->wanted->node_timeout_ms : s->node_timeout_ms;
    return replace_budget(self, r->wanted->budget_usd, e);
}

/* ---- at work ---- */
static void print_resume(const evaluation *self)
{
    const eval_request *r = self->request;
    fprintf(stderr, "resume with: %s %s --resume %s", r->program,
            r->purpose ? r->purpose->command : "eval", self->run->id);
    if (r->db_given)
        fprintf(stderr, " --db %s", r->db_given);
    fputc('\n', stderr);
}

static void on_signal(void *arg)
{
    evaluation *self = arg;
    struct signalfd_siginfo info;
    if (read(self->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (self->stops++) {
        print_resume(self);
        file_remove_tree(self->coord->folder, NULL);
        _exit(CMD_EXIT_INTERRUPTED); /* the store is safe at any moment; children die with us */
    }
    progress_say(self->progress, "stopping: tasks in flight are cancelled (once more: at once)");
    coord_stop(self->coord, COORD_INTERRUPTED, NULL);
}

static void leave_now(int signal)
{
    (void)signal;
    _exit(CMD_EXIT_INTERRUPTED);
}

/* After the loop nobody reads the descriptor: a further signal ends the process at once. */
static void unwatch_signals(evaluation *self)
{
    const struct sigaction leave = {.sa_handler = leave_now};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaction(SIGINT, &leave, NULL);
    sigaction(SIGTERM, &leave, NULL);
    scoped_close(&self->signals);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void on_progress(void *arg)
{
    evaluation *self = arg;
    progress_show(self->progress, self->run, nodes_count(self->coord->nodes), clock_mono_ms(),
                  false);
}

static void on_node_exit(void *arg, const char *how, bool given_up)
{
    evaluation *self = arg;
    coord_lose_node(self->coord, LOCAL_NODE_NAME, how);
    if (self->coord->end != COORD_GOES_ON)
        return;
    progress_say(self->progress, "the local node %s%s", how,
                 given_up ? "" : "; it is started again");
    if (!given_up || self->coord->joined)
        return;
    err e = {0};
    err_set(&e, ERR_UNAVAILABLE,
            "the local node %s (it said why above), and no other node can join", how);
    coord_stop(self->coord, COORD_BROKEN, &e);
}

static int start_node(evaluation *self, err *e)
{
    const settings *s = &self->run->settings;
    const local_node_options options = {.binary = self->request->node_binary,
                                        .endpoint = self->coord->endpoint,
                                        .device = s->device,
                                        .python = s->python,
                                        .fake = s->fake,
                                        .slots = s->slots,
                                        .exited = on_node_exit,
                                        .arg = self};
    self->node = local_node_start(&options, self->coord->events, e);
    return self->node ? 0 : -1;
}

static int show_live(evaluation *self, err *e)
{
    const eval_request *r = self->request;
    if (!r->http)
        return 0;
    const dashboard_options options = {
        .address = r->http, .token = r->http_token, .db = r->db, .version = r->version};
    self->live = broadcast_start(self->coord, &options, e);
    if (!self->live)
        return -1;
    progress_say(self->progress, "live page: %s%s", broadcast_url(self->live),
                 r->http_token ? "login?token=... (the token of CE_HTTP_TOKEN)" : "");
    return 0;
}

static int open_coord(evaluation *self, err *e)
{
    const settings *s = &self->run->settings;
    const coord_options options = {.store = self->store,
                                   .run = self->run,
                                   .bind = s->bind,
                                   .lost_ms = s->node_timeout_ms,
                                   .keys = self->request->keys};
    self->coord = coord_create(&options, e);
    if (!self->coord)
        return -1;
    const term_kind on = term_of(STDERR_FILENO, &self->request->term);
    self->progress = progress_create(stderr, &on, self->run, clock_mono_ms());
    loop_add_fd(self->coord->events, self->signals, on_signal, self);
    loop_add_timer(self->coord->events, PROGRESS_MS, PROGRESS_MS, on_progress, self);
    progress_say(self->progress, "run %s", self->run->id);
    if (self->coord->joined)
        progress_say(self->progress, "nodes may join: ce-node --coordinator %s",
                     self->coord->joined);
    return show_live(self, e) || start_node(self, e) ? -1 : 0;
}

static int work(evaluation *self, err *e)
{
    if (sched_idle(self->run->tasks)) {
        self->end = COORD_FINISHED;
        return 0;
    }
    int result = open_coord(self, e) || coord_run(self->coord, &self->end, e) ? -1 : 0;
    if (result)
        self->end = COORD_BROKEN;
    if (self->coord) {
        progress_show(self->progress, self->run, nodes_count(self->coord->nodes), clock_mono_ms(),
                      true);
        coord_goodbye(self->coord, "the run has ended");
    }
    return result;
}

/* ---- settling ---- */
typedef struct state_job {
    const char *run;
    run_state state;
} state_job;

static int write_state(store_tx *tx, void *arg, err *e)
{
    const state_job *job = arg;
    SCOPED(run_row_fini) run_row now = {.id = NULL};
    if (run_find(tx, job->run, &now, e))
        return -1;
    return now.state == job->state ? 0
                                   : run_set_state(tx, job->run, job->state, clock_wall_ms(), e);
}

static int settle(evaluation *self, run_state state, err *e)
{
    state_job job = {.run = self->run->id, .state = state};
    return store_run(self->store, write_state, &job, e);
}

static int delete_run(store_tx *tx, void *arg, err *e)
{
    return run_delete(tx, arg, e);
}

/* Nothing of the run stays: a contract does not hold, or it could not even begin. */
static int withdraw(evaluation *self, const err *why, err *e)
{
    err failure = {0};
    *e = *why;
    if (store_run(self->store, delete_run, self->run->id, &failure))
        return err_wrap(e, "run %s cannot be removed (%s) after", self->run->id, failure.text);
    rmdir(self->out); /* fails, and must, when it is not empty */
    if (!self->run->settings.out)
        rmdir(OUT_DEFAULT);
    return -1;
}

static int print_file(const char *folder, const char *name, err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    return file_print(path, stdout, e);
}

static int report(evaluation *self, int *code, err *e)
{
    const eval_request *r = self->request;
    const eval_place place = {.store = self->store, .run = self->run->id, .out = self->out};
    if (r->purpose)
        return r->purpose->report(r, &place, code, e);
    const report_ask ask = {.run = self->run->id};
    if (report_write_all(self->store, &ask, self->out, e))
        return err_wrap(e, "the run is recorded, but its reports are not");
    if (r->quiet)
        return 0;
    if (r->json)
        return print_file(self->out, "results.json", e);
    printf("%s/leaderboard.md\n\n", self->out);
    return print_file(self->out, "leaderboard.md", e);
}

/* Why the run ended before its tasks did; the budget has an exit code of its own. */
static const char *stopped(const evaluation *self, run_state *state, int *code)
{
    bool budget = false;
    const char *why = self->coord ? paid_stopped(self->coord->paid, &budget) : NULL;
    if (!why || *code == CMD_EXIT_COMPLETE)
        return NULL;
    *state = RUN_INCOMPLETE;
    *code = budget ? CMD_EXIT_BUDGET : CMD_EXIT_INCOMPLETE;
    return why;
}

static int conclude(evaluation *self, err *e)
{
    int code;
    run_state state = verdict_of(self->run->tasks, &code);
    const char *why = stopped(self, &state, &code);
    if (settle(self, state, e) || report(self, &code, e))
        return -1;
    if (code == CMD_EXIT_COMPLETE || code == CMD_EXIT_NO)
        return code;
    fprintf(stderr, "run %s is %s\n", self->run->id, run_state_name(state));
    if (why)
        fprintf(stderr, "%s\n", why);
    if (verdict_explain(self->store, self->run->id, stderr, e))
        return -1;
    if (sched_count(self->run->tasks, SCHED_SYNTHESIZE).state[SCHED_DONE] <
        sched_count(self->run->tasks, SCHED_SYNTHESIZE).planned)
        print_resume(self);
    if (code == CMD_EXIT_BUDGET)
        fprintf(stderr, "with --budget-usd and a larger amount it goes on\n");
    return code;
}

static int interrupted(evaluation *self, err *e)
{
    if (settle(self, RUN_INTERRUPTED, e))
        return -1;
    print_resume(self);
    unwatch_signals(self);
    return CMD_EXIT_INTERRUPTED;
}

static bool was_begun(const evaluation *self)
{
    return self->request->resume ||
           (self->coord && lease_last_token(self->coord->leases) > self->run->last_token);
}

/* The harness failed; what was recorded stays. */
static int broken(evaluation *self, err *e)
{
    const err why = *e;
    if (!was_begun(self))
        return withdraw(self, &why, e);
    settle(self, RUN_INTERRUPTED, NULL);
    print_resume(self);
    unwatch_signals(self);
    return err_wrap(e, "run %s stopped", self->run->id);
}

static int finish(evaluation *self, err *e)
{
    switch (self->end) {
    case COORD_REFUSED:
        return withdraw(self, &self->coord->why, e);
    case COORD_INTERRUPTED:
        return interrupted(self, e);
    case COORD_BROKEN:
        return broken(self, e);
    case COORD_GOES_ON:
    case COORD_FINISHED:
        break;
    }
    return conclude(self, e);
}

/* The command hears of the end after everything else is written; budget comes before it. */
static void tell_hook(const evaluation *self, int code, const err *e)
{
    static const struct {
        int code;
        run_state state;
    } rows[] = {{CMD_EXIT_COMPLETE, RUN_COMPLETE},
                {CMD_EXIT_NO, RUN_COMPLETE},
                {CMD_EXIT_BUDGET, RUN_INCOMPLETE},
                {CMD_EXIT_INCOMPLETE, RUN_INCOMPLETE},
                {CMD_EXIT_INTERRUPTED, RUN_INTERRUPTED}};
    run_state state = RUN_FAILED;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].code == code)
            state = rows[i].state;
    }
    bool budget = false;
    const char *why = self->coord ? paid_stopped(self->coord->paid, &budget) : NULL;
    crier_word word = {.event = CRIER_BUDGET,
                       .run = self->run->id,
                       .state = run_state_name(state),
                       .code = code < 0 ? cmd_exit_of(e) : code,
                       .text = code < 0 ? e->text : why};
    if (code == CMD_EXIT_BUDGET)
        crier_tell(self->hook, &word);
    word.event = CRIER_FINISH;
    crier_tell(self->hook, &word);
}

static void evaluation_fini(evaluation *self)
{
    crier_destroy(&self->hook);
    local_node_stop(&self->node, LOCAL_NODE_GRACE_MS);
    broadcast_stop(&self->live);
    coord_destroy(&self->coord);
    progress_destroy(&self->progress);
    run_destroy(&self->run);
    store_destroy(&self->store);
    scoped_close(&self->signals);
    free(self->out);
}

static int make_out(evaluation *self, err *e)
{
    const char *wanted = self->run->settings.out;
    self->out = wanted ? xstrdup(wanted) : xasprintf(OUT_DEFAULT "/%s", self->run->id);
    if (file_mkdirs(self->out, e) == 0)
        return 0;
    err_wrap(e, "--out");
    if (!self->request->resume)
        store_run(self->store, delete_run, self->run->id, NULL);
    return -1;
}

int eval_run(const eval_request *request, err *e)
{
    SCOPED(evaluation_fini) evaluation self = {.request = request, .signals = -1};
    int code = -1;
    if (request->resume ? prepare_resumed(&self, e) : prepare_new(&self, &code, e))
        return -1;
    if (code >= 0)
        return code;
    if (make_out(&self, e))
        return -1;
    if (request->hook && !(self.hook = crier_create(request->hook, e)))
        return -1;
    work(&self, e);
    code = finish(&self, e);
    tell_hook(&self, code, e);
    return code;
}
