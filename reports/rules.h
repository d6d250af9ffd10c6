/* rules - thresholds of the gate, from a file
 *
 * Purpose:   YAML with any of relative, noise_factor, noise_unknown, floor_ms, shift, canary, pass_alpha.
 * Ownership: fills a caller's struct.
 * Threads:   safe.
 * Errors:    ERR_CONFIG with file, line and key.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_RULES_H
#define CE_REPORTS_RULES_H

#include "common/err.h"
#include "reports/gate.h"

/* rules_load starts from gate_defaults. */
int rules_load(const char *path, gate_rules *out, err *e);

#endif
