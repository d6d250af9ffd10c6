/* settings - what a ce-node was started with
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/settings.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

#define AT(member) offsetof(settings, member)

static const cli_option options[] = {
    {.name = "coordinator",
     .type = CLI_STR,
     .offset = AT(coordinator),
     .value = "URI",
     .help = "the coordinator's endpoint, for example ipc:///run/ce.sock or tcp://HOST:PORT "
             "(required)"},
    {.name = "key",
     .type = CLI_STR,
     .offset = AT(key),
     .value = "FILE",
     .help =
         "key file that `ce-coord keys new NAME` wrote; needed for a coordinator on another host"},
    {.name = "device",
     .type = CLI_STR,
     .offset = AT(device),
     .value = "KIND",
     .help = "auto, cuda, emu or fake (default auto: cuda, else emu)"},
    {.name = "slots",
     .type = CLI_INT,
     .offset = AT(slots),
     .value = "N",
     .help = "tasks at once; most of them wait for a model (default 96 for each device)",
     .min = 1,
     .max = SETTINGS_SLOTS_MAX},
    {.name = "name",
     .type = CLI_STR,
     .offset = AT(name),
     .value = "NAME",
     .help =
         "name at the coordinator (default host name and process id, after the key's name and a "
         "dot if there is a key)"},
    {.name = "python",
     .type = CLI_STR,
     .offset = AT(python),
     .value = "FILE",
     .help = "interpreter with PyTorch for the judge (default: the first python3 that has it)"},
    {.name = "fake",
     .type = CLI_STR,
     .offset = AT(fake),
     .value = "FILE",
     .help = "script of the fake device: outcomes and times (default: all well)"},
    {.name = "cache",
     .type = CLI_STR,
     .offset = AT(cache),
     .value = "DIR",
     .help = "keep blobs and compiler caches here (default: not kept)"},
    {.name = "spool",
     .type = CLI_STR,
     .offset = AT(spool),
     .value = "DIR",
     .help =
         "keep what the coordinator has not acknowledged here, too: a node that is started again "
         "under the same --name tells it (default: in memory only)"},
    {.name = "compilers",
     .type = CLI_INT,
     .offset = AT(compilers),
     .value = "N",
     .help = "warm compiler children (default 2)",
     .min = 1,
     .max = 64},
    {.name = "nvrtc",
     .type = CLI_STR,
     .offset = AT(nvrtc),
     .value = "FILE",
     .help = "libnvrtc to use (default: searched)"},
    {.name = "cupti",
     .type = CLI_STR,
     .offset = AT(cupti),
     .value = "FILE",
     .help = "libcupti to profile with (default: CE_CUPTI, else PyTorch's, else the toolkit's)"},
    {.name = "sanitizer",
     .type = CLI_STR,
     .offset = AT(sanitizer),
     .value = "FILE",
     .help =
         "compute-sanitizer to use (default: $CE_SANITIZER; with a GPU else the one on PATH or of "
         "/usr/local/cuda)"},
    {.name = "unsafe-compile",
     .type = CLI_FLAG,
     .offset = AT(unsafe_compile),
     .help = "compile even where no sandbox can be made: sources may read files of this host"},
    {.name = "local",
     .type = CLI_FLAG,
     .offset = AT(local),
     .help = "end when the starting process ends (ce-coord uses it)"},
    {.name = "verbose", .type = CLI_FLAG, .offset = AT(verbose), .help = "log debug lines"},
    {.name = NULL}};

static const cli_command command = {
    .name = "",
    .summary =
        "works for a coordinator: compiles, checks and times candidates on this host's devices",
    .arguments = "",
    .examples = "  ce-node --coordinator ipc:///tmp/ce.sock\n"
                "  ce-node --coordinator tcp://127.0.0.1:7000 --device fake --fake script.json\n"
                "  ce-node --coordinator tcp://10.0.0.2:7000 --key a100-1.key --name a100-1\n"
                "  ce-node selftest --help timing against kernels whose speed is known\n"
                "  ce-node emu --help      one kernel on the CPU, every access checked\n",
    .options = options};

static int check(const settings *s, err *e)
{
    static const char *const kinds[] = {"auto", "cuda", "emu", "fake"};
    if (s->coordinator == NULL) {
        return err_set(e, ERR_USAGE, "--coordinator URI is required; see ce-node --help");
    }
    if (s->spool != NULL && s->name == NULL) {
        return err_set(e, ERR_USAGE,
                       "--spool %s wants --name NAME: what is left there is told under "
                       "the same name",
                       s->spool);
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i], s->device) == 0) {
            return 0;
        }
    }
    return err_set(e, ERR_USAGE, "--device %s: want auto, cuda, emu or fake", s->device);
}

int settings_parse(int argc, char **argv, settings *out, bool *help, err *e)
{
    const char *arguments[1];
    size_t count = 0;
    *out = (settings){.device = "auto",
                      .compilers = 2,
                      .cupti = getenv("CE_CUPTI"),
                      .sanitizer = getenv("CE_SANITIZER")};
    if (cli_parse(&command, argc, argv, out, arguments, &count, help, e) != 0) {
        return -1;
    }
    if (*help) {
        cli_print_help(&command, "ce-node", stdout);
        return 0;
    }
    return check(out, e);
}
