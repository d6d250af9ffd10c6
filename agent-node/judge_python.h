/* judge_python - which interpreter runs the judge, and what it gets to see
 *
 * Purpose:   find a python3 that imports torch; list the environment a judge may have: what Python,
 *            CUDA and compilers need, never a key.
 * Ownership: results are fresh memory.
 * Threads:   safe.
 * Errors:    ERR_UNAVAILABLE says what was tried.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_JUDGE_PYTHON_H
#define CE_AGENT_NODE_JUDGE_PYTHON_H

#include "common/err.h"

/* judge_python_find is judge_find_python of judge.h. */
char *judge_python_find(const char *given, err *e);
/* judge_python_env is the whole environment of a judge, NULL-ended; judge_python_env_free frees it. */
char **judge_python_env(void);
void judge_python_env_free(char ***env);

#endif
