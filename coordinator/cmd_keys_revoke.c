/* cmd_keys_revoke - ce-coord keys revoke: a key is not allowed any more
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "coordinator/keyring.h"

typedef struct options {
    const char *keys;
} options;

static const cli_option table[] = {CMD_OPTION_KEYS(options), {.name = NULL}};

static const cli_command command = {
    .name = "keys revoke",
    .summary = "take a key off the list; its node is dropped within seconds, its tasks go back",
    .arguments = "NAME",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples = "ce-coord keys revoke a100-1\n",
    .options = table};

static int run_revoke(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(scoped_free) char *folder = cmd_keys_path(call->program, o->keys, e);
    if (!folder || keyring_revoke(folder, call->arguments[0], e))
        return -1;
    printf("key %s is revoked\n", call->arguments[0]);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_keys_revoke = {
    .cli = &command, .options_size = sizeof(options), .run = run_revoke};
