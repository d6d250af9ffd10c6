/* survey - a KernelBench checkout, read by a ce-node
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/survey.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/subproc.h"
#include "common/xalloc.h"

enum {
    ARGS_MAX = 24,
    TEXT_MAX = 256 * 1024 * 1024,
    DESCRIBE_MS =
        30 * 60 * 1000, /* a hang, not slowness: a machine with much to do takes minutes */
    ADMIT_MS = 12 * 60 * 60 * 1000
};

/* ---- asking ---- */

typedef struct arguments {
    const char *list[ARGS_MAX];
    size_t count;
} arguments;

static void add(arguments *a, const char *option, const char *value)
{
    if (value == NULL)
        return;
    a->list[a->count++] = option;
    a->list[a->count++] = value;
}

static arguments arguments_of(const survey_request *r, const char *binary)
{
    arguments a = {.list = {binary, "checkout", r->root}, .count = 3};
    add(&a, "--level", r->level);
    add(&a, "--only", r->only);
    add(&a, "--shots", r->shots);
    add(&a, "--cache", r->found);
    add(&a, "--suites", r->suites);
    add(&a, "--python", r->python);
    add(&a, "--device", r->device);
    if (r->admit)
        a.list[a.count++] = "--admit";
    return a;
}

kernelbench *survey_read(const survey_request *request, err *e)
{
    SCOPED(scoped_free) char *here = file_self_dir(e);
    if (here == NULL)
        return NULL;
    SCOPED(scoped_free) char *binary = file_join(here, "ce-node");
    const arguments a = arguments_of(request, binary);
    const subproc_options how = {.argv = a.list, .env = (const char *const *)environ};
    SCOPED(buf_fini) buf text;
    buf_init(&text, TEXT_MAX);
    int status = 0;
    char said[64];
    if (subproc_run(&how, request->admit ? ADMIT_MS : DESCRIBE_MS, &text, NULL, &status, e) < 0) {
        err_wrap(e, "read the checkout %s", request->root);
        return NULL;
    }
    if (status != 0) {
        subproc_status_text(status, said, sizeof said);
        err_set(e, ERR_UNAVAILABLE, "ce-node checkout %s (it said why above)", said);
        return NULL;
    }
    return kernelbench_read(buf_text(&text), text.size,
                            request->shots != NULL ? request->shots : "zero", e);
}

char *survey_found(const char *db)
{
    const char *slash = strrchr(db, '/');
    return slash == NULL ? xstrdup(KERNELBENCH_SUITE)
                         : xasprintf("%.*s/" KERNELBENCH_SUITE, (int)(slash - db), db);
}

/* ---- telling ---- */

typedef struct counts {
    size_t supported, unsupported, admitted, degenerate, gold;
} counts;

static counts count(const kernelbench *self)
{
    counts c = {0};
    for (size_t i = 0; i < self->file_count; i++) {
        const kernelbench_file *f = &self->files[i];
        *(f->supported ? &c.supported : &c.unsupported) += 1;
        c.admitted += f->admitted;
        c.degenerate += f->degenerate != NULL;
        c.gold += f->is != NULL && f->is->gold_source != NULL;
    }
    return c;
}

static double gib(int64_t bytes)
{
    return (double)bytes / (1024.0 * 1024.0 * 1024.0);
}

static const char *status_of(const kernelbench_file *f)
{
    if (!f->supported)
        return "unsupported";
    return f->degenerate != NULL ? "degenerate" : f->admitted ? "admitted" : "supported";
}

void survey_print(const kernelbench *self, FILE *out)
{
    const suite *all = self->problems;
    fprintf(out, "%s %s - %s\n", all->id, all->version, all->title);
    for (size_t i = 0; i < self->file_count; i++) {
        const kernelbench_file *f = &self->files[i];
        const char *why = f->supported ? f->degenerate : f->reason;
        fprintf(out, "  %-8s %-12s", f->id, status_of(f));
        if (f->supported)
            fprintf(out, " %7.2f GiB in, %7.2f GiB to check ", gib(f->inputs), gib(f->needs));
        fprintf(out, " %s%s%s%s%s\n", f->title, why != NULL ? " (" : "", why != NULL ? why : "",
                why != NULL ? ")" : "",
                f->is != NULL && f->is->gold_source != NULL ? " [gold]" : "");
    }
    const counts c = count(self);
    fprintf(out,
            "%zu files: %zu supported, %zu unsupported; %zu admitted, %zu of them degenerate; "
            "%zu with a gold kernel\n",
            self->file_count, c.supported, c.unsupported, c.admitted, c.degenerate, c.gold);
}

static json *file_json(const kernelbench_file *f)
{
    json *row = json_new_object();
    char hex[HASH_HEX] = "";
    if (f->is != NULL)
        hash_hex(&f->is->content, hex);
    json_set_str(row, "id", f->id);
    json_set_str(row, "title", f->title);
    json_set_str(row, "status", status_of(f));
    json_set_str(row, "reason", f->supported ? f->degenerate : f->reason);
    json_set_str(row, "hash", f->is != NULL ? hex : NULL);
    json_set_int(row, "input_bytes", f->inputs);
    json_set_int(row, "check_bytes", f->needs);
    json_set_bool(row, "gold", f->is != NULL && f->is->gold_source != NULL);
    return row;
}

json *survey_json(const kernelbench *self)
{
    json *root = json_new_object(), *files = json_new_array();
    char hex[HASH_HEX];
    hash_hex(&self->problems->content, hex);
    json_set_str(root, "id", self->problems->id);
    json_set_str(root, "version", self->problems->version);
    json_set_str(root, "layout", self->layout);
    json_set_str(root, "hash", hex);
    for (size_t i = 0; i < self->file_count; i++) {
        json *row = file_json(&self->files[i]);
        json_append(files, &row);
    }
    json_set(root, "problems", &files);
    return root;
}
