/* paid - a paid call goes out only after the coordinator has registered it
 *
 * Purpose:   asks for each call before it is sent, waits as long as the coordinator says (the budget, a
 *            provider's limit over all nodes), and tells when no answer came. Calls that cost nothing
 *            are not asked for.
 * Ownership: borrows.
 * Threads:   one task thread.
 * Errors:    as ledger_reserve; ERR_CONFLICT when the task was cancelled while it waited.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_PAID_H
#define CE_AGENT_NODE_PAID_H

#include <stdbool.h>

#include "agent-node/ledger.h"
#include "providers/provider.h"

/* Who is asked what, and under which number it will be recorded. */
typedef struct paid_call {
    provider *model;
    const provider_request *request;
    int64_t number;
} paid_call;

/* paid_begin returns when the call may be sent. *paid tells whether it is registered; *impatient whether to
 * fail when the provider says: too fast. */
int paid_begin(const ledger *account, const paid_call *call, bool *impatient, bool *paid, err *e);
/* paid_failed tells how a registered call failed. Failing to tell is no further error: the coordinator
 * then counts the call as unknown, at its worst. */
void paid_failed(const ledger *account, const paid_call *call, const provider_trouble *trouble,
                 const err *why);

#endif
