/* slurm - the batch script that starts pilot nodes in an allocation
 *
 * The options have reasons: a host that fails must not end the others (--no-kill, --kill-on-bad-exit=0), nor
 * one that is done first (--wait=0); the warning goes to the steps, which are the nodes, and not to the
 * script (no B:); a requeued job is a new node of the same name.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/slurm.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"

enum { SCRIPT_MAX = 16 * 1024 };

/* Everything is quoted by '…' in the script; so a text has none, and no line break. */
static int check_word(const char *option, const char *text, err *e)
{
    if (!text || !strpbrk(text, "'\n\r"))
        return 0;
    return err_set(e, ERR_USAGE, "--%s: a quote or a line break cannot stand in the script",
                   option);
}

static int check(const slurm_request *r, err *e)
{
    const struct {
        const char *option, *text;
    } words[] = {
        {"coordinator", r->coordinator}, {"key", r->key},       {"key", r->key_name},
        {"node-binary", r->binary},      {"device", r->device}, {"partition", r->partition}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (check_word(words[i].option, words[i].text, e))
            return -1;
    }
    if (r->warning_s >= r->minutes * 60)
        return err_set(e, ERR_USAGE, "--warning of %lld s leaves nothing of --time %lld min",
                       (long long)r->warning_s, (long long)r->minutes);
    return 0;
}

static void add_head(const slurm_request *r, buf *out)
{
    buf_puts(out, "#!/bin/bash\n#SBATCH --job-name=ce-node\n");
    buf_printf(out, "#SBATCH --nodes=%lld\n#SBATCH --ntasks-per-node=1\n", (long long)r->hosts);
    if (r->gpus)
        buf_printf(out, "#SBATCH --gpus-per-node=%lld\n", (long long)r->gpus);
    if (r->partition)
        buf_printf(out, "#SBATCH --partition=%s\n", r->partition);
    buf_printf(out, "#SBATCH --time=%lld\n", (long long)r->minutes);
    buf_printf(out, "#SBATCH --signal=TERM@%lld\n", (long long)r->warning_s);
    buf_puts(out, "#SBATCH --no-kill\n#SBATCH --requeue\n");
}

char *slurm_script(const slurm_request *r, err *e)
{
    buf out;
    if (check(r, e))
        return NULL;
    buf_init(&out, SCRIPT_MAX);
    add_head(r, &out);
    buf_puts(&out, "# One node a host. SIGTERM drains it: its tasks end or go back, none is lost.\n"
                   "exec srun --kill-on-bad-exit=0 --wait=0 bash -c '\n");
    buf_printf(&out, "exec \"%s\" --coordinator \"%s\"", r->binary, r->coordinator);
    if (r->key)
        buf_printf(&out, " --key \"%s\"", r->key);
    buf_printf(&out, " --name \"%s%s$(hostname -s)-$SLURM_JOB_ID\"", r->key_name ? r->key_name : "",
               r->key_name ? "." : "");
    if (r->device)
        buf_printf(&out, " --device %s", r->device);
    if (r->slots)
        buf_printf(&out, " --slots %lld", (long long)r->slots);
    buf_puts(&out, "'\n");
    return buf_take(&out);
}
