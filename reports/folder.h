/* folder - every file under a folder
 *
 * Purpose:   lists relative paths in byte order, so that two folders can be compared; reads a file there.
 * Ownership: folder_list_fini frees.
 * Threads:   safe.
 * Errors:    ERR_CONFIG for what is neither file nor folder (a link, a device): packs hold none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_FOLDER_H
#define CE_REPORTS_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/err.h"

typedef struct folder_list {
    char **paths;
    size_t count;
} folder_list;

int folder_read(const char *path, folder_list *out, err *e);
bool folder_has(const folder_list *self, const char *path);
void folder_list_fini(folder_list *self);

/* folder_text reads a file of the folder, at most max bytes, into a buf that it initialises. */
int folder_text(const char *folder, const char *path, size_t max, buf *out, err *e);

#endif
