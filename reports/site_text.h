/* site_text - texts of strangers in pages of a site
 *
 * Purpose:   a kernel with a line one can point at, a compiler log whose errors point there, a prompt by turns.
 * Ownership: appends to a caller's buf.
 * Threads:   pure.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_SITE_TEXT_H
#define CE_REPORTS_SITE_TEXT_H

#include <stddef.h>

#include "common/buf.h"

enum { SITE_TEXT_MAX = 32 * 1024 };

/* A whole text. Longer ones are cut at SITE_TEXT_MAX; `more` names the file that has them whole. */
typedef struct site_text {
    const char *text; /* NUL-terminated */
    const char *more; /* NULL: there is no such file */
} site_text;

/* site_text_plain: as it is. */
void site_text_plain(const site_text *text, buf *out);
/* site_text_source: each line has the id PREFIX and its number. */
void site_text_source(const site_text *text, const char *prefix, buf *out);
/* site_text_log: a line that begins FILE.cu(NUMBER) links to that line of site_text_source. */
void site_text_log(const site_text *text, const char *prefix, buf *out);
/* site_text_prompt: JSON [{"role", "text"}, …] by turns; anything else plain. */
void site_text_prompt(const site_text *text, buf *out);

/* site_text_style is what pages with such texts need in a <style>. */
extern const char site_text_style[];

#endif
