/* kernelbench_runs - a run in the files that KernelBench's own scripts read
 *
 * Purpose:   for each entrant and level a folder runs/NAME with eval_results.json, the kernels,
 *            pass_at_k_results.json and analysis.json (KernelBench's metrics by its definitions, ours
 *            beside them), and results/timing/HARDWARE with the baselines. `correctness` is what
 *            KernelBench's tolerance says on the problem's own inputs; our outcome is in the metadata.
 * Ownership: writes files; keeps nothing.
 * Threads:   as store_run.
 * Errors:    ERR_CONFIG for a run of another suite; what store and files say.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_KERNELBENCH_RUNS_H
#define CE_REPORTS_KERNELBENCH_RUNS_H

#include "store/store.h"

/* kernelbench_runs_write: run is an id, a unique prefix or "latest". */
int kernelbench_runs_write(store *db, const char *run, const char *folder, err *e);

#endif
