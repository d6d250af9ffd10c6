/* cmd_drain - ce-coord drain: a node takes no further tasks and leaves
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/remote.h"

typedef struct options {
    const char *coordinator, *key, *db;
    bool quick, now;
} options;

static const cli_option table[] = {
    {.name = "quick",
     .type = CLI_FLAG,
     .offset = offsetof(options, quick),
     .help = "each task ends the stage it is in, then goes back (default: tasks end first)"},
    {.name = "now",
     .type = CLI_FLAG,
     .offset = offsetof(options, now),
     .help = "tasks go back at once; the stages they are in are lost"},
    REMOTE_OPTIONS(options),
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {
    .name = "drain",
    .summary = "let a node leave: it takes no further tasks, and its tasks are nobody's fault",
    .arguments = "NODE",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples = "ce-coord drain a100-1\nce-coord drain a100-1 --quick\n",
    .options = table};

static int run_drain(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(scoped_free)
    char *uri = o->coordinator ? xstrdup(o->coordinator) : remote_default(call->db);
    SCOPED(remote_destroy) remote *to = remote_open(uri, o->key, e);
    message m;
    if (!to)
        return -1;
    message_init(&m, MSG_DRAIN);
    message_set_str(&m.body.drain.node, call->arguments[0]);
    m.body.drain.how = o->now ? 2 : o->quick ? 1 : 0;
    if (remote_tell(to, &m, e))
        return -1;
    printf("node %s is drained\n", call->arguments[0]);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_drain = {.cli = &command,
                             .options_size = sizeof(options),
                             .db_offset = offsetof(options, db),
                             .flags = CMD_DB,
                             .run = run_drain};
