/* test_slurm - the batch script
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "coordinator/slurm.h"

static const slurm_request whole = {.coordinator = "tcp://10.0.0.2:7000",
                                    .key = "/home/ce/slurm.key",
                                    .key_name = "slurm",
                                    .binary = "/opt/ce/bin/ce-node",
                                    .partition = "gpu",
                                    .device = "cuda",
                                    .hosts = 4,
                                    .gpus = 8,
                                    .minutes = 240,
                                    .warning_s = 300,
                                    .slots = 16};

static void what_is_asked_stands_in_the_script(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "#SBATCH --nodes=4\n",
        "#SBATCH --ntasks-per-node=1\n",
        "#SBATCH --gpus-per-node=8\n",
        "#SBATCH --partition=gpu\n",
        "#SBATCH --time=240\n",
        "#SBATCH --signal=TERM@300\n",
        "#SBATCH --no-kill\n",
        "#SBATCH --requeue\n",
        "exec srun --kill-on-bad-exit=0 --wait=0 bash -c '\n",
        "exec \"/opt/ce/bin/ce-node\" --coordinator \"tcp://10.0.0.2:7000\" --key ",
        "\"/home/ce/slurm.key\" --name \"slurm.$(hostname -s)-$SLURM_JOB_ID\" ",
        " --device cuda --slots 16'\n"};
    SCOPED(scoped_free) char *script = slurm_script(&whole, NULL);
    assert_non_null(script);
    assert_memory_equal(script, "#!/bin/bash\n", 12);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_non_null(strstr(script, lines[i]));
}

static void what_is_not_asked_does_not(void **state)
{
    (void)state;
    const slurm_request least = {.coordinator = "ipc:///tmp/x",
                                 .binary = "ce-node",
                                 .hosts = 1,
                                 .minutes = 2,
                                 .warning_s = 60};
    SCOPED(scoped_free) char *script = slurm_script(&least, NULL);
    assert_null(strstr(script, "--gpus"));
    assert_null(strstr(script, "--partition"));
    assert_null(strstr(script, "--key"));
    assert_non_null(strstr(script, "--name \"$(hostname -s)-$SLURM_JOB_ID\"'"));
}

static void what_would_break_the_script_is_refused(void **state)
{
    (void)state;
    err e = {0};
    slurm_request bad = whole;
    bad.coordinator = "tcp://x'; rm -rf /:1";
    assert_null(slurm_script(&bad, &e));
    assert_int_equal(e.code, ERR_USAGE);
    bad = whole;
    bad.partition = "gpu\n#SBATCH --uid=0";
    assert_null(slurm_script(&bad, &e));
    bad = whole;
    bad.minutes = 5;
    assert_null(slurm_script(&bad, &e));
    assert_non_null(strstr(e.text, "--warning"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_stands_in_the_script),
        cmocka_unit_test(what_is_not_asked_does_not),
        cmocka_unit_test(what_would_break_the_script_is_refused),
    };
    return cmocka_run_group_tests_name("slurm", tests, NULL, NULL);
}
