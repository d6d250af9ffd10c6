/* follow - submit, ask again and again, fetch
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/follow.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/estimate.h"
#include "coordinator/remote.h"
#include "coordinator/selection.h"

enum { ASK_US = 500 * 1000 };

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

/* ---- before ---- */
static int confirm(const eval_request *r, bool *go, err *e)
{
    SCOPED(selection_destroy) selection *chosen = selection_create(r->wanted, e);
    if (!chosen)
        return -1;
    estimate plan = estimate_of(r->wanted, chosen, clock_wall_ms());
    const estimate_ask ask = {
        .in = stdin, .out = stderr, .terminal = isatty(STDIN_FILENO) == 1, .yes = r->yes};
    return estimate_confirm(&plan, &ask, go, e);
}

static int submit(remote *to, const eval_request *r, char id[ID_TEXT], err *e)
{
    SCOPED(message_fini) message reply = {0};
    SCOPED(scoped_free) char *text = settings_write(r->wanted);
    message m;
    message_init(&m, MSG_SUBMIT);
    message_set_str(&m.body.submit.settings, text);
    message_set_str(&m.body.submit.command, r->command);
    m.body.submit.budget_usd = r->wanted->budget_usd;
    if (remote_ask(to, &m, MSG_SUBMITTED, &reply, e))
        return -1;
    memccpy(id, reply.body.submitted.run, 0, ID_TEXT - 1);
    return 0;
}

/* ---- meanwhile ---- */
/* 1: over, and *reply says how; 0: stopped; -1. */
static int watch(remote *to, const char *id, message *reply, err *e)
{
    SCOPED(scoped_free) char *shown = xstrdup("");
    bool silent = false;
    while (!stopped) {
        message m;
        message_init(&m, MSG_RUN_GET);
        message_set_str(&m.body.run_get.run, id);
        if (remote_ask(to, &m, MSG_RUN_STATE, reply, e) == 0) {
            const char *text = reply->body.run_state.text;
            if (reply->body.run_state.over)
                return 1;
            if (strcmp(text, shown) != 0)
                fprintf(stderr, "%s\n", text);
            free(shown);
            shown = xstrdup(text);
            silent = false;
            message_fini(reply);
        } else if (e->code != ERR_TIMEOUT) {
            return -1;
        } else if (!silent) {
            fprintf(stderr, "%s; trying on\n", e->text);
            silent = true;
        }
        usleep(ASK_US);
    }
    return 0;
}

/* ---- after ---- */
/* Fetches one file of the reports; one that is not there is left out. */
static int fetch(remote *from, const char *id, const char *name, const char *out, err *e)
{
    SCOPED(buf_fini) buf text;
    bool last = false;
    buf_init(&text, JSON_SIZE_MAX);
    while (!last) {
        SCOPED(message_fini) message reply = {0};
        message m;
        message_init(&m, MSG_FILE_GET);
        message_set_str(&m.body.file_get.run, id);
        message_set_str(&m.body.file_get.name, name);
        m.body.file_get.offset = (int64_t)text.size;
        if (remote_ask(from, &m, MSG_FILE_DATA, &reply, e))
            return -1;
        const struct msg_file_data *piece = &reply.body.file_data;
        if (!piece->found)
            return 0;
        if (buf_add(&text, piece->data.data, piece->data.size))
            return err_set(e, ERR_LIMIT, "%s is too large", name);
        last = piece->last;
    }
    SCOPED(scoped_free) char *path = file_join(out, name);
    return file_write(path, buf_text(&text), text.size, e);
}

static int fetch_all(remote *from, const char *id, const char *out, err *e)
{
    static const char *const names[] = {"leaderboard.md", "results.json", "report.md",
                                        "results.csv", "entrants.json"};
    if (file_mkdirs(out, e))
        return -1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (fetch(from, id, names[i], out, e))
            return -1;
    }
    return 0;
}

static int print_file(const char *out, const char *name, err *e)
{
    SCOPED(scoped_free) char *path = file_join(out, name);
    return file_exists(path) ? file_print(path, stdout, e) : 0;
}

static int show(const follow_request *r, remote *from, const char *id, err *e)
{
    const char *wanted = r->eval->wanted->out;
    SCOPED(scoped_free) char *out = wanted ? xstrdup(wanted) : xasprintf("ce-runs/%s", id);
    if (fetch_all(from, id, out, e))
        return err_wrap(e, "run %s is recorded, but its reports did not come", id);
    if (r->eval->json)
        return print_file(out, "results.json", e);
    printf("%s/leaderboard.md\n\n", out);
    return print_file(out, "leaderboard.md", e);
}

static int leave(const follow_request *r, const char *id)
{
    fprintf(stderr, "run %s goes on at %s: `%s status %s` shows it, `%s cancel %s` stops it\n", id,
            r->coordinator, r->eval->program, id, r->eval->program, id);
    return CMD_EXIT_INTERRUPTED;
}

static int follow(const follow_request *r, remote *to, err *e)
{
    char id[ID_TEXT] = "";
    SCOPED(message_fini) message end = {0};
    const struct sigaction stop = {.sa_handler = on_signal};
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    if (submit(to, r->eval, id, e))
        return -1;
    fprintf(stderr, "run %s\n", id);
    int over = watch(to, id, &end, e);
    if (over <= 0)
        return over < 0 ? -1 : leave(r, id);
    fprintf(stderr, "%s\n", end.body.run_state.text);
    int code = (int)end.body.run_state.code;
    if (code == CMD_EXIT_USAGE || code == CMD_EXIT_INTERRUPTED)
        return code;
    return show(r, to, id, e) ? -1 : code;
}

int follow_run(const follow_request *request, err *e)
{
    bool go = true;
    if (confirm(request->eval, &go, e))
        return -1;
    if (!go) {
        fprintf(stderr, "nothing was started\n");
        return CMD_EXIT_COMPLETE;
    }
    SCOPED(remote_destroy) remote *to = remote_open(request->coordinator, request->key, e);
    return to ? follow(request, to, e) : -1;
}
