/* main - ce-node: a host's devices at work for a coordinator
 *
 * Start: options, devices, compiler children, then the session's loop. Task threads come and go with
 * leases. Signals arrive through a signalfd: SIGTERM drains (tasks end first; a second one: stages do; a
 * third one: nothing is waited for), SIGINT ends the loop at once. In the end every running task is
 * cancelled and joined, children die with their owners.
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent-node/cmd_checkout.h"
#include "agent-node/cmd_emu.h"
#include "agent-node/cmd_selftest.h"
#include "agent-node/host.h"
#include "agent-node/leftovers.h"
#include "agent-node/pipeline.h"
#include "agent-node/settings.h"
#include "agent-node/tasks.h"
#include "common/file.h"
#include "common/json.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { BLOB_MEMORY = 256 * 1024 * 1024, NAME_MAX_BYTES = 64 };

/* Everything the process owns, in the order it is made. */
typedef struct node {
    settings settings;
    curve_file key; /* of settings.key */
    char name[NAME_MAX_BYTES];
    lanes *lanes;
    compile_pool *compiler;
    blob_store *blobs;
    struct row_device devices[LANES_MAX];
    char *software; /* versions and the machine, as JSON */
    session *session;
    tasks *tasks;
    char *spool;          /* folder of this node's leases; NULL: none */
    leftovers *leftovers; /* of an earlier process there */
    pthread_t teller;     /* tells them */
    bool telling;
    int signals; /* signalfd */
    int terms;   /* SIGTERMs seen */
} node;

static void node_fini(node *self)
{
    tasks_destroy(&self->tasks);
    if (self->telling) {
        pthread_join(self->teller, NULL);
    }
    leftovers_destroy(&self->leftovers);
    scoped_free(&self->spool);
    session_destroy(&self->session);
    blob_store_destroy(&self->blobs);
    compile_pool_destroy(&self->compiler);
    lanes_destroy(&self->lanes);
    scoped_free(&self->software);
    scoped_close(&self->signals);
    curve_wipe(&self->key.pair);
}

static void on_lease(void *arg, message *lease)
{
    node *self = arg;
    tasks_lease(self->tasks, lease);
}

static void on_measure(void *arg, message *m)
{
    node *self = arg;
    tasks_measure(self->tasks, m);
}

static void on_cancel(void *arg, const char *task)
{
    node *self = arg;
    tasks_cancel(self->tasks, task);
}

static void on_claim(void *arg)
{
    node *self = arg;
    tasks_claim(self->tasks);
}

static void on_drain(void *arg, int how)
{
    node *self = arg;
    tasks_drain(self->tasks, how);
}

/* SIGTERM drains, each further one more sharply; SIGINT ends the node. */
static void on_signal(void *arg)
{
    node *self = arg;
    struct signalfd_siginfo info;
    if (read(self->signals, &info, sizeof(info)) != (ssize_t)sizeof(info)) {
        return;
    }
    log_line(LOG_INFO, "node", "stopping on signal %u", info.ssi_signo);
    if (info.ssi_signo == SIGTERM) {
        tasks_drain(self->tasks, self->terms++);
    } else {
        session_stop(self->session);
    }
}

static int open_signals(node *self, err *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    self->signals = signalfd(-1, &set, SFD_CLOEXEC);
    return self->signals >= 0 ? 0 : err_set(e, ERR_SYSTEM, "no signalfd");
}

static void name_node(node *self)
{
    char host[NAME_MAX_BYTES / 4] = "node"; /* with a key's name and a number it must fit */
    gethostname(host, sizeof(host) - 1);
    if (self->settings.name != NULL) {
        snprintf(self->name, sizeof(self->name), "%s", self->settings.name);
    } else {
        bool keyed = self->settings.key != NULL;
        char whole[CURVE_NAME + NAME_MAX_BYTES];
        snprintf(whole, sizeof(whole), "%s%s%s-%d", keyed ? self->key.name : "", keyed ? "." : "",
                 host, (int)getpid());
        /* After a long key the number may be cut: the instance tells two nodes apart, too. */
        snprintf(self->name, sizeof(self->name), "%.*s", NAME_MAX_BYTES - 1, whole);
    }
}

/* The CUDA major version of "13.0"; 0 without a driver: then any NVRTC will do. */
static int driver_major(const char *version)
{
    return (int)strtol(version, NULL, 10);
}

static int open_parts(node *self, err *e)
{
    SCOPED(scoped_free) char *here = file_self_dir(e);
    if (here == NULL) {
        return -1;
    }
    SCOPED(scoped_free) char *binary = file_join(here, "ce-compiler");
    self->lanes = lanes_create(&self->settings, e);
    if (self->lanes == NULL) {
        return -1;
    }
    compile_options compile = {.binary = binary,
                               .children = (size_t)self->settings.compilers,
                               .nvrtc = self->settings.nvrtc,
                               .max_major = driver_major(lanes_facts(self->lanes, 0)->driver),
                               .unsafe = self->settings.unsafe_compile};
    self->compiler = compile_pool_create(&compile, e);
    self->blobs = blob_store_create(self->settings.cache, BLOB_MEMORY, e);
    return self->compiler != NULL && self->blobs != NULL ? 0 : -1;
}

static int open_spool(node *self, err *e)
{
    if (self->settings.spool == NULL) {
        return 0;
    }
    if (strchr(self->name, '/') != NULL) {
        return err_set(e, ERR_USAGE, "--spool: %s is no name of a folder", self->name);
    }
    self->spool = file_join(self->settings.spool, self->name);
    self->leftovers = leftovers_find(self->spool, e);
    return self->leftovers != NULL ? 0 : -1;
}

static bool has_leftovers(const node *self)
{
    return self->leftovers != NULL && leftovers_count(self->leftovers) > 0;
}

static void *tell_leftovers(void *arg)
{
    node *self = arg;
    leftovers_tell(self->leftovers, self->session);
    return NULL;
}

/* Only what can run keeps tasks busy; a node without a device still runs references. */
static void count_slots(node *self)
{
    int64_t usable = 0;
    for (size_t i = 0; i < lanes_count(self->lanes); i++) {
        usable += strcmp(lanes_facts(self->lanes, i)->kind, "none") != 0;
    }
    int64_t wanted = SETTINGS_SLOTS * (usable > 0 ? usable : 1);
    if (self->settings.slots == 0) {
        self->settings.slots = wanted < SETTINGS_SLOTS_MAX ? wanted : SETTINGS_SLOTS_MAX;
    }
}

static int open_session(node *self, err *e)
{
    count_slots(self);
    SCOPED(json_destroy) json *software = host_json(CE_VERSION);
    self->software = json_dump(software);
    session_options options = {.coordinator = self->settings.coordinator,
                               .key = self->settings.key != NULL ? &self->key : NULL,
                               .node = self->name,
                               .slots = self->settings.slots,
                               .software = self->software,
                               .devices = self->devices,
                               .device_count = lanes_rows(self->lanes, self->devices),
                               .spooled = has_leftovers(self),
                               .events = {.lease = on_lease,
                                          .cancel = on_cancel,
                                          .measure = on_measure,
                                          .claim = on_claim,
                                          .drain = on_drain,
                                          .arg = self}};
    self->session = session_create(&options, e);
    if (self->session == NULL) {
        return -1;
    }
    session_watch(self->session, self->signals, on_signal, self);
    node_parts parts = {.settings = &self->settings,
                        .lanes = self->lanes,
                        .compiler = self->compiler,
                        .session = self->session,
                        .spool = self->spool,
                        .blobs = self->blobs};
    self->tasks = tasks_create(&parts, self->settings.slots);
    return 0;
}

static int serve(const settings *options, err *e)
{
    node self SCOPED(node_fini) = {.settings = *options, .signals = -1};
    log_open("ce-node", options->verbose ? LOG_DEBUG : LOG_WARN, "all", STDERR_FILENO);
    if (options->local) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    if (options->key != NULL && curve_load(options->key, &self.key, e) != 0) {
        return -1;
    }
    name_node(&self);
    if (open_signals(&self, e) != 0 || open_parts(&self, e) != 0 || open_spool(&self, e) != 0 ||
        open_session(&self, e) != 0) {
        return -1;
    }
    if (has_leftovers(&self)) {
        self.telling = pthread_create(&self.teller, NULL, tell_leftovers, &self) == 0;
    }
    int rc = session_run(self.session, e);
    tasks_cancel(self.tasks, NULL);
    return rc;
}

int main(int argc, char **argv)
{
    settings options;
    bool help = false;
    err e = {0};
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("ce-node %s\n", CE_VERSION);
        return 0;
    }
    if (argc >= 2 && strcmp(argv[1], "emu") == 0) {
        return cmd_emu(argc - 1, argv + 1);
    }
    if (argc >= 2 && strcmp(argv[1], "checkout") == 0) {
        return cmd_checkout(argc - 1, argv + 1);
    }
    if (argc >= 2 && strcmp(argv[1], "selftest") == 0) {
        return cmd_selftest(argc - 1, argv + 1);
    }
    if (settings_parse(argc, argv, &options, &help, &e) != 0) {
        fprintf(stderr, "ce-node: %s\n", e.text);
        return 2;
    }
    if (!help && serve(&options, &e) != 0) {
        fprintf(stderr, "ce-node: %s\n", e.text);
        return 1;
    }
    return 0;
}
