/* cmd_keys_new - ce-coord keys new: let a node or an operator in
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/keyring.h"

typedef struct options {
    const char *keys, *out;
    bool is_operator;
} options;

static const cli_option table[] = {
    {.name = "operator",
     .type = CLI_FLAG,
     .offset = offsetof(options, is_operator),
     .help = "of somebody who submits, cancels and drains; else of a node"},
    {.name = "out",
     .type = CLI_STR,
     .offset = offsetof(options, out),
     .value = "FILE",
     .help = "the key file to write (default NAME.key); carry it to the node, it is secret"},
    CMD_OPTION_KEYS(options),
    {.name = NULL}};

static const cli_command command = {
    .name = "keys new",
    .summary = "make a key for a node; a running coordinator lets it in within seconds",
    .arguments = "NAME",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples =
        "ce-coord keys new a100-1\n"
        "ce-coord keys new slurm --out /home/ce/slurm.key   # also for nodes slurm.ANYTHING\n"
        "ce-coord keys new laptop --operator\n",
    .options = table};

static int run_new(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(scoped_free) char *folder = cmd_keys_path(call->program, o->keys, e);
    if (!folder)
        return -1;
    SCOPED(scoped_free)
    char *path = o->out ? xstrdup(o->out) : xasprintf("%s.key", call->arguments[0]);
    const keyring_new_key wanted = {.name = call->arguments[0],
                                    .role = o->is_operator ? KEYRING_OPERATOR : KEYRING_NODE,
                                    .path = path,
                                    .now_ms = clock_wall_ms()};
    if (keyring_add(folder, &wanted, e))
        return -1;
    printf("%s\n", path);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_keys_new = {.cli = &command, .options_size = sizeof(options), .run = run_new};
