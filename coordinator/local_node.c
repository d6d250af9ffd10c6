/* local_node - spawn, watch, spawn again
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/local_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/subproc.h"
#include "common/xalloc.h"

enum { ARGS_MAX = 20, EXIT_USAGE = 2 };

struct local_node {
    local_node_options options; /* texts borrowed */
    char *binary;
    loop *events; /* borrowed */
    subproc *process;
    int watch; /* loop id of its pidfd; 0: none */
    int restarts;
};

static int spawn(local_node *self, err *e);

static char *find_binary(const char *given, err *e)
{
    if (given)
        return xstrdup(given);
    SCOPED(scoped_free) char *folder = file_self_dir(e);
    return folder ? file_join(folder, "ce-node") : NULL;
}

static void on_exit_seen(void *arg)
{
    local_node *self = arg;
    int status = 0;
    char how[64];
    err e = {0};
    if (subproc_wait(self->process, 0, &status, &e))
        return;
    subproc_status_text(status, how, sizeof how);
    loop_remove(self->events, self->watch);
    self->watch = 0;
    subproc_destroy(&self->process);
    bool given_up = self->restarts >= LOCAL_NODE_RESTARTS ||
                    (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE);
    if (!given_up) {
        self->restarts++;
        given_up = spawn(self, &e) != 0;
    }
    self->options.exited(self->options.arg, given_up && *e.text ? e.text : how, given_up);
}

static int spawn(local_node *self, err *e)
{
    char slots[24];
    const char *argv[ARGS_MAX] = {
        self->binary,    "--coordinator", self->options.endpoint, "--local", "--name",
        LOCAL_NODE_NAME, "--device",      self->options.device};
    size_t count = 8;
    if (self->options.python) {
        argv[count++] = "--python";
        argv[count++] = self->options.python;
    }
    if (self->options.fake) {
        argv[count++] = "--fake";
        argv[count++] = self->options.fake;
    }
    if (self->options.slots) {
        snprintf(slots, sizeof slots, "%lld", (long long)self->options.slots);
        argv[count++] = "--slots";
        argv[count++] = slots;
    }
    /* A part of this program: it gets our environment (keys live on the node). */
    const subproc_options how = {.argv = argv, .env = (const char *const *)environ};
    self->process = subproc_start(&how, e);
    if (!self->process)
        return err_wrap(e, "start the local node");
    self->watch = loop_add_fd(self->events, subproc_fd_exit(self->process), on_exit_seen, self);
    return 0;
}

local_node *local_node_start(const local_node_options *options, loop *events, err *e)
{
    local_node *self = xcalloc(1, sizeof *self);
    self->options = *options;
    self->events = events;
    self->binary = find_binary(options->binary, e);
    if (self->binary && spawn(self, e) == 0)
        return self;
    local_node_stop(&self, 0);
    return NULL;
}

void local_node_stop(local_node **self, int64_t grace_ms)
{
    if (!*self)
        return;
    int status;
    if ((*self)->watch)
        loop_remove((*self)->events, (*self)->watch);
    if ((*self)->process && grace_ms > 0)
        subproc_wait((*self)->process, grace_ms, &status, NULL);
    subproc_destroy(&(*self)->process);
    free((*self)->binary);
    free(*self);
    *self = NULL;
}
