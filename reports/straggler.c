/* straggler - the median of a kind, and who is far above it
 *
 * SPDX-License-Identifier: MIT */
#include "reports/straggler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/stats.h"
#include "common/xalloc.h"
#include "store/task.h"

/* What the finished tasks of a kind took in the middle; NaN where there are too few. */
static double typical_ms(const task_span_list *spans, const char *kind)
{
    SCOPED(scoped_free) double *took = xcalloc(spans->count + 1, sizeof *took);
    size_t count = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const task_span *s = &spans->rows[i];
        if (s->to_ms > 0 && strcmp(s->kind, kind) == 0)
            took[count++] = (double)(s->to_ms - s->from_ms);
    }
    return count < STRAGGLER_PEERS ? (double)NAN : stats_median(took, count);
}

static void look(const task_span_list *spans, const char *kind, int64_t now_ms, straggler_list *out)
{
    double median = typical_ms(spans, kind);
    for (size_t i = 0; i < spans->count && !isnan(median); i++) {
        const task_span *s = &spans->rows[i];
        int64_t ran = now_ms - s->from_ms;
        if (s->to_ms > 0 || strcmp(s->kind, kind) != 0 || ran < STRAGGLER_MIN_MS ||
            (double)ran <= STRAGGLER_TIMES * median)
            continue;
        out->rows = xreallocarray(out->rows, out->count + 1, sizeof *out->rows);
        out->rows[out->count++] =
            (straggler){.task = xstrdup(s->task), .ran_ms = ran, .median_ms = (int64_t)median};
    }
}

int straggler_find(store_tx *tx, const char *run, int64_t now_ms, straggler_list *out, err *e)
{
    SCOPED(task_span_list_fini) task_span_list spans = {0};
    if (task_span_list_read(tx, run, &spans, e) < 0)
        return -1;
    *out = (straggler_list){0};
    look(&spans, "contract", now_ms, out);
    look(&spans, "synthesize", now_ms, out);
    return 0;
}

void straggler_list_fini(straggler_list *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->rows[i].task);
    free(self->rows);
    *self = (straggler_list){0};
}
