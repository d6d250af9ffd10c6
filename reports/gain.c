/* gain - what further tries bring an entrant
 *
 * SPDX-License-Identifier: MIT */
#include "reports/gain.h"

#include <math.h>

/* Where a task's only known time belongs. */
static size_t last_correct(const score_tries *tries)
{
    for (size_t i = tries->count; i > 0; i--)
        if (tries->rows[i - 1].correct)
            return i - 1;
    return SCORE_TRIES_MAX;
}

static bool any_timed(const score_tries *tries)
{
    for (size_t i = 0; i < tries->count; i++)
        if (tries->rows[i].correct && !isnan(tries->rows[i].speedup))
            return true;
    return false;
}

static double speed_at(const score_tries *tries, size_t k, size_t only, double speedup)
{
    if (only < SCORE_TRIES_MAX)
        return k == only ? speedup : (double)NAN;
    return tries->rows[k].correct ? tries->rows[k].speedup : (double)NAN;
}

void gain_add(gain *self, const score_tries *tries, double speedup)
{
    const bool timed = !isnan(speedup);
    const size_t only = timed && !any_timed(tries) ? last_correct(tries) : SCORE_TRIES_MAX;
    bool solved = false;
    double best = 1, ln_best = 0;
    for (size_t k = 0; k < SCORE_TRIES_MAX; k++) {
        if (k < tries->count) {
            const double speed = timed ? speed_at(tries, k, only, speedup) : (double)NAN;
            solved |= tries->rows[k].correct;
            if (speed > best) {
                best = speed;
                ln_best = log(best);
            }
        }
        self->solved[k] += solved ? 1 : 0;
        self->ln_best[k] += ln_best;
    }
    self->tasks++;
    self->timed += timed ? 1 : 0;
    if (tries->count > self->tries)
        self->tries = tries->count;
}

double gain_share(const gain *self, size_t k)
{
    return self->tasks > 0 ? (double)self->solved[k] / (double)self->tasks : (double)NAN;
}

double gain_best(const gain *self, size_t k)
{
    return self->tasks > 0 ? exp(self->ln_best[k] / (double)self->tasks) : (double)NAN;
}
