/* python - which interpreter runs the judge, and what it gets to see
 *
 * Purpose:   find a python3 that imports torch; list the environment a judge may have: what Python,
 *            CUDA and compilers need, never a key.
 * Ownership: results are fresh memory.
 * Threads:   safe.
 * Errors:    ERR_UNAVAILABLE says what was tried.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_PYTHON_H
#define CE_COMMON_PYTHON_H

#include "common/err.h"

/* python_find: `given`, or for NULL $CE_PYTHON, when it imports torch; else the first python3 on PATH or in /usr/bin that
 * does, remembered for the life of the process. */
char *python_find(const char *given, err *e);
/* python_env is the whole environment of a judge, NULL-ended; python_env_free frees it. */
char **python_env(void);
void python_env_free(char ***env);

#endif
