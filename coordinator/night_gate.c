/* night_gate - is a night good?
 *
 * A night whose canary died says nothing about models, so canaries come first.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/night_gate.h"

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/night_config.h"
#include "reports/board.h"
#include "reports/text.h"

enum { ROWS_MAX = 1000, NAMED_MAX = 3, REASON_MAX = 4096 };

void night_finding_fini(night_finding *self)
{
    for (size_t i = 0; i < self->again_count; i++)
        free(self->again[i].name);
    free(self->again);
    free(self->reason);
    *self = (night_finding){.verdict = NIGHT_OPEN};
}

/* ---- against what ---- */

night_before night_gate_before(const night_list *nights, int64_t night, int64_t window)
{
    night_before out = {xcalloc(nights->count + 1, sizeof *out.runs), 0};
    for (size_t i = 0; i < nights->count && (int64_t)out.count < window; i++) {
        const night_row *row = &nights->rows[i];
        if (row->id >= night || row->verdict != NIGHT_GOOD)
            continue;
        if (row->run)
            out.runs[out.count++] = row->run;
        if (row->accepted)
            break;
    }
    return out;
}

void night_before_fini(night_before *self)
{
    free(self->runs);
    *self = (night_before){0};
}

/* ---- canaries ---- */

typedef struct gold_count {
    size_t judged, died;
    buf names; /* of the first that died */
} gold_count;

static bool is_canary(const board *b, const board_task *t)
{
    return strcmp(b->entrants[t->entrant].row->name, NIGHT_GOLD) == 0 &&
           !hash_is_zero(&t->problem->gold_source) && t->row->state == TASK_DONE &&
           t->row->outcome.result != OUTCOME_UNSUPPORTED_ON_EMU;
}

static void count_gold(const board *b, gold_count *out)
{
    for (size_t i = 0; i < b->task_count; i++) {
        const board_task *t = &b->tasks[i];
        if (!is_canary(b, t))
            continue;
        out->judged++;
        if (board_task_correct(t))
            continue;
        if (out->died++ < NAMED_MAX) {
            buf_printf(&out->names, "%s%s ", out->died > 1 ? ", " : "", t->row->problem);
            text_outcome(&out->names, t->row);
        }
    }
}

static int read_cards(store_tx *tx, void *arg, err *e)
{
    night_cards *out = arg;
    const int64_t since = out->tested;
    return night_cards_read(tx, since, out, e);
}

/* What the canaries say: 1: one died, and *out says which. */
static int look_at_canaries(store *db, const night_gate_ask *ask, const board *now, buf *page,
                            night_finding *out, err *e)
{
    gold_count gold = {.judged = 0};
    night_cards cards = {.tested = ask->began_ms};
    if (store_run(db, read_cards, &cards, e))
        return -1;
    SCOPED(scoped_free) char *failure = cards.failure;
    buf_init(&gold.names, REASON_MAX);
    count_gold(now, &gold);
    buf_printf(page, "Gold canary: %zu of %zu of the suite's own kernels are correct.\n",
               gold.judged - gold.died, gold.judged);
    if (cards.tested)
        buf_printf(page, "A/A canary: %lld of %lld self-tests of cards passed.\n\n",
                   (long long)(cards.tested - cards.failed), (long long)cards.tested);
    else
        buf_puts(page, "A/A canary: not run (only cards are tested).\n\n");
    if (cards.failed)
        out->reason = xasprintf("the self-test of a card failed: %s", failure);
    else if (gold.died)
        out->reason =
            xasprintf("%zu of %zu of the suite's own kernels failed: %s%s", gold.died, gold.judged,
                      buf_text(&gold.names), gold.died > NAMED_MAX ? ", …" : "");
    buf_fini(&gold.names);
    out->verdict = out->reason ? NIGHT_CANARY : NIGHT_GOOD;
    return out->reason ? 1 : 0;
}

/* ---- against earlier nights ---- */

static void name_slower(const regress *found, night_finding *out)
{
    out->again = xcalloc(found->count + 1, sizeof *out->again);
    for (size_t i = 0; i < found->count; i++) {
        const regress_row *row = &found->rows[i];
        bool known = false;
        for (size_t k = 0; k < out->again_count; k++)
            known = known || strcmp(out->again[k].name, row->problem) == 0;
        if (row->time.verdict == GATE_SLOWER && !row->time.confirmed && !known)
            out->again[out->again_count++].name = xstrdup(row->problem);
    }
}

night_verdict night_gate_verdict(const regress *found)
{
    if (regress_failed(found))
        return NIGHT_WORSE;
    return found->times.is_shifted || found->times.is_sick ? NIGHT_UNJUDGED : NIGHT_GOOD;
}

static int compare(const regress_ask *ask, buf *page, night_finding *out, err *e)
{
    err why = {0};
    SCOPED(regress_destroy) regress *found = regress_create(ask, &why);
    if (!found && why.code != ERR_CONFIG) {
        *e = why;
        return -1;
    }
    if (!found) {
        out->verdict = NIGHT_UNJUDGED;
        out->reason = xstrdup(why.text);
        buf_printf(page, "%s\n", why.text);
        return 0;
    }
    regress_verdict(found, page);
    buf_puts(page, "\n");
    regress_text(found, ROWS_MAX, page);
    out->verdict = night_gate_verdict(found);
    out->reason = regress_sentence(found);
    if (!ask->again)
        name_slower(found, out);
    return 0;
}

static int against_earlier(store *db, const night_gate_ask *ask, const board *now, buf *page,
                           night_finding *out, err *e)
{
    const board_ask earlier = {.runs = ask->before->runs, .run_count = ask->before->count};
    const board_ask second = {.runs = &ask->again, .run_count = 1};
    SCOPED(board_destroy) board *before = board_read(db, &earlier, e);
    if (!before)
        return -1;
    SCOPED(board_destroy) board *again = ask->again ? board_read(db, &second, e) : NULL;
    if (ask->again && !again)
        return -1;
    const regress_ask question = {
        .now = now, .before = before, .again = again, .rules = ask->rules};
    return compare(&question, page, out, e);
}

int night_gate_judge(store *db, const night_gate_ask *ask, buf *page, night_finding *out, err *e)
{
    const board_ask tonight = {.runs = &ask->run, .run_count = 1};
    SCOPED(board_destroy) board *now = board_read(db, &tonight, e);
    if (!now)
        return -1;
    int died = look_at_canaries(db, ask, now, page, out, e);
    if (died)
        return died < 0 ? -1 : 0;
    if (ask->before->count)
        return against_earlier(db, ask, now, page, out, e);
    out->reason = xstrdup("complete; there is no earlier good night to hold it against");
    buf_printf(page, "%s\n", out->reason);
    return 0;
}
