/* mock - scripted answers and faults from a JSON file
 *
 * Purpose:   tests and dry runs meet every answer and every fault a model can give. The script:
 *              {"record": "served.jsonl",      each served call is appended here (optional)
 *               "rules": [{"problem": "…", "stage": "codegen", "index": 0, "sample": 0,
 *                          "text": "…" | "file": "answer.md" | "gold": true,
 *                          "stop": "ok", "fault": "rate_limit", "latency_ms": 20,
 *                          "tokens_in": 10, "tokens_out": 20, "cost_usd": 0.01}]}
 *            problem, stage, index and sample select; an absent one matches all; the first matching
 *            rule answers; without one the script is exhausted. Paths are relative to the script.
 * Ownership: ops are constant; each opened mock owns its script.
 * Threads:   one object a thread; appending to `record` is atomic.
 * Errors:    ERR_CONFIG with the script's place; scripted faults as a real provider would fail.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PROVIDERS_MOCK_H
#define CE_PROVIDERS_MOCK_H

#include "providers/provider.h"

enum { MOCK_RULES_MAX = 4096, MOCK_ANSWER_MAX = 1024 * 1024 };

extern const provider_ops mock_ops;

/* mock_check reads a script and tells what is wrong with it. */
int mock_check(const char *path, err *e);

#endif
