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
#include "common/xalloc.h"
#include "suites/contract.h"
#include "suites/plan_grammar.h"

enum { HAZARDS_MAX = 256 };

/* BLOCK_BARE: a block of no language that looks like an object; counts where there is no ```json. */
typedef enum block_kind {
    BLOCK_SOURCE,
    BLOCK_JSON,
    BLOCK_BARE,
    BLOCK_OTHER,
    BLOCK_KINDS
} block_kind;

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

/* The first line of a block of no language decides whether it may be JSON. */
static block_kind kind_of_bare(str rest)
{
    str line = {0};
    str_line(&rest, &line);
    str begin = str_trim(line);
    return begin.size > 0 && begin.data[0] == '{' ? BLOCK_BARE : BLOCK_OTHER;
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
            kind = info.size > 0 ? kind_of(info) : kind_of_bare(rest);
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

/* The answer's JSON: its only ```json block, else its only bare one. */
static block_kind json_kind(const blocks *found)
{
    return found->count[BLOCK_JSON] == 0 && found->count[BLOCK_BARE] == 1 ? BLOCK_BARE : BLOCK_JSON;
}

/* ---- the forms ---- */

static const grammar_node source_text = {.kind = GRAMMAR_TEXT,
                                         .help = "the whole CUDA source, as in the ```cuda block"};
static const grammar_member candidate_members[] = {
    {"source", &source_text, NULL}, {"plan", &plan_grammar, NULL}, {0}};
static const grammar_node candidate_form = {.kind = GRAMMAR_OBJECT, .members = candidate_members};

static const grammar_node words = {.kind = GRAMMAR_TEXT};
static const grammar_node size = {.kind = GRAMMAR_NUMBER, .help = "a dim's name, or a number"};
static const grammar_node shape = {.kind = GRAMMAR_LIST, .items = &size, .max = CONTRACT_RANK_MAX};
static const grammar_member tensor_members[] = {
    {"name", &words, NULL}, {"dtype", &words, NULL}, {"shape", &shape, NULL}, {0}};
static const grammar_node tensor = {.kind = GRAMMAR_OBJECT, .members = tensor_members};
static const grammar_node tensors = {
    .kind = GRAMMAR_LIST, .items = &tensor, .max = CONTRACT_TENSORS_MAX};
static const grammar_node hazards = {.kind = GRAMMAR_LIST,
                                     .items = &words,
                                     .max = HAZARDS_MAX,
                                     .help = "numeric and indexing hazards"};
static const grammar_node semantics = {.kind = GRAMMAR_TEXT, .help = "what each output element is"};
static const grammar_node attack = {.kind = GRAMMAR_TEXT,
                                    .help = "how the work is divided over blocks and threads"};
static const grammar_member spec_members[] = {{"name", &words, NULL},
                                              {"semantics", &semantics, NULL},
                                              {"inputs", &tensors, NULL},
                                              {"outputs", &tensors, NULL},
                                              {"hazards", &hazards, NULL},
                                              {"plan_of_attack", &attack, NULL},
                                              {0}};
static const grammar_node spec_form = {.kind = GRAMMAR_OBJECT, .members = spec_members};

static const struct {
    const char *name;
    const grammar_node *form;
    const char *note;
} forms[] = {
    [ANSWER_CANDIDATE] =
        {"candidate", &candidate_form,
         "Your answer is one JSON object in place of the two blocks: `source` is the "
         "text of the ```cuda block, `plan` the launch plan. Write every member: "
         "numbers and expressions as strings, \"0\" for no shared memory, empty "
         "lists for no scratch and no variants."},
    [ANSWER_SPEC] = {"kernel_spec", &spec_form,
                     "Your answer is that JSON object itself, without a block around it. Sizes in "
                     "`shape` are strings."}};

const char *answer_form_name(answer_form form)
{
    return forms[form].name;
}

const char *answer_form_note(answer_form form)
{
    return forms[form].note;
}

char *answer_form_schema(answer_form form)
{
    SCOPED(json_destroy) json *schema = grammar_schema(forms[form].form);
    return json_dump(schema);
}

/* ---- objects ---- */

static bool is_object(const char *text)
{
    str whole = str_trim(str_of(text));
    return whole.size > 0 && whole.data[0] == '{';
}

/* The document that the text is, or that its only JSON block is. NULL with or without a reason. */
static json_doc *find_object(const char *text, const blocks *found, const char *name, err *e)
{
    if (is_object(text)) {
        str whole = str_trim(str_of(text));
        return json_parse(whole.data, whole.size, name, e);
    }
    block_kind kind = json_kind(found);
    const buf *block = &found->text[kind];
    return found->count[kind] == 1 && !block->overflow && !found->open_end
               ? json_parse(buf_text(block), block->size, name, e)
               : NULL;
}

/* A source ends its last line, as it does in a block. */
static char *copy_source(const char *text)
{
    return str_ends(text, "\n") ? xstrdup(text) : xasprintf("%s\n", text);
}

/* 1: it is an object with source and plan, taken; 0: it is none; -1: why. */
static int take_object(const json_doc *doc, bool alone, answer_candidate *out, char *why)
{
    static const char *const keys[] = {"source", "plan", NULL};
    json_cursor root = json_root(doc), source, plan;
    const char *text = NULL;
    size_t count = 0;
    err e;
    bool has_both = json_get(root.value, "source") != NULL && json_get(root.value, "plan") != NULL;
    if (!alone && !has_both) {
        return 0; /* a plan in a block, and the other block is missing */
    }
    if (json_only_keys(&root, keys, &e) != 0 || json_member(&root, "source", &source, &e) != 0 ||
        json_want_str(&source, &text, &e) != 0 || json_member(&root, "plan", &plan, &e) != 0 ||
        json_want_object(&plan, GRAMMAR_MEMBERS_MAX, &count, &e) != 0) {
        snprintf(why, ANSWER_WHY_MAX, "%s", e.text);
        return -1;
    }
    if (strlen(text) > ANSWER_SOURCE_MAX) {
        snprintf(why, ANSWER_WHY_MAX, "the source is larger than %d KiB", ANSWER_SOURCE_MAX / 1024);
        return -1;
    }
    out->source = copy_source(text);
    out->plan = json_dump_pretty(plan.value);
    return 1;
}

/* ---- reading ---- */

int answer_read_candidate(const char *text, answer_candidate *out, char why[ANSWER_WHY_MAX])
{
    SCOPED(blocks_fini) blocks found;
    err e = {0};
    blocks_init(&found);
    scan(text, &found);
    if (found.count[BLOCK_SOURCE] == 0) {
        SCOPED(json_doc_destroy) json_doc *doc = find_object(text, &found, "answer", &e);
        int taken = doc != NULL ? take_object(doc, is_object(text), out, why) : 0;
        if (taken != 0) {
            return taken > 0 ? 0 : -1;
        }
    }
    block_kind kind = json_kind(&found);
    if (e.text[0] != '\0' && found.count[kind] == 0) {
        snprintf(why, ANSWER_WHY_MAX, "%s", e.text); /* it begins like an object */
        return -1;
    }
    if (want_one(&found, BLOCK_SOURCE, "```cuda", why) != 0 ||
        want_one(&found, kind, "```json", why) != 0) {
        return -1;
    }
    out->source = buf_take(&found.text[BLOCK_SOURCE]);
    out->plan = buf_take(&found.text[kind]);
    return 0;
}

void answer_candidate_fini(answer_candidate *self)
{
    scoped_free(&self->source);
    scoped_free(&self->plan);
}

json *answer_read_spec(const char *text, char why[ANSWER_WHY_MAX])
{
    SCOPED(blocks_fini) blocks found;
    err e = {0};
    blocks_init(&found);
    scan(text, &found);
    SCOPED(json_doc_destroy) json_doc *doc = find_object(text, &found, "KernelSpec", &e);
    if (doc == NULL) {
        if (e.text[0] != '\0' || want_one(&found, json_kind(&found), "```json", why) == 0) {
            snprintf(why, ANSWER_WHY_MAX, "%s", e.text);
        }
        return NULL;
    }
    json_cursor root = json_root(doc);
    if (grammar_check(&spec_form, &root, &e) != 0) {
        snprintf(why, ANSWER_WHY_MAX, "%s", e.text);
        return NULL;
    }
    return json_doc_take(doc);
}
