/* main - ce-coord: the user's command line and the coordinator
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"

#define COMMAND(name) extern const cmd_entry cmd_##name;
#include "coordinator/commands.def"
#undef COMMAND

static const cmd_entry *const commands[] = {
#define COMMAND(name) &cmd_##name,
#include "coordinator/commands.def"
#undef COMMAND
    NULL};

/* A secret of this process alone: no child inherits it. */
static char *take_secret(const char *name)
{
    const char *value = getenv(name);
    char *copy = value ? xstrdup(value) : NULL;
    unsetenv(name);
    return copy;
}

int main(int argc, char **argv)
{
    log_open("ce-coord", LOG_WARN, "all", 2);
    char *http_token = take_secret("CE_HTTP_TOKEN");
    const cmd_program program = {
        .name = "ce-coord",
        .summary = "how well do language models write CUDA kernels?",
        .version = CE_VERSION,
        .commands = commands,
        .ce_home = getenv("CE_HOME"),
        .xdg_data_home = getenv("XDG_DATA_HOME"),
        .home = getenv("HOME"),
        .http_token = http_token,
        .term = {getenv("TERM"), getenv("NO_COLOR")},
        .environment = (const char *const *)environ,
    };
    int code = cmd_dispatch(&program, argc, argv);
    free(http_token);
    return code;
}
