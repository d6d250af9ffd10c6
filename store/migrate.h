/* migrate - brings a database to this program's schema
 *
 * Purpose:   numbered migrations, each in one transaction; PRAGMA user_version says how far a file is.
 * Ownership: borrows the connection.
 * Threads:   before the store thread starts.
 * Errors:    ERR_CONFIG: not a ce database, or written by a newer ce; the file is left as it was.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_STORE_MIGRATE_H
#define CE_STORE_MIGRATE_H

#include "common/err.h"

enum { MIGRATE_VERSION = 12, MIGRATE_APPLICATION = 0x63655f64 /* "ce_d" */ };

struct sqlite3;

/* migrate_run applies what is missing. */
int migrate_run(struct sqlite3 *db, const char *path, err *e);
/* migrate_check only looks: the file must be exactly at MIGRATE_VERSION. */
int migrate_check(struct sqlite3 *db, const char *path, err *e);

#endif
