/* site_text - texts of strangers in pages of a site
 *
 * SPDX-License-Identifier: MIT */
#include "reports/site_text.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "reports/html.h"

enum { DIGITS_MAX = 6 };

const char site_text_style[] =
    "<style>\n"
    "pre{max-height:36rem;overflow:auto;font-size:.875rem;line-height:1.4;unicode-bidi:isolate;"
    "tab-size:4}\n"
    "pre.wrap{white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "pre.src{counter-reset:line;padding-left:0}\n"
    ".src span{display:block;min-height:1.4em;counter-increment:line}\n"
    ".src span::before{content:counter(line);display:inline-block;width:3.5em;margin-right:1em;"
    "text-align:right;color:var(--soft)}\n"
    ".src span:target{background:var(--link);color:var(--back)}\n"
    ".src span:target::before{color:inherit}\n"
    "pre:focus-visible,summary:focus-visible,a:focus-visible{outline:3px solid var(--link)}\n"
    "summary{cursor:pointer;padding:.25rem 0;overflow-wrap:anywhere}\n"
    "nav{font-size:.9rem;overflow-wrap:anywhere}\n"
    ".plots{display:grid;gap:1rem;align-items:start;"
    "grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr))}\n"
    "figure{margin:0}figure img{max-width:100%;height:auto;border:1px solid var(--line)}\n"
    "h3{font-size:1rem;margin:1.25rem 0 .25rem;overflow-wrap:anywhere}\n"
    "</style>\n";

static void put_piece(const char *text, size_t size, buf *out)
{
    SCOPED(buf_fini) buf piece = {0};
    buf_init(&piece, size + 1);
    buf_add(&piece, text, size);
    html_text(out, buf_text(&piece));
}

/* As much of a text as is shown. */
static str shown(const char *text)
{
    const size_t size = strlen(text);
    return (str){text, size > SITE_TEXT_MAX ? SITE_TEXT_MAX : size};
}

static void put_more(const site_text *text, buf *out)
{
    if (text->more == NULL || strlen(text->text) <= SITE_TEXT_MAX)
        return;
    buf_puts(out, "<p>Cut here: <a href=\"");
    html_text(out, text->more);
    buf_puts(out, "\">the whole text</a>.</p>\n");
}

void site_text_plain(const site_text *text, buf *out)
{
    buf_puts(out, "<pre class=\"wrap\" tabindex=\"0\">");
    const str part = shown(text->text);
    put_piece(part.data, part.size, out);
    buf_puts(out, "</pre>\n");
    put_more(text, out);
}

void site_text_source(const site_text *text, const char *prefix, buf *out)
{
    str rest = shown(text->text), line;
    buf_puts(out, "<pre class=\"src\" tabindex=\"0\">");
    for (size_t n = 1; str_line(&rest, &line); n++) {
        buf_printf(out, "<span id=\"%s%zu\">", prefix, n);
        put_piece(line.data, line.size, out);
        buf_puts(out, "</span>");
    }
    buf_puts(out, "</pre>\n");
    put_more(text, out);
}

/* NUMBER of "FILE.cu(NUMBER)" at the start of a line, and how long all of that is; 0: it is no such line. */
static size_t place_in(str line, size_t *size)
{
    static const char ending[] = ".cu(";
    const char *open = line.size > 0 ? memchr(line.data, '(', line.size) : NULL;
    if (open == NULL || (size_t)(open - line.data) < sizeof ending - 2 ||
        strncmp(open - (sizeof ending - 2), ending, sizeof ending - 1) != 0)
        return 0;
    size_t number = 0, digits = 0;
    const size_t left = line.size - (size_t)(open + 1 - line.data);
    while (digits < left && digits < DIGITS_MAX && open[1 + digits] >= '0' &&
           open[1 + digits] <= '9')
        number = 10 * number + (size_t)(open[1 + digits++] - '0');
    if (digits == 0 || digits == left || open[1 + digits] != ')')
        return 0;
    *size = (size_t)(open + 2 + digits - line.data);
    return number;
}

void site_text_log(const site_text *text, const char *prefix, buf *out)
{
    str rest = shown(text->text), line;
    buf_puts(out, "<pre class=\"wrap\" tabindex=\"0\">");
    while (str_line(&rest, &line)) {
        size_t linked = 0;
        const size_t number = place_in(line, &linked);
        if (number > 0) {
            buf_printf(out, "<a href=\"#%s%zu\">", prefix, number);
            put_piece(line.data, linked, out);
            buf_puts(out, "</a>");
        }
        put_piece(line.data + linked, line.size - linked, out);
        buf_puts(out, "\n");
    }
    buf_puts(out, "</pre>\n");
    put_more(text, out);
}

void site_text_prompt(const site_text *text, buf *out)
{
    SCOPED(json_destroy)
    json *turns = json_parse_tree(text->text, strlen(text->text), "prompt", NULL);
    if (json_typeof(turns) != JSON_TYPE_ARRAY) {
        site_text_plain(text, out);
        return;
    }
    for (size_t i = 0; i < json_size(turns); i++) {
        const json *turn = json_at(turns, i);
        const site_text one = {json_str(json_get(turn, "text"), ""), NULL};
        buf_puts(out, "<p class=\"soft\">");
        html_text(out, json_str(json_get(turn, "role"), NULL));
        buf_puts(out, "</p>\n");
        site_text_plain(&one, out);
    }
    put_more(text, out);
}
