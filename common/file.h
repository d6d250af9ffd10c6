/* file - whole files, atomically
 *
 * Purpose:   read a file up to a limit; replace a file so that readers see the old or the new one.
 * Ownership: file_read fills a caller's buf.
 * Threads:   safe.
 * Errors:    as errno says, with the path in the text; ERR_LIMIT past the buffer's maximum.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_FILE_H
#define CE_COMMON_FILE_H

#include <stdio.h>

#include "common/buf.h"
#include "common/err.h"

/* file_read appends the file to out; a failure leaves out as it was. */
int file_read(const char *path, buf *out, err *e);
/* file_print copies a file of any size to `out`, an open stream, piece by piece. */
int file_print(const char *path, FILE *out, err *e);
/* file_write writes and syncs a temporary beside path and renames it over path. */
int file_write(const char *path, const void *data, size_t size, err *e);
/* file_out is file_write for what comes in pieces: file_out_add takes a piece for `arg`, the file_out (a
 * failure is told by file_out_commit), file_out_commit syncs and renames, file_out_destroy drops what was
 * not committed. */
typedef struct file_out file_out;
file_out *file_out_create(const char *path, err *e);
int file_out_add(void *arg, const void *data, size_t size);
int file_out_commit(file_out *self, err *e);
void file_out_destroy(file_out **self);
/* file_mkdirs makes path and its parents (mode 0755); an existing folder is fine. */
int file_mkdirs(const char *path, err *e);
/* file_remove_tree deletes path and what is under it; absent is fine. Links are not followed. */
int file_remove_tree(const char *path, err *e);
bool file_exists(const char *path);
/* file_join is "a/b" in fresh memory. */
char *file_join(const char *a, const char *b);
/* file_self_dir is the folder of the running executable, in fresh memory. */
char *file_self_dir(err *e);

#endif
