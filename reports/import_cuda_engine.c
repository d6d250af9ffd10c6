/* import_cuda_engine - results.csv of the single-machine predecessor
 *
 * One line a kernel and model. `passed` is about correctness; the speedup is against the fastest mode of
 * torch.compile, from means without an interval, rounded to two decimals.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "common/str.h"
#include "reports/import.h"

enum { KERNEL, PASSED, FAILURE_KIND, SPEEDUP, BASELINE_STATUS, MODEL, WANTED };

static const char *const columns[WANTED] = {
    "kernel", "passed", "failure_kind", "speedup_vs_torch_compile", "baseline_status", "model_id"};

bool import_cuda_engine_is(const csv *table)
{
    return csv_column(table, "kernel") < csv_columns(table) &&
           csv_column(table, "passed") < csv_columns(table);
}

static int check_columns(const csv *table, const char *path, size_t at[WANTED], err *e)
{
    for (size_t i = 0; i < WANTED; i++)
        if ((at[i] = csv_column(table, columns[i])) == csv_columns(table))
            return err_set(e, ERR_CONFIG, "%s:1: there is no column %s", path, columns[i]);
    return 0;
}

static int read_truth(const csv *table, size_t row, size_t column, bool *out, err *e)
{
    const char *text = csv_cell(table, row, column);
    *out = strcmp(text, "True") == 0 || strcmp(text, "true") == 0;
    if (*out || strcmp(text, "False") == 0 || strcmp(text, "false") == 0)
        return 0;
    return csv_fail(table, row, column, e, "want True or False");
}

static int read_speedup(const csv *table, size_t row, size_t column, double *out, err *e)
{
    const char *text = csv_cell(table, row, column);
    *out = (double)NAN;
    if (text[0] == '\0' || strcmp(text, "None") == 0)
        return 0;
    if (!str_to_f64(text, out) || !(*out > 0) || isinf(*out))
        return csv_fail(table, row, column, e, "want a factor above 0, or nothing");
    return 0;
}

static const char *reason_of(const csv *table, size_t row, const size_t at[WANTED], bool passed)
{
    const char *status = csv_cell(table, row, at[BASELINE_STATUS]);
    if (!passed)
        return "it did not pass there";
    return status[0] != '\0' && strcmp(status, "ok") != 0 ? "no baseline ran there"
                                                          : "no speedup is told";
}

int import_cuda_engine(const claims_source *from, const csv *table, err *e)
{
    size_t at[WANTED];
    if (check_columns(table, from->path, at, e) < 0)
        return -1;
    for (size_t row = 0; row < csv_rows(table); row++) {
        const char *model = csv_cell(table, row, at[MODEL]);
        const char *kind = csv_cell(table, row, at[FAILURE_KIND]);
        bool passed;
        double speedup;
        if (csv_cell(table, row, at[KERNEL])[0] == '\0')
            return csv_fail(table, row, at[KERNEL], e, "empty");
        if (read_truth(table, row, at[PASSED], &passed, e) < 0 ||
            read_speedup(table, row, at[SPEEDUP], &speedup, e) < 0)
            return -1;
        bool has_speed = passed && !isnan(speedup);
        claim_row claim = {.entrant = model[0] != '\0' ? model : "(unspecified)",
                           .problem = csv_cell(table, row, at[KERNEL]),
                           .sample = -1,
                           .correct = passed,
                           .detail = kind[0] != '\0' ? kind : NULL,
                           .speedup = has_speed ? speedup : (double)NAN,
                           .reason = has_speed ? NULL : reason_of(table, row, at, passed),
                           .candidate_ms = (double)NAN,
                           .baseline_ms = (double)NAN,
                           .baseline = "fastest mode of torch.compile"};
        claims_add(from, "cuda-engine", &claim);
    }
    return 0;
}
