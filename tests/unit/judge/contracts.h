/* contracts - small problems that the judge's tests share
 *
 * Purpose:   a contract of one input x and one output y of one dtype, both [rows, cols].
 * Ownership: the caller destroys.
 * Threads:   none.
 * Errors:    a test fails at once.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_JUDGE_CONTRACTS_H
#define CE_TESTS_JUDGE_CONTRACTS_H

#include "suites/contract.h"

/* contract_of: shapes rows×cols 0×8, 1×1, 5×33; benchmark 4096×4096. */
contract *contract_of(const char *problem, const char *dtype_of_both);

#endif
