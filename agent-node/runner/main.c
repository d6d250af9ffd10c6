/* ce-runner - runs one candidate on one device for ce-node
 *
 * Started by agent-node/runner_proc.c with a connected socket. Leaves by _exit: after a fault or with a
 * kernel that never ends, the driver's own exit handlers would wait for the device.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <fcntl.h>

#include "agent-node/runner/gpu.h"
#include "agent-node/runner/limits.h"
#include "agent-node/runner/probe.h"
#include "agent-node/runner/serve.h"
#include "common/cli.h"
#include "common/scoped.h"

typedef struct settings {
    const char *device, *fake, *problem;
    int64_t fd;
    bool probe, profiler, exact;
} settings;

static const cli_option options[] = {
    {"device", CLI_STR, offsetof(settings, device), "DEVICE", "cuda:N, emu or fake", 0, 0, NULL},
    {"fake", CLI_STR, offsetof(settings, fake), "FILE", "what the fake device answers", 0, 0, NULL},
    {"problem", CLI_STR, offsetof(settings, problem), "ID", "whose entry of the script", 0, 0,
     NULL},
    {"fd", CLI_INT, offsetof(settings, fd), "N", "the connected socket", 3, 1023, NULL},
    {"exact", CLI_FLAG, offsetof(settings, exact), NULL,
     "run under a tool that looks on: memory of exact sizes, no kernel but the candidate's", 0, 0,
     NULL},
    {"probe", CLI_FLAG, offsetof(settings, probe), NULL, "list the devices as JSON and exit", 0, 0,
     NULL},
    {"profiler", CLI_FLAG, offsetof(settings, profiler), NULL,
     "say where CUPTI is as JSON and exit", 0, 0, NULL},
    {0},
};

static const cli_command command = {
    .name = "ce-runner",
    .summary = "runs one candidate on one device; ce-node starts it",
    .arguments = "",
    .examples = "  ce-runner --probe\n  ce-runner --device cuda:0 --fd 3\n",
    .options = options,
};

static int complain(const err *e)
{
    fprintf(stderr, "ce-runner: %s\n", e->text);
    return e->code == ERR_USAGE ? 2 : 1;
}

static int run(const settings *s)
{
    err e = {0};
    int fd = (int)s->fd;
    if (fcntl(fd, F_GETFD) < 0) {
        err_errno(&e, errno, "descriptor %d, the socket to the node", fd);
        return complain(&e);
    }
    signal(SIGPIPE, SIG_IGN);
    gpu_options what = {
        .device = s->device, .fake_script = s->fake, .problem = s->problem, .exact = s->exact};
    /* A tool's own descriptors must stay open, and the process that started us need not be ours. */
    gpu *device = !s->exact && limits_apply(fd, &e) < 0 ? NULL : gpu_open(&what, &e);
    if (device == NULL) {
        serve_failed(fd, &e);
        return complain(&e);
    }
    if (serve_run(fd, device, &e) < 0)
        return complain(&e);
    return 0;
}

int main(int argc, char **argv)
{
    err e = {0};
    settings s = {.fd = 3};
    bool help = false;
    size_t count = 0;
    const char *arguments[1];
    if (cli_parse(&command, argc, argv, &s, arguments, &count, &help, &e) < 0)
        return complain(&e);
    if (help) {
        cli_print_help(&command, "", stdout);
        return 0;
    }
    if (s.probe) {
        probe_print(s.device, s.fake, stdout);
        return 0;
    }
    if (s.profiler) {
        probe_print_profiler(stdout);
        return 0;
    }
    if (s.device == NULL) {
        err_set(&e, ERR_USAGE, "--device is missing: cuda:N, emu or fake");
        return complain(&e);
    }
    int code = run(&s);
    if (s.exact)
        return code; /* the tool's part in this process has its say at the end */
    (void)fflush(NULL);
    _exit(code);
}
