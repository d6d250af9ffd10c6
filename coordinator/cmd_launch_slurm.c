/* cmd_launch_slurm - ce-coord launch slurm: nodes by the scheduler that is there
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/subproc.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/slurm.h"
#include "wire/curve.h"

enum {
    HOSTS_MAX = 4096,
    GPUS_MAX = 64,
    MINUTES_MAX = 60 * 24 * 30,
    SUBMIT_MS = 60000,
    SAID = 4096
};

typedef struct options {
    const char *coordinator, *key, *partition, *device, *binary;
    int64_t hosts, gpus, minutes, warning_s, slots;
    bool dry_run;
} options;

#define AT(member) offsetof(options, member)

static const cli_option table[] = {
    {.name = "coordinator",
     .type = CLI_STR,
     .offset = AT(coordinator),
     .value = "URI",
     .help = "where ce-coord serve listens, as the hosts reach it (required)"},
    {.name = "key",
     .type = CLI_STR,
     .offset = AT(key),
     .value = "FILE",
     .help = "key file of the nodes, where every host can read it; one key serves all of them"},
    {.name = "hosts",
     .type = CLI_INT,
     .offset = AT(hosts),
     .value = "N",
     .help = "hosts, one node each (default 1)",
     .min = 1,
     .max = HOSTS_MAX},
    {.name = "gpus",
     .type = CLI_INT,
     .offset = AT(gpus),
     .value = "N",
     .help = "GPUs a host (default: none is asked for)",
     .min = 1,
     .max = GPUS_MAX},
    {.name = "time",
     .type = CLI_INT,
     .offset = AT(minutes),
     .value = "MIN",
     .help = "walltime in minutes (default 60)",
     .min = 1,
     .max = MINUTES_MAX},
    {.name = "warning",
     .type = CLI_INT,
     .offset = AT(warning_s),
     .value = "S",
     .help =
         "nodes are drained S seconds before the walltime ends (default 300; Slurm may be a minute "
         "early)",
     .min = 1,
     .max = 65535},
    {.name = "partition",
     .type = CLI_STR,
     .offset = AT(partition),
     .value = "P",
     .help = "partition (default: Slurm's)"},
    {.name = "device",
     .type = CLI_STR,
     .offset = AT(device),
     .value = "KIND",
     .help = "device of the nodes: auto, cuda, emu, fake"},
    {.name = "slots",
     .type = CLI_INT,
     .offset = AT(slots),
     .value = "N",
     .help = "tasks at once on a node",
     .min = 1,
     .max = 1024},
    {.name = "node-binary",
     .type = CLI_STR,
     .offset = AT(binary),
     .value = "FILE",
     .help = "ce-node on the hosts (default: the one beside this program)"},
    {.name = "dry-run",
     .type = CLI_FLAG,
     .offset = AT(dry_run),
     .help = "print the script, submit nothing"},
    {.name = NULL}};

static const cli_command command = {
    .name = "launch slurm",
    .summary = "start nodes in a Slurm allocation; they join, work, and drain before its end",
    .arguments = "",
    .examples =
        "ce-coord launch slurm --coordinator tcp://10.0.0.2:7000 --key /home/ce/slurm.key \\\n"
        "  --hosts 4 --gpus 8 --time 240 --partition gpu\n"
        "ce-coord launch slurm --coordinator tcp://10.0.0.2:7000 --dry-run\n",
    .options = table};

static void defaults(void *target)
{
    *(options *)target = (options){.hosts = 1, .minutes = 60, .warning_s = 300};
}

/* sbatch reads the script from a file: one that is gone when it was read. */
static int submit(const char *script, err *e)
{
    char path[] = "/tmp/ce-slurm-XXXXXX";
    SCOPED(buf_fini) buf said;
    SCOPED(buf_fini) buf complained;
    int status = 0;
    SCOPED(scoped_close) int fd = mkstemp(path);
    if (fd < 0)
        return err_set(e, ERR_SYSTEM, "cannot write a script to /tmp");
    buf_init(&said, SAID);
    buf_init(&complained, SAID);
    const char *argv[] = {"sbatch", "--parsable", path, NULL};
    const subproc_options how = {.argv = argv, .env = (const char *const *)environ};
    int rc = file_write(path, script, strlen(script), e) ||
                     subproc_run(&how, SUBMIT_MS, &said, &complained, &status, e)
                 ? -1
                 : 0;
    unlink(path);
    if (rc)
        return err_wrap(e, "sbatch (--dry-run prints the script without it)");
    if (status)
        return err_set(e, ERR_UNAVAILABLE, "sbatch refused: %s", buf_text(&complained));
    printf("job %s", buf_text(&said));
    return 0;
}

static int run_slurm(const cmd_call *call, err *e)
{
    const options *o = call->options;
    curve_file key = {.name = ""};
    if (!o->coordinator)
        return err_set(e, ERR_USAGE, "--coordinator is missing: where do the nodes join?");
    if (o->key && curve_load(o->key, &key, e))
        return -1;
    curve_wipe(&key.pair);
    SCOPED(scoped_free) char *here = file_self_dir(e);
    SCOPED(scoped_free) char *beside = here ? file_join(here, "ce-node") : NULL;
    const slurm_request request = {.coordinator = o->coordinator,
                                   .key = o->key,
                                   .key_name = o->key ? key.name : NULL,
                                   .binary = o->binary ? o->binary : beside,
                                   .partition = o->partition,
                                   .device = o->device,
                                   .hosts = o->hosts,
                                   .gpus = o->gpus,
                                   .minutes = o->minutes,
                                   .warning_s = o->warning_s,
                                   .slots = o->slots};
    SCOPED(scoped_free) char *script = beside ? slurm_script(&request, e) : NULL;
    if (!script)
        return -1;
    if (!o->dry_run)
        return submit(script, e) ? -1 : CMD_EXIT_COMPLETE;
    fputs(script, stdout);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_launch_slurm = {
    .cli = &command, .options_size = sizeof(options), .defaults = defaults, .run = run_slurm};
