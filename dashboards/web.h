/* web - the files of the page, embedded by the build
 *
 * Purpose:   dashboards/web/ in the program itself: nothing to install, nothing to fetch.
 * Ownership: constants.
 * Threads:   immutable.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_DASHBOARDS_WEB_H
#define CE_DASHBOARDS_WEB_H

typedef struct web_file {
    const char *path, *type;
    const unsigned char *data; /* NUL-terminated */
} web_file;
extern const web_file web_files[]; /* path NULL ends the table */

#endif
