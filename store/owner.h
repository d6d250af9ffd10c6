/* owner - one process may write a database (inside store/ only)
 *
 * Purpose:   PATH.lock, held by flock(2), with the owner's PID inside. The kernel lets go of it when
 *            the process dies, so a stale file never locks anybody out; a child that the dead owner was
 *            just starting is waited for, two seconds at most.
 * Ownership: owner_take gives a descriptor; owner_release closes it. The file stays.
 * Threads:   safe.
 * Errors:    ERR_CONFLICT "… is owned by PID N …"; ERR_DENIED where the folder is read-only.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_OWNER_H
#define CE_STORE_OWNER_H

#include <stdint.h>

#include "common/err.h"

int owner_take(const char *path, err *e); /* descriptor, or -1 */
void owner_release(int *fd);
/* owner_since: when the process that took it last did so, Unix ms, if that still runs; else 0. It does not try the
 * lock, which could stand in a starting owner's way. */
int64_t owner_since(const char *path);

#endif
