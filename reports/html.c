/* html - pages that stand alone: no script, nothing fetched
 *
 * SPDX-License-Identifier: MIT */
#include "reports/html.h"

#include <string.h>

#include "common/str.h"

/* Pairs of colours have a contrast of at least 4.5 to 1 on their background, light and dark. */
static const char style[] =
    ":root{color-scheme:light dark;--back:#fff;--text:#1a1a1a;--soft:#595959;--line:#c8c8c8;"
    "--band:#f3f3f3;--link:#0b57a4;--good:#0a6b2d;--bad:#a3200d}\n"
    "@media (prefers-color-scheme:dark){:root{--back:#15181c;--text:#e8e8e8;--soft:#a9b0b7;"
    "--line:#444b53;--band:#1f2429;--link:#8ab8f0;--good:#6fcf8b;--bad:#f29a8a}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}\n"
    "main{max-width:76rem;margin:0 auto;padding:1rem}\n"
    "h1{font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}\n"
    "h2{font-size:1.15rem;margin:2rem 0 .5rem}\n"
    "p,li,dd{max-width:46rem;overflow-wrap:anywhere}\n"
    "a{color:var(--link)}\n"
    "pre{overflow-x:auto;background:var(--band);padding:.75rem;border:1px solid var(--line)}\n"
    ".claims{padding:.5rem .75rem .5rem 1.75rem;border-left:4px solid var(--line);"
    "background:var(--band)}\n"
    ".scroll{overflow-x:auto;border:1px solid var(--line)}\n"
    ".scroll:focus-visible{outline:3px solid var(--link)}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}\n"
    "th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right;"
    "vertical-align:top;white-space:nowrap}\n"
    "thead th{background:var(--band);white-space:normal;vertical-align:bottom}\n"
    ".t{text-align:left}\n"
    "tbody th{font-weight:600;text-align:left;white-space:normal;overflow-wrap:anywhere;"
    "min-width:10rem;max-width:20rem;background:var(--back)}\n"
    "tbody tr:last-child>*{border-bottom:0}\n"
    "dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.25rem 1rem}\n"
    "dt{color:var(--soft)}\n"
    "dd{margin:0}\n"
    ".good{color:var(--good)}\n"
    ".bad{color:var(--bad)}\n"
    ".soft{color:var(--soft)}\n"
    "@media (max-width:40rem){dl{display:block}dd{margin:0 0 .5rem}}\n";

void html_open(buf *out, const char *title)
{
    buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'; img-src 'self' data:\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>");
    html_text(out, title);
    buf_puts(out, "</title>\n<style>\n");
    buf_puts(out, style);
    buf_puts(out, "</style>\n</head>\n<body>\n<main>\n");
}

void html_close(buf *out)
{
    buf_puts(out, "</main>\n</body>\n</html>\n");
}

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Marks that turn the direction of what follows: a source can be made to read otherwise than it compiles. */
static bool turns_direction(const char *p, size_t step)
{
    const unsigned char *u = (const unsigned char *)p;
    if (step != 3 || u[0] != 0xE2)
        return false;
    return (u[1] == 0x80 && (u[2] == 0x8E || u[2] == 0x8F || (u[2] >= 0xAA && u[2] <= 0xAE))) ||
           (u[1] == 0x81 && u[2] >= 0xA6 && u[2] <= 0xA9);
}

void html_text(buf *out, const char *text)
{
    static const char unknown[] = "\xEF\xBF\xBD"; /* U+FFFD */
    const char *p = text != NULL ? text : "–";
    for (size_t left = strlen(p); left > 0;) {
        size_t step = str_utf8_step(p, left);
        const char *entity = entity_of(*p);
        bool is_control = ((unsigned char)*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f;
        if (entity != NULL)
            buf_puts(out, entity);
        else if (step == 0 || is_control || turns_direction(p, step))
            buf_puts(out, unknown);
        else
            buf_add(out, p, step);
        p += step > 0 ? step : 1;
        left -= step > 0 ? step : 1;
    }
}

void html_region(buf *out, const char *heading_id, const char *caption)
{
    buf_puts(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"");
    html_text(out, heading_id);
    buf_puts(out, "\">\n<table>\n<caption>");
    html_text(out, caption);
    buf_puts(out, "</caption>\n");
}
