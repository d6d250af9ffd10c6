/* paid - ask, wait, ask again
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/paid.h"

#include <stdatomic.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"

enum { SLICE_MS = 50 };

static int wait_for(const ledger *account, int64_t ms, err *e)
{
    int64_t until = clock_mono_ms() + ms;
    for (int64_t left = ms; left > 0; left = until - clock_mono_ms()) {
        if (ledger_check(account, e) != 0) {
            return -1;
        }
        int64_t slice = left < SLICE_MS ? left : SLICE_MS;
        const struct timespec sleep = {.tv_nsec = (long)slice * 1000000};
        nanosleep(&sleep, NULL);
    }
    return 0;
}

int paid_begin(const ledger *account, const paid_call *call, bool *impatient, bool *paid, err *e)
{
    provider_weight weight;
    if (provider_weigh(call->model, call->request, &weight, e) != 0) {
        return -1;
    }
    *paid = weight.paid;
    const ledger_offer offer = {.call = {call->request->stage, call->number},
                                .provider = provider_name(call->model),
                                .model = provider_model(call->model),
                                .prompt_bytes = weight.prompt_bytes,
                                .output_max = weight.output_max};
    bool patient = true;
    for (int64_t wait = weight.paid ? 1 : 0; wait > 0;) {
        if (ledger_reserve(account, &offer, &wait, &patient, e) != 0 ||
            wait_for(account, wait, e) != 0) {
            return -1;
        }
    }
    *impatient = !patient;
    return 0;
}

void paid_failed(const ledger *account, const paid_call *call, const provider_trouble *trouble,
                 const err *why)
{
    const ledger_failure how = {.call = {call->request->stage, call->number},
                                .provider = provider_name(call->model),
                                .model = provider_model(call->model),
                                .attempts = trouble->attempts,
                                .unknown_bills = trouble->unknown_bills,
                                .hold_ms = trouble->hold_ms,
                                .terminal = trouble->terminal,
                                .throttled = trouble->throttled,
                                .text = why->text};
    err e;
    if (ledger_check(account, NULL) == 0 && ledger_settle(account, &how, &e) != 0) {
        log_err(LOG_WARN, "task", &e, "%s: the end of a call could not be told", account->task);
    }
}
