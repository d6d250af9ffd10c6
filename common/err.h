/* err - the error value every function that can fail fills in
 *
 * Purpose:   says what happened, where, and what a caller can do about it. An err means that the
 *            harness failed; what is true of a candidate is an outcome (common/outcome.h).
 * Ownership: a plain value on the caller's stack; copying is fine, nothing to free.
 * Threads:   no shared state.
 * Errors:    none of its own; every setter accepts e == NULL and returns -1, so that
 *            `return err_set(e, …)` is the whole error path.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_ERR_H
#define CE_COMMON_ERR_H

#include <stdbool.h>
#include <stdint.h>

enum { ERR_TEXT_MAX = 240 };

/* What a caller can do. Wire and database values: never renumber. */
typedef enum err_code {
    ERR_NONE = 0,
    ERR_USAGE = 1,       /* the command line is wrong */
    ERR_CONFIG = 2,      /* a file a person wrote is wrong */
    ERR_PROTOCOL = 3,    /* a peer broke the protocol */
    ERR_NOT_FOUND = 4,   /* the named thing does not exist */
    ERR_CONFLICT = 5,    /* somebody else owns it, or a stale fencing token */
    ERR_TIMEOUT = 6,     /* a deadline passed */
    ERR_LIMIT = 7,       /* a named maximum was reached */
    ERR_UNAVAILABLE = 8, /* a needed program, library or device is absent */
    ERR_DENIED = 9,      /* permissions */
    ERR_GPU = 10,        /* the driver or the device failed outside a candidate */
    ERR_SYSTEM = 11,     /* the operating system said no */
    ERR_INTERNAL = 12    /* our own fault */
} err_code;

/* Whose number `native` is. */
typedef enum err_domain {
    ERR_DOMAIN_NONE = 0,
    ERR_DOMAIN_ERRNO = 1,
    ERR_DOMAIN_CURL = 2,
    ERR_DOMAIN_SQLITE = 3,
    ERR_DOMAIN_CUDA = 4,
    ERR_DOMAIN_NVRTC = 5,
    ERR_DOMAIN_CUPTI = 6,
    ERR_DOMAIN_ZMQ = 7,
    ERR_DOMAIN_CHILD = 8 /* wait status of a child process */
} err_domain;

typedef struct err {
    err_code code;
    err_domain domain;
    int64_t native;          /* errno, CURLcode, SQLite code, CUresult, … as `domain` says */
    bool retry;              /* the same call may succeed later */
    int64_t retry_after_ms;  /* how much later; 0 when unknown */
    char text[ERR_TEXT_MAX]; /* one sentence for people, UTF-8, always terminated */
} err;

/* err_set fills e and returns -1. Text that does not fit is cut at a UTF-8 boundary. */
int err_set(err *e, err_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* err_native is err_set that also keeps the foreign number. Returns -1. */
int err_native(err *e, err_code code, err_domain domain, int64_t native, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* err_errno sets the code that fits errnum (ENOENT → NOT_FOUND, EACCES/EPERM/EROFS → DENIED, …) and
 * appends ": strerror". Returns -1. */
int err_errno(err *e, int errnum, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* err_wrap prefixes "noun: " to the text, keeps code and native. Returns -1. */
int err_wrap(err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* err_code_name is the stable lower-case name of a code ("not_found"). Never NULL. */
const char *err_code_name(err_code code);

#endif
