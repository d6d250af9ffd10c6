/* main - ce-coord: the user's command line and the coordinator
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "coordinator/cmd.h"

#define COMMAND(name) extern const cmd_entry cmd_##name;
#include "coordinator/commands.def"
#undef COMMAND

static const cmd_entry *const commands[] = {
#define COMMAND(name) &cmd_##name,
#include "coordinator/commands.def"
#undef COMMAND
    NULL};

int main(int argc, char **argv)
{
    log_open("ce-coord", LOG_WARN, "all", 2);
    const cmd_program program = {
        .name = "ce-coord",
        .summary = "how well do language models write CUDA kernels?",
        .version = CE_VERSION,
        .commands = commands,
        .ce_home = getenv("CE_HOME"),
        .xdg_data_home = getenv("XDG_DATA_HOME"),
        .home = getenv("HOME"),
        .environment = (const char *const *)environ,
    };
    return cmd_dispatch(&program, argc, argv);
}
