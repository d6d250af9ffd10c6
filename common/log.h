/* log - JSON lines on stderr
 *
 * Purpose:   {ts, level, area, msg, …}; libraries log only debug, processes decide what an error means
 *            and log it once.
 * Ownership: process-wide sink, set once in main.
 * Threads:   safe; a line is one write(2).
 * Errors:    a failed write is dropped.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_LOG_H
#define CE_COMMON_LOG_H

#include "common/err.h"

typedef enum log_level {
    LOG_DEBUG = 0,
    LOG_INFO = 1,
    LOG_WARN = 2,
    LOG_ERROR = 3,
    LOG_OFF = 4
} log_level;

/* log_open sets process name, lowest level and areas ("all,-wire"). Lines go to fd. */
void log_open(const char *process, log_level level, const char *areas, int fd);
bool log_level_parse(const char *text, log_level *out);
/* log_line: area is a short noun ("lease", "wire"). */
void log_line(log_level level, const char *area, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* log_err appends the error's text and code. */
void log_err(log_level level, const char *area, const err *e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
