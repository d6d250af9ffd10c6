/* cmd_selftest - see cmd_selftest.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/cmd_selftest.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/pipeline.h"
#include "agent-node/selftest.h"
#include "agent-node/settings.h"
#include "agent-node/tasks.h"
#include "common/cli.h"
#include "common/file.h"
#include "common/json.h"
#include "common/log.h"
#include "common/scoped.h"

enum {
    EXIT_WELL = 0,
    EXIT_HARNESS = 1,
    EXIT_USAGE = 2,
    EXIT_NO = 3,
    EXIT_NO_DEVICE = 5,
    BLOB_MEMORY = 256 * 1024 * 1024
};

typedef struct options {
    settings node; /* of it only what is named below */
    bool quick;
} options;

#define AT(member) offsetof(options, member)

static const cli_option table[] = {
    {.name = "quick",
     .type = CLI_FLAG,
     .offset = AT(quick),
     .help = "every check once: about 20 s a card; without it about five minutes"},
    {.name = "coordinator",
     .type = CLI_STR,
     .offset = AT(node.coordinator),
     .value = "URI",
     .help = "store the rows there, as the calibration of these cards"},
    {.name = "key",
     .type = CLI_STR,
     .offset = AT(node.key),
     .value = "FILE",
     .help = "key file, for a coordinator on another host"},
    {.name = "device",
     .type = CLI_STR,
     .offset = AT(node.device),
     .value = "KIND",
     .help = "cuda or fake (default cuda)"},
    {.name = "python",
     .type = CLI_STR,
     .offset = AT(node.python),
     .value = "FILE",
     .help = "interpreter with PyTorch for the judge (default: the first python3 that has it)"},
    {.name = "fake",
     .type = CLI_STR,
     .offset = AT(node.fake),
     .value = "FILE",
     .help = "script of the fake device"},
    {.name = "nvrtc",
     .type = CLI_STR,
     .offset = AT(node.nvrtc),
     .value = "FILE",
     .help = "libnvrtc to use (default: searched)"},
    {.name = "unsafe-compile",
     .type = CLI_FLAG,
     .offset = AT(node.unsafe_compile),
     .help = "compile even where no sandbox can be made"},
    {.name = NULL}};

static const cli_command command = {
    .name = "selftest",
    .summary = "compares this host's timing with kernels whose speed is known",
    .arguments = "",
    .examples = "  ce-node selftest --quick\n"
                "  ce-node selftest > selftest.json     everything; 3 when a check says no\n"
                "  ce-node selftest --coordinator tcp://127.0.0.1:7000\n",
    .options = table};

/* What a node needs to time something, without a coordinator. */
typedef struct parts {
    node_parts node;
    lanes *lanes;
    compile_pool *compiler;
    blob_store *blobs;
    struct row_device devices[LANES_MAX];
    curve_file key;
    pthread_t thread; /* of the session */
    bool running;
} parts;

static void parts_fini(parts *self)
{
    if (self->running) {
        session_stop(self->node.session);
        pthread_join(self->thread, NULL);
    }
    session_destroy(&self->node.session);
    blob_store_destroy(&self->blobs);
    compile_pool_destroy(&self->compiler);
    lanes_destroy(&self->lanes);
}

static int parts_open(parts *self, const options *o, err *e)
{
    *self = (parts){.lanes = NULL};
    SCOPED(scoped_free) char *here = file_self_dir(e);
    if (here == NULL || (self->lanes = lanes_create(&o->node, e)) == NULL)
        return -1;
    SCOPED(scoped_free) char *binary = file_join(here, "ce-compiler");
    const compile_options compile = {.binary = binary,
                                     .children = 1,
                                     .nvrtc = o->node.nvrtc,
                                     .max_major =
                                         (int)strtol(lanes_facts(self->lanes, 0)->driver, NULL, 10),
                                     .unsafe = o->node.unsafe_compile};
    self->compiler = compile_pool_create(&compile, e);
    self->blobs = blob_store_create(NULL, BLOB_MEMORY, e);
    self->node = (node_parts){.settings = &o->node,
                              .lanes = self->lanes,
                              .compiler = self->compiler,
                              .blobs = self->blobs};
    return self->compiler != NULL && self->blobs != NULL ? 0 : -1;
}

/* ---- the coordinator ---- */

static void on_lease(void *arg, message *lease)
{
    (void)arg; /* none was asked for: the coordinator takes it back when this session ends */
    (void)lease;
}

static void on_cancel(void *arg, const char *task)
{
    (void)arg;
    (void)task;
}

static void *run_session(void *arg)
{
    err e = {0};
    session *s = arg;
    if (session_run(s, &e) != 0)
        log_err(LOG_WARN, "session", &e, "the coordinator is gone");
    return NULL;
}

/* meet registers a node that has room for no task. */
static int meet(parts *self, const options *o, err *e)
{
    char name[64];
    if (o->node.key != NULL && curve_load(o->node.key, &self->key, e) != 0)
        return -1;
    snprintf(name, sizeof name, "%s%sselftest-%d", o->node.key != NULL ? self->key.name : "",
             o->node.key != NULL ? "." : "", (int)getpid());
    const session_options how = {.coordinator = o->node.coordinator,
                                 .key = o->node.key != NULL ? &self->key : NULL,
                                 .node = name,
                                 .slots = 1,
                                 .software = "{}",
                                 .devices = self->devices,
                                 .device_count = lanes_rows(self->lanes, self->devices),
                                 .events = {.lease = on_lease, .cancel = on_cancel}};
    self->node.session = session_create(&how, e);
    if (self->node.session == NULL)
        return -1;
    session_free_slot(self->node.session, 0, 0, false);
    if (pthread_create(&self->thread, NULL, run_session, self->node.session) != 0)
        return err_set(e, ERR_SYSTEM, "cannot start a thread");
    self->running = true;
    return 0;
}

/* tell stores the record; what the coordinator finds in it counts too. */
static int tell(const parts *p, calibration_record *record, err *e)
{
    SCOPED(scoped_free) char *text = NULL;
    bool passed = false;
    if (tasks_tell_selftest(p->node.session, record, &passed, &text, e) != 0)
        return err_wrap(e, "the self-test is not stored");
    if (record->passed && !passed)
        fprintf(stderr, "NO   %s\n", text);
    record->passed = passed;
    return 0;
}

/* ---- for people ---- */

static void say(void *arg, const calibration_check *row)
{
    (void)arg;
    fprintf(stderr, "%-4s %-16s %-20s", row->passed ? "ok" : "NO", row->name, row->label);
    if (row->verdict != NULL)
        fprintf(stderr, " %s%s%s%s, θ %+.2f %% [%+.2f, %+.2f], %lld pairs, %.4f ms", row->verdict,
                row->reason != NULL ? "(" : "", row->reason != NULL ? row->reason : "",
                row->reason != NULL ? ")" : "", 100 * row->theta, 100 * row->ci_low,
                100 * row->ci_high, (long long)row->pairs, row->candidate_ms);
    else if (!isnan(row->value))
        fprintf(stderr, " %.4g", row->value);
    fprintf(stderr, "%s%s\n", row->text != NULL ? "  " : "", row->text != NULL ? row->text : "");
}

/* ---- run ---- */

static int test_device(const options *o, const parts *p, const lane_facts *facts, json *list,
                       bool *passed, err *e)
{
    calibration_record record SCOPED(calibration_record_fini) = {.device = NULL};
    const selftest_options how = {.quick = o->quick, .version = CE_VERSION, .said = say};
    atomic_bool never = false;
    lane *held = lanes_acquire_again(p->lanes, facts, &never, e);
    if (held == NULL)
        return -1;
    fprintf(stderr, "%s %s\n", facts->name, facts->uuid);
    int rc = selftest_run(&p->node, held, &how, &record, e);
    lanes_release(p->lanes, &held);
    if (rc == 0 && p->node.session != NULL)
        rc = tell(p, &record, e);
    fprintf(stderr, "%s after %.0f s\n", record.passed ? "passed" : "FAILED", record.wall_s);
    *passed &= record.passed;
    json *row = calibration_json(&record);
    json_append(list, &row);
    return rc;
}

/* The exit code, or -1 and the error. */
static int run(const options *o, err *e)
{
    parts p SCOPED(parts_fini);
    bool passed = true;
    if (parts_open(&p, o, e) != 0)
        return -1;
    if (lanes_usable(p.lanes, NULL) == NULL) {
        fprintf(stderr, "ce-node selftest: %s\n", lanes_facts(p.lanes, 0)->reason);
        return EXIT_NO_DEVICE;
    }
    if (o->node.coordinator != NULL && meet(&p, o, e) != 0)
        return -1;
    SCOPED(json_destroy) json *root = json_new_object();
    json *list = json_new_array();
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < lanes_count(p.lanes); i++)
        if (strcmp(lanes_facts(p.lanes, i)->kind, "none") != 0)
            rc = test_device(o, &p, lanes_facts(p.lanes, i), list, &passed, e);
    json_set_bool(root, "passed", passed && rc == 0);
    json_set(root, "devices", &list);
    SCOPED(scoped_free) char *text = json_dump_pretty(root);
    fputs(text, stdout);
    if (rc != 0)
        return -1;
    return passed ? EXIT_WELL : EXIT_NO;
}

static int check_kind(const options *o, err *e)
{
    return strcmp(o->node.device, "cuda") == 0 || strcmp(o->node.device, "fake") == 0
               ? 0
               : err_set(e, ERR_USAGE, "--device %s: want cuda or fake", o->node.device);
}

int cmd_selftest(int argc, char **argv)
{
    options o = {.node = {.device = "cuda"}};
    size_t count = 0;
    const char *none[1];
    bool help = false;
    err e = {0};
    int rc = cli_parse(&command, argc, argv, &o, none, &count, &help, &e);
    if (rc == 0 && help) {
        cli_print_help(&command, "ce-node", stdout);
        return EXIT_WELL;
    }
    if (rc != 0 || check_kind(&o, &e) != 0) {
        fprintf(stderr, "ce-node selftest: %s\n", e.text);
        return EXIT_USAGE;
    }
    signal(SIGPIPE, SIG_IGN); /* a runner may die while it is spoken to */
    log_open("ce-node", LOG_WARN, "all", 2);
    rc = run(&o, &e);
    if (rc >= 0)
        return rc;
    fprintf(stderr, "ce-node selftest: %s\n", e.text);
    return EXIT_HARNESS;
}
