/* faulty_vfs - a file system that fails on demand
 *
 * Purpose:   becomes SQLite's default VFS; counts writing calls (write, sync, truncate) and lets one
 *            of them, or all from one on, fail.
 * Ownership: process-wide, installed once.
 * Threads:   arm while no job runs.
 * Errors:    none of its own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_UNIT_STORE_FAULTY_VFS_H
#define CE_TESTS_UNIT_STORE_FAULTY_VFS_H

#include <stdbool.h>

void faulty_vfs_install(void);
/* faulty_vfs_arm: writing call number `nth` from now (from 1) returns `code` (SQLITE_IOERR,
 * SQLITE_FULL); with `on`, all later ones as well. nth 0 disarms. */
void faulty_vfs_arm(long nth, int code, bool on);
/* faulty_vfs_hits: how many calls have failed since arming. */
long faulty_vfs_hits(void);

#endif
