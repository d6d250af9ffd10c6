/* night_pages - what a night leaves for people and programs
 *
 * Purpose:   night.json in its folder; beside the folders last-night.json, last-success.json (only a good night
 *            writes it: the dead-man record) and ce-nightly.prom, for node_exporter's textfile collector, as
 *            nobody serves /metrics between nights.
 * Ownership: borrows.
 * Threads:   any.
 * Errors:    as the file system says.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_NIGHT_PAGES_H
#define CE_COORDINATOR_NIGHT_PAGES_H

#include "common/buf.h"
#include "common/json.h"
#include "store/night.h"

typedef struct night_story {
    const char *out; /* the series' folder */
    const night_row *row;
    int exit_code;
    int64_t last_good_ms; /* of the series, this night included; 0: never */
    const char *against;  /* the run that it was held against, or NULL */
    size_t looked_back;   /* how many runs that was */
} night_story;

/* night_pages_json is the document of night.json, which the hook gets too. Caller owns. */
json *night_pages_json(const night_story *story);
/* night_pages_prom is ce-nightly.prom. */
void night_pages_prom(const night_story *story, buf *out);
int night_pages_write(const night_story *story, err *e);
/* night_pages_table: nights, newest first, a line each. */
void night_pages_table(const night_list *nights, buf *out);

#endif
