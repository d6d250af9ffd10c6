/* cmd_suite_diff - ce-coord suite diff: what became of a suite
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "suites/diff.h"

enum { PARTS_TEXT_MAX = 256 };

typedef struct options {
    const char *suites;
    bool json;
} options;

static const cli_option table[] = {CMD_OPTION_SUITES(options),
                                   {.name = "json",
                                    .type = CLI_FLAG,
                                    .offset = offsetof(options, json),
                                    .help = "print an object with both hashes and `problems`"},
                                   {.name = NULL}};

static const cli_command command = {.name = "suite diff",
                                    .summary = "what differs between two suites",
                                    .arguments = "A B",
                                    .arguments_min = 2,
                                    .arguments_max = 2,
                                    .examples =
                                        "ce-coord suite diff internal ../older/suites/internal\n"
                                        "ce-coord suite diff a/internal b/internal --json\n",
                                    .options = table};

/* A suite is named, or is a folder with a slash in its path. */
static suite *open_suite(const options *o, const char *word, err *e)
{
    SCOPED(scoped_free) char *path = xstrdup(word);
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        path[--size] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        SCOPED(scoped_free) char *root = suite_root(o->suites, e);
        return root ? suite_load(root, path, e) : NULL;
    }
    *slash = '\0';
    return suite_load(slash == path ? "/" : path, slash + 1, e);
}

static char *parts_text(const diff_row *row)
{
    buf out;
    buf_init(&out, PARTS_TEXT_MAX);
    for (int i = 0; i < DIFF_PARTS; i++) {
        if (row->parts[i])
            buf_printf(&out, "%s%s", out.size ? ", " : "", diff_part_name(i));
    }
    return buf_take(&out);
}

static json *side_json(const suite *s)
{
    char hex[HASH_HEX];
    json *row = json_new_object();
    hash_hex(&s->content, hex);
    json_set_str(row, "folder", s->folder);
    json_set_str(row, "version", s->version);
    json_set_str(row, "hash", hex);
    return row;
}

static json *row_json(const diff_row *row)
{
    json *out = json_new_object(), *parts = json_new_array();
    for (int i = 0; i < DIFF_PARTS; i++) {
        json *name = row->parts[i] ? json_new_str(diff_part_name(i)) : NULL;
        if (name)
            json_append(parts, &name);
    }
    json_set_str(out, "id", row->id);
    json_set_str(out, "change", diff_kind_name(row->kind));
    json_set(out, "parts", &parts);
    return out;
}

static int print_json(const suite *a, const suite *b, const diff *d)
{
    SCOPED(json_destroy) json *root = json_new_object();
    json *before = side_json(a), *after = side_json(b), *rows = json_new_array();
    for (size_t i = 0; i < d->count; i++) {
        json *row = row_json(&d->rows[i]);
        json_append(rows, &row);
    }
    json_set(root, "before", &before);
    json_set(root, "after", &after);
    json_set_bool(root, "same_hash", hash_equal(&a->content, &b->content));
    json_set(root, "problems", &rows);
    return cmd_print_json(root);
}

static int print_text(const suite *a, const suite *b, const diff *d)
{
    bool same = hash_equal(&a->content, &b->content);
    printf("%s %s, then %s %s: %s\n", a->id, a->version, b->id, b->version,
           same ? "the same hash, results may be compared"
                : "another hash, results are never ranked together");
    for (size_t i = 0; i < d->count; i++) {
        SCOPED(scoped_free) char *parts = parts_text(&d->rows[i]);
        printf("  %-8s %-28s %s\n", diff_kind_name(d->rows[i].kind), d->rows[i].id, parts);
    }
    if (d->count == 0)
        printf("  the same problems in the same order\n");
    return CMD_EXIT_COMPLETE;
}

static int run_diff(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(suite_destroy) suite *a = open_suite(o, call->arguments[0], e);
    SCOPED(suite_destroy) suite *b = a ? open_suite(o, call->arguments[1], e) : NULL;
    if (!b)
        return -1;
    SCOPED(diff_fini) diff d = diff_suites(a, b);
    return o->json ? print_json(a, b, &d) : print_text(a, b, &d);
}

const cmd_entry cmd_suite_diff = {
    .cli = &command, .options_size = sizeof(options), .run = run_diff};
