/* import_hotkernel - a result file of hotkernel: one verify of one target
 *
 * The verify stands in the file itself or under "verify_result"; target, who and note beside it. Only `faster`,
 * `slower` and `inconclusive` are about a correct candidate, and a speedup counts for these alone.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "reports/import.h"

enum { INCONCLUSIVE = 2 }; /* the last of those about a correct candidate */
static const char *const verdicts[] = {"faster",    "slower",  "inconclusive",
                                       "incorrect", "invalid", NULL};

static const json *verify_of(const json *root)
{
    const json *inner = json_get(root, "verify_result");
    return inner != NULL ? inner : root;
}

bool import_hotkernel_is(const json *root)
{
    return json_typeof(json_get(verify_of(root), "verdict")) == JSON_TYPE_STRING;
}

static int read_positive(const json_cursor *from, const char *key, double *out, err *e)
{
    json_cursor at;
    if (!json_maybe(from, key, &at) || json_typeof(at.value) == JSON_TYPE_NULL)
        return 0;
    if (json_want_real(&at, out, e) < 0)
        return -1;
    return *out > 0 ? 0 : json_fail(&at, e, "want a number above 0");
}

/* The mean of a side: {"mean": ms} or {"mean_ms": ms}. */
static int read_side(const json_cursor *verify, const char *key, double *out, err *e)
{
    json_cursor side;
    if (!json_maybe(verify, key, &side) || json_typeof(side.value) != JSON_TYPE_OBJECT)
        return 0;
    return read_positive(&side, "mean", out, e) < 0 ? -1 : read_positive(&side, "mean_ms", out, e);
}

static int read_text(const json_cursor *root, const json_cursor *verify, const char *key,
                     const char **out, err *e)
{
    json_cursor at;
    if (!json_maybe(root, key, &at) && !json_maybe(verify, key, &at))
        return 0;
    return json_want_str(&at, out, e);
}

static const char *device_of(const json *verify)
{
    const json *gpu = json_get(verify, "gpu");
    return json_str(gpu, json_str(json_get(gpu, "name"), NULL));
}

/* What the numbers are, without deciding whether they count. */
static int read_speed(const json_cursor *verify, claim_row *claim, err *e)
{
    claim->speedup = claim->candidate_ms = claim->baseline_ms = (double)NAN;
    if (read_side(verify, "candidate", &claim->candidate_ms, e) < 0 ||
        read_side(verify, "baseline", &claim->baseline_ms, e) < 0 ||
        read_positive(verify, "speedup", &claim->speedup, e) < 0)
        return -1;
    if (isnan(claim->speedup))
        claim->speedup = claim->baseline_ms / claim->candidate_ms;
    return 0;
}

int import_hotkernel(const claims_source *from, const json_cursor *root, err *e)
{
    json_cursor verify = *root, at;
    claim_row claim = {.entrant = from->entrant, .problem = from->entrant, .sample = -1};
    int verdict;
    if (json_maybe(root, "verify_result", &at))
        verify = at;
    if (json_member(&verify, "verdict", &at, e) < 0 ||
        json_want_choice(&at, verdicts, &verdict, e) < 0 ||
        read_text(root, &verify, "target", &claim.problem, e) < 0 ||
        read_text(root, &verify, "who", &claim.entrant, e) < 0 ||
        read_speed(&verify, &claim, e) < 0)
        return -1;
    claim.correct = verdict <= INCONCLUSIVE;
    claim.detail = verdicts[verdict];
    claim.baseline = "the target's baseline script";
    claim.device = device_of(verify.value);
    if (!claim.correct)
        claim.speedup = claim.candidate_ms = claim.baseline_ms = (double)NAN;
    if (isnan(claim.speedup))
        claim.reason = claim.correct ? "no speedup is told" : "it was not correct there";
    claims_add(from, "hotkernel", &claim);
    return 0;
}
