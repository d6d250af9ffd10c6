/* cmd_cancel - ce-coord cancel: stop a run of a serving coordinator
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/remote.h"

typedef struct options {
    const char *coordinator, *key, *db;
} options;

static const cli_option table[] = {REMOTE_OPTIONS(options), CMD_OPTION_DB(options), {.name = NULL}};

static const cli_command command = {
    .name = "cancel",
    .summary =
        "stop a run of a serving coordinator; what is recorded stays, `eval --resume` goes on",
    .arguments = "RUN",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples = "ce-coord cancel 01jdq\n",
    .options = table};

static int run_cancel(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(scoped_free)
    char *uri = o->coordinator ? xstrdup(o->coordinator) : remote_default(call->db);
    SCOPED(remote_destroy) remote *to = remote_open(uri, o->key, e);
    message m;
    if (!to)
        return -1;
    message_init(&m, MSG_CANCEL_RUN);
    message_set_str(&m.body.cancel_run.run, call->arguments[0]);
    if (remote_tell(to, &m, e))
        return -1;
    printf("run %s is cancelled\n", call->arguments[0]);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_cancel = {.cli = &command,
                              .options_size = sizeof(options),
                              .db_offset = offsetof(options, db),
                              .flags = CMD_DB,
                              .run = run_cancel};
