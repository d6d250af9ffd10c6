/* cmd_docs - ce-coord docs: the pages that tables print
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "coordinator/cmd.h"
#include "wire/message.h"

static const cli_option table[] = {{.name = NULL}};

static const cli_command command = {.name = "docs",
                                    .summary = "print docs/protocol.md or docs/cli.md",
                                    .arguments = "protocol | cli",
                                    .arguments_min = 1,
                                    .arguments_max = 1,
                                    .examples = "ce-coord docs cli\n",
                                    .options = table};

static int run_docs(const cmd_call *call, err *e)
{
    const char *page = call->arguments[0];
    if (strcmp(page, "protocol") == 0)
        message_doc(stdout);
    else if (strcmp(page, "cli") == 0)
        cmd_print_reference(call->program, stdout);
    else
        return err_set(e, ERR_USAGE, "there is no page %s: protocol or cli", page);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_docs = {.cli = &command, .flags = CMD_HIDDEN, .run = run_docs};
