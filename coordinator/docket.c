/* docket - lists of kernels, and expectations as JSON
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/docket.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { EXPECT_TEXT_MAX = 512 };

/* ---- lists ---- */

static void add(docket *self, const docket_case *one)
{
    self->items = xreallocarray(self->items, self->count + 1, sizeof *self->items);
    self->items[self->count++] = *one;
}

static void add_gold(docket *self, const problem *p)
{
    const docket_case gold = {.problem = p, .entrant = DOCKET_GOLD};
    if (p->gold_source != NULL)
        add(self, &gold);
}

docket *docket_mutants(const problem *const *problems, size_t count)
{
    docket *self = xcalloc(1, sizeof *self);
    for (size_t i = 0; i < count; i++) {
        const problem *p = problems[i];
        add_gold(self, p);
        for (size_t k = 0; k < p->wrong.count; k++) {
            const docket_case one = {.problem = p,
                                     .entrant = DOCKET_KERNEL,
                                     .sample = (int64_t)k,
                                     .kernel = &p->wrong.items[k]};
            add(self, &one);
        }
    }
    return self;
}

docket *docket_adversarial(const problem *const *problems, size_t count, adversarial **foreign)
{
    docket *self = xcalloc(1, sizeof *self);
    const adversarial *all = self->foreign = TAKE(*foreign);
    for (size_t i = 0; i < count; i++) {
        int64_t sample = 0;
        for (size_t k = 0; k < all->kernels.count; k++) {
            if (all->problems[k] != problems[i])
                continue;
            if (sample == 0)
                add_gold(self, problems[i]);
            const docket_case one = {.problem = problems[i],
                                     .entrant = DOCKET_KERNEL,
                                     .sample = sample++,
                                     .kernel = &all->kernels.items[k]};
            add(self, &one);
        }
    }
    return self;
}

void docket_destroy(docket **self)
{
    if (*self == NULL)
        return;
    adversarial_destroy(&(*self)->foreign);
    free((*self)->items);
    free(*self);
    *self = NULL;
}

/* ---- as JSON ---- */

static json *expect_json(const mutant_expect *expect)
{
    json *out = json_new_object(), *any = json_new_array();
    for (size_t i = 0; i < expect->count; i++) {
        json *name = json_new_str(outcome_name(expect->any[i]));
        json_append(any, &name);
    }
    json_set(out, "any", &any);
    json_set_str(out, "detail", expect->detail);
    return out;
}

char *docket_write(const docket_case *self)
{
    static const mutant_expect passes = {.any = {OUTCOME_OK}, .count = 1};
    const mutant *m = self->kernel;
    SCOPED(json_destroy) json *out = json_new_object();
    json *cuda = expect_json(m != NULL ? &m->cuda : &passes);
    json *emu = expect_json(m != NULL ? &m->emu : &passes);
    json_set_str(out, "name", m != NULL ? m->name : "gold");
    json_set_str(out, "why", m != NULL ? m->why : NULL);
    json_set_bool(out, "emu_blind", m != NULL && m->emu_blind);
    json_set(out, "cuda", &cuda);
    json_set(out, "emu", &emu);
    return json_dump(out);
}

static int read_expect(const json *row, mutant_expect *out, err *e)
{
    const json *any = json_get(row, "any");
    const char *detail = json_str(json_get(row, "detail"), NULL);
    out->count = json_size(any);
    if (out->count == 0 || out->count > MUTANT_OUTCOMES_MAX)
        return err_set(e, ERR_CONFIG, "a stored trial expects nothing");
    for (size_t i = 0; i < out->count; i++)
        if (!outcome_parse(json_str(json_at(any, i), ""), &out->any[i]))
            return err_set(e, ERR_CONFIG, "a stored trial expects an unknown outcome");
    out->detail = detail != NULL ? xstrdup(detail) : NULL;
    return 0;
}

int docket_read(const char *text, docket_record *out, err *e)
{
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, strlen(text), "trial", e);
    if (doc == NULL)
        return -1;
    SCOPED(docket_record_fini) docket_record self = {.name = NULL};
    const json *root = json_doc_root(doc);
    const char *why = json_str(json_get(root, "why"), NULL);
    self.name = xstrdup(json_str(json_get(root, "name"), ""));
    self.why = why != NULL ? xstrdup(why) : NULL;
    self.emu_blind = json_bool(json_get(root, "emu_blind"), false);
    if (read_expect(json_get(root, "cuda"), &self.cuda, e) < 0 ||
        read_expect(json_get(root, "emu"), &self.emu, e) < 0)
        return -1;
    *out = self;
    self = (docket_record){.name = NULL};
    return 0;
}

void docket_record_fini(docket_record *self)
{
    free(self->name);
    free(self->why);
    free(self->cuda.detail);
    free(self->emu.detail);
    *self = (docket_record){.name = NULL};
}

const mutant_expect *docket_expectation(const docket_record *self, const char *device_kind)
{
    return device_kind != NULL && strcmp(device_kind, "emu") == 0 ? &self->emu : &self->cuda;
}

char *docket_expect_text(const mutant_expect *expect)
{
    buf out;
    buf_init(&out, EXPECT_TEXT_MAX);
    for (size_t i = 0; i < expect->count; i++)
        buf_printf(&out, "%s%s", i > 0 ? " or " : "", outcome_name(expect->any[i]));
    if (expect->detail != NULL)
        buf_printf(&out, "(%s)", expect->detail);
    return buf_take(&out);
}
