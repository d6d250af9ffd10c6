/* answer - what a model wrote, taken apart
 *
 * A fence is a line that starts (after up to three blanks) with at least three backticks; the word
 * after them is the language, and no backtick stands in the rest of the line, which would be a span of
 * code within prose; the block ends at a line of at least as many backticks and nothing else (CommonMark
 * 0.31, section 4.5).
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/stages/answer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/str.h"

typedef enum block_kind { BLOCK_SOURCE, BLOCK_JSON, BLOCK_OTHER, BLOCK_KINDS } block_kind;

/* The blocks of one answer: how many of each kind and the text of the first. */
typedef struct blocks {
    size_t count[BLOCK_KINDS];
    buf text[BLOCK_KINDS];
    bool open_end; /* the last block was not closed */
} blocks;

static const struct {
    const char *language;
    block_kind kind;
} languages[] = {{"cuda", BLOCK_SOURCE}, {"cu", BLOCK_SOURCE}, {"c++", BLOCK_SOURCE},
                 {"cpp", BLOCK_SOURCE},  {"c", BLOCK_SOURCE},  {"cuda-cpp", BLOCK_SOURCE},
                 {"json", BLOCK_JSON}};

static void blocks_init(blocks *self)
{
    *self = (blocks){.open_end = false};
    for (int i = 0; i < BLOCK_KINDS; i++) {
        buf_init(&self->text[i], ANSWER_SOURCE_MAX);
    }
}

static void blocks_fini(blocks *self)
{
    for (int i = 0; i < BLOCK_KINDS; i++) {
        buf_fini(&self->text[i]);
    }
}

/* The number of backticks that open a fence on this line, 0 for none; *info is what follows. */
static size_t fence(str line, str *info)
{
    size_t blanks = 0;
    size_t ticks = 0;
    while (blanks < line.size && blanks < 3 && line.data[blanks] == ' ') {
        blanks++;
    }
    while (blanks + ticks < line.size && line.data[blanks + ticks] == '`') {
        ticks++;
    }
    *info = str_trim((str){line.data + blanks + ticks, line.size - blanks - ticks});
    return ticks >= 3 ? ticks : 0;
}

static bool has_tick(str info)
{
    return info.size > 0 && memchr(info.data, '`', info.size) != NULL;
}

static block_kind kind_of(str info)
{
    size_t size = 0;
    while (size < info.size && info.data[size] != ' ' && info.data[size] != '{') {
        size++;
    }
    for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
        if (strlen(languages[i].language) == size &&
            strncasecmp(languages[i].language, info.data, size) == 0) {
            return languages[i].kind;
        }
    }
    return BLOCK_OTHER;
}

static void scan(const char *text, blocks *out)
{
    str rest = str_of(text);
    str line;
    str info;
    size_t ticks = 0; /* of the open fence */
    block_kind kind = BLOCK_OTHER;
    while (str_line(&rest, &line)) {
        size_t here = fence(line, &info);
        if (ticks == 0 && here > 0 && !has_tick(info)) {
            ticks = here;
            kind = kind_of(info);
            out->count[kind]++;
        } else if (ticks > 0 && here >= ticks && info.size == 0) {
            ticks = 0;
        } else if (ticks > 0 && out->count[kind] == 1) {
            buf_add(&out->text[kind], line.data, line.size);
            buf_add(&out->text[kind], "\n", 1);
        }
    }
    out->open_end = ticks > 0;
}

static int want_one(const blocks *found, block_kind kind, const char *name, char *why)
{
    if (found->count[kind] != 1) {
        snprintf(why, ANSWER_WHY_MAX, "the answer has %zu %s blocks; give exactly one",
                 found->count[kind], name);
        return -1;
    }
    if (found->text[kind].overflow) {
        snprintf(why, ANSWER_WHY_MAX, "the %s block is larger than %d KiB", name,
                 ANSWER_SOURCE_MAX / 1024);
        return -1;
    }
    if (found->open_end) {
        snprintf(why, ANSWER_WHY_MAX, "the last fenced block is not closed: the answer was cut");
        return -1;
    }
    return 0;
}

int answer_read_candidate(const char *text, answer_candidate *out, char why[ANSWER_WHY_MAX])
{
    SCOPED(blocks_fini) blocks found;
    blocks_init(&found);
    scan(text, &found);
    if (want_one(&found, BLOCK_SOURCE, "```cuda", why) != 0 ||
        want_one(&found, BLOCK_JSON, "```json", why) != 0) {
        return -1;
    }
    out->source = buf_take(&found.text[BLOCK_SOURCE]);
    out->plan = buf_take(&found.text[BLOCK_JSON]);
    return 0;
}

void answer_candidate_fini(answer_candidate *self)
{
    scoped_free(&self->source);
    scoped_free(&self->plan);
}

char *answer_read_json(const char *text, char why[ANSWER_WHY_MAX])
{
    SCOPED(blocks_fini) blocks found;
    blocks_init(&found);
    scan(text, &found);
    if (want_one(&found, BLOCK_JSON, "```json", why) != 0) {
        return NULL;
    }
    return buf_take(&found.text[BLOCK_JSON]);
}
