/* cmd_serve - ce-coord serve: a coordinator that stays
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/file.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/broadcast.h"
#include "coordinator/cmd.h"
#include "coordinator/crier.h"
#include "coordinator/notify.h"
#include "coordinator/remote.h"
#include "coordinator/service.h"
#include "coordinator/settings.h"

enum { SOCKET_PATH_MAX = 100, HOUR_MS = 3600 * 1000 };

typedef struct options {
    const char *bind, *db, *keys, *out, *suites, *http, *hook;
    double node_timeout_s, dead_man_h;
} options;

#define AT(member) offsetof(options, member)

static const cli_option table[] = {
    {.name = "bind",
     .type = CLI_STR,
     .offset = AT(bind),
     .value = "URI",
     .help = "where nodes and operators join: tcp://HOST:PORT (with keys), curve://127.0.0.1:PORT, "
             "tcp://127.0.0.1:PORT, ipc://PATH (default: this host only, beside the database)"},
    CMD_OPTION_DB(options),
    CMD_OPTION_KEYS(options),
    CMD_OPTION_SUITES(options),
    {.name = "out",
     .type = CLI_STR,
     .offset = AT(out),
     .value = "DIR",
     .help = "reports go to DIR/RUN (default ce-runs)"},
    {.name = "http",
     .type = CLI_STR,
     .offset = AT(http),
     .value = "ADDR",
     .help =
         "serve the live page, and /metrics, at PORT or HOST:PORT; off loopback it needs a token "
         "in CE_HTTP_TOKEN"},
    CRIER_OPTION(options),
    {.name = "dead-man",
     .type = CLI_REAL,
     .offset = AT(dead_man_h),
     .value = "H",
     .help = "with --hook: tell it when no run has been complete for H hours",
     .min = 0.0001,
     .max = 10000},
    {.name = "node-timeout",
     .type = CLI_REAL,
     .offset = AT(node_timeout_s),
     .value = "S",
     .help = "a node silent for S seconds is lost (default 15)",
     .min = 0.3,
     .max = 3600},
    {.name = NULL}};

static const cli_command command = {
    .name = "serve",
    .summary = "run a coordinator that stays: runs are submitted to it, nodes join and leave",
    .arguments = "",
    .examples = "ce-coord serve --bind tcp://0.0.0.0:7000\n"
                "ce-coord serve --http 8700\n"
                "ce-node --coordinator tcp://10.0.0.2:7000 --key a100-1.key\n"
                "ce-coord eval --coordinator tcp://10.0.0.2:7000 --key me.key --suite internal "
                "--model-id gold\n",
    .options = table};

/* What the loop looks at besides its sockets. */
typedef struct serving {
    const cmd_call *call;
    service *service;
    broadcast *live; /* NULL: no page */
    int signals;
} serving;

static void on_signal(void *arg)
{
    serving *self = arg;
    struct signalfd_siginfo info;
    if (read(self->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        log_line(LOG_WARN, "serve", "stopping on signal %u; runs go on when it is started again",
                 info.ssi_signo);
        service_stop(self->service);
    }
}

static void on_alive(void *arg)
{
    (void)arg;
    notify_alive();
}

static int watch_signals(serving *self, err *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* before any thread begins */
    self->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return self->signals >= 0 ? 0 : err_errno(e, errno, "watch for signals");
}

static int show_live(serving *self, err *e)
{
    const options *o = self->call->options;
    const dashboard_options how = {.address = o->http,
                                   .token = self->call->program->http_token,
                                   .db = self->call->db,
                                   .version = CE_VERSION};
    self->live = o->http ? broadcast_start(service_coord(self->service), &how, e) : NULL;
    return o->http && !self->live ? -1 : 0;
}

static void say_ready(const serving *self)
{
    const coord *c = service_coord(self->service);
    printf("serving at %s\n", c->endpoint);
    if (self->live)
        printf("live page: %s%s\n", broadcast_url(self->live),
               self->call->program->http_token ? "login?token=… (the token of CE_HTTP_TOKEN)" : "");
    if (c->joined)
        printf("nodes may join: ce-node --coordinator %s\n", c->joined);
    fflush(stdout);
    notify_ready();
}

static int serve(serving *self, err *e)
{
    coord *c = service_coord(self->service);
    loop_add_fd(c->events, self->signals, on_signal, self);
    if (notify_every_ms() > 0)
        loop_add_timer(c->events, 0, notify_every_ms(), on_alive, NULL);
    if (show_live(self, e))
        return -1;
    say_ready(self);
    int rc = service_run(self->service, e);
    notify_stopping();
    return rc ? -1 : CMD_EXIT_COMPLETE;
}

static int run_serve(const cmd_call *call, err *e)
{
    const options *o = call->options;
    serving self = {.call = call, .signals = -1};
    SCOPED(scoped_free) char *keys = cmd_keys_path(call->program, o->keys, NULL);
    SCOPED(scoped_free) char *local = remote_default(call->db);
    if (watch_signals(&self, e))
        return -1;
    SCOPED(store_destroy) store *s = store_open(call->db, STORE_OWN, e);
    if (!s)
        return -1;
    const crier_options told = {
        .command = o->hook, .db = call->db, .environment = call->program->environment};
    SCOPED(crier_destroy) crier *teller = NULL;
    if (o->dead_man_h > 0 && !o->hook)
        return err_set(e, ERR_USAGE, "--dead-man tells the --hook, and there is none");
    if (o->hook && !(teller = crier_create(&told, e)))
        return -1;
    const service_options how = {.store = s,
                                 .hook = teller,
                                 .dead_man_ms = (int64_t)(o->dead_man_h * HOUR_MS),
                                 .bind = o->bind,
                                 .endpoint = strlen(local) < SOCKET_PATH_MAX ? local : NULL,
                                 .keys = keys,
                                 .out = o->out ? o->out : "ce-runs",
                                 .suites = o->suites,
                                 .version = CE_VERSION,
                                 .lost_ms = o->node_timeout_s > 0
                                                ? (int64_t)(o->node_timeout_s * 1000)
                                                : SETTINGS_NODE_TIMEOUT_MS};
    self.service = service_create(&how, e);
    int code = self.service ? serve(&self, e) : -1;
    broadcast_stop(&self.live);
    service_destroy(&self.service);
    scoped_close(&self.signals);
    return code;
}

const cmd_entry cmd_serve = {.cli = &command,
                             .options_size = sizeof(options),
                             .db_offset = AT(db),
                             .flags = CMD_DB,
                             .run = run_serve};
