/* text - one text file of a problem's folder
 *
 * Purpose:   what a suite stores as text is text: UTF-8, not empty, no NUL, at most SUITE_FILE_MAX.
 * Ownership: *out is fresh memory.
 * Threads:   safe.
 * Errors:    ERR_NOT_FOUND, ERR_LIMIT or ERR_CONFIG with the file.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_SUITES_TEXT_H
#define CE_SUITES_TEXT_H

#include "common/err.h"

enum { SUITE_FILE_MAX = 1024 * 1024 };

int text_read(const char *folder, const char *name, char **out, err *e);

#endif
