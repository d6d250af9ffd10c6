/* mutants - kernels that come with the outcome that each must get
 *
 * SPDX-License-Identifier: MIT */
#include "suites/mutants.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "common/yaml.h"
#include "suites/plan.h"
#include "suites/text.h"

static const char list_name[] = "mutants.yaml";

/* ---- mutants.yaml ---- */

static int read_name(mutant *self, const mutants *before, const json_cursor *row, err *e)
{
    json_cursor at;
    const char *name;
    if (json_member(row, "name", &at, e) < 0 || json_want_name(&at, &name, e) < 0)
        return -1;
    for (size_t i = 0; i < before->count; i++)
        if (strcmp(before->items[i].name, name) == 0)
            return json_fail(&at, e, "'%s' is listed twice", name);
    self->name = xstrdup(name);
    return 0;
}

/* What may be expected besides the failures that count. */
typedef struct allowed {
    bool ok;
    outcome unscored; /* OUTCOME_OK: none */
} allowed;

/* add_outcome: where wrong kernels are listed nothing may be expected to pass. */
static int add_outcome(mutant_expect *self, const json_cursor *at, const allowed *also, err *e)
{
    const char *name;
    outcome value;
    if (json_want_str(at, &name, e) < 0)
        return -1;
    bool known = outcome_parse(name, &value);
    if (!known || (!outcome_is_scored(value) && value != also->unscored))
        return json_fail(at, e, "'%.40s' is no outcome that a kernel can have", name);
    if (value == OUTCOME_OK && !also->ok)
        return json_fail(at, e, "'ok' is no outcome that a wrong kernel can have");
    for (size_t i = 0; i < self->count; i++)
        if (self->any[i] == value)
            return json_fail(at, e, "'%s' is listed twice", name);
    self->any[self->count++] = value;
    return 0;
}

/* read_outcomes takes an outcome or a list of outcomes. */
static int read_outcomes(mutant_expect *self, const json_cursor *list, const allowed *also, err *e)
{
    json_cursor at;
    size_t n = 0;
    if (json_typeof(list->value) == JSON_TYPE_STRING)
        return add_outcome(self, list, also, e);
    if (json_want_array(list, MUTANT_OUTCOMES_MAX, &n, e) < 0)
        return -1;
    if (n == 0)
        return json_fail(list, e, "name at least one outcome");
    for (size_t i = 0; i < n; i++) {
        json_element(list, i, &at);
        if (add_outcome(self, &at, also, e) < 0)
            return -1;
    }
    return 0;
}

static int read_expect(mutant *self, const json_cursor *row, bool ok_too, err *e)
{
    json_cursor list;
    const allowed also = {.ok = ok_too, .unscored = OUTCOME_OK};
    return json_member(row, "expect", &list, e) < 0 ? -1
                                                    : read_outcomes(&self->cuda, &list, &also, e);
}

static int read_detail(mutant *self, const json_cursor *row, err *e)
{
    json_cursor at;
    const char *detail;
    if (!json_maybe(row, "detail", &at))
        return 0;
    if (json_want_str(&at, &detail, e) < 0)
        return -1;
    if (detail[0] == '\0' || strlen(detail) > MUTANT_DETAIL_MAX)
        return json_fail(&at, e, "must be 1 to %d bytes long", MUTANT_DETAIL_MAX);
    if (self->cuda.count > 1)
        return json_fail(&at, e, "a detail belongs to one outcome, and %zu are expected",
                         self->cuda.count);
    self->cuda.detail = xstrdup(detail);
    return 0;
}

static void expect_the_same(mutant *self)
{
    self->emu = self->cuda;
    self->emu.detail = self->cuda.detail == NULL ? NULL : xstrdup(self->cuda.detail);
}

/* read_emu: another expectation on the emulator, or none that it could see. */
static int read_emu(mutant *self, const json_cursor *row, bool ok_too, err *e)
{
    json_cursor at;
    const allowed also = {.ok = ok_too, .unscored = OUTCOME_UNSUPPORTED_ON_EMU};
    if (!json_maybe(row, "emu", &at)) {
        expect_the_same(self);
        return 0;
    }
    self->emu_blind = json_typeof(at.value) == JSON_TYPE_STRING &&
                      strcmp(json_str(at.value, ""), "not_detectable") == 0;
    if (!self->emu_blind)
        return read_outcomes(&self->emu, &at, &also, e);
    self->emu = (mutant_expect){.any = {OUTCOME_OK}, .count = 1};
    return 0;
}

static int read_why(mutant *self, const json_cursor *row, err *e)
{
    json_cursor at;
    const char *why;
    if (json_member(row, "why", &at, e) < 0 || json_want_str(&at, &why, e) < 0)
        return -1;
    if (why[0] == '\0' || strlen(why) > MUTANT_WHY_MAX || strchr(why, '\n') != NULL)
        return json_fail(&at, e, "must be one line of 1 to %d bytes", MUTANT_WHY_MAX);
    self->why = xstrdup(why);
    return 0;
}

/* ---- files ---- */

static bool has_file(const char *folder, const char *name)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    return file_exists(path);
}

static int check_plan(const mutants_reading *r, const mutant *self, const char *file, err *e)
{
    plan_fault fault;
    SCOPED(plan_destroy)
    plan *parsed = plan_parse(self->plan, strlen(self->plan), r->terms, &fault);
    if (parsed != NULL)
        return 0;
    return err_set(e, ERR_CONFIG, "%s/%s: %s%s%s", r->folder, file, fault.pointer,
                   fault.pointer[0] == '\0' ? "" : ": ", fault.text);
}

static int read_plan(const mutants_reading *r, mutant *self, const char *file, err *e)
{
    if (text_read(r->folder, file, &self->plan, e) < 0)
        return -1;
    return r->terms == NULL ? 0 : check_plan(r, self, file, e);
}

static int read_files(const mutants_reading *r, mutant *self, const json_cursor *row, err *e)
{
    SCOPED(scoped_free) char *source = xasprintf("%s.cu", self->name);
    SCOPED(scoped_free) char *launch = xasprintf("%s.json", self->name);
    if (!has_file(r->folder, source))
        return json_fail(row, e, "there is no %s/%s", r->folder, source);
    if (text_read(r->folder, source, &self->source, e) < 0)
        return -1;
    if (has_file(r->folder, launch))
        return read_plan(r, self, launch, e);
    if (r->gold_plan == NULL)
        return json_fail(row, e, "%s needs a plan: there is neither %s/%s nor a gold.json",
                         self->name, r->folder, launch);
    self->plan = xstrdup(r->gold_plan);
    return 0;
}

/* ---- one ---- */

void mutant_fini(mutant *self)
{
    free(self->name);
    free(self->source);
    free(self->plan);
    free(self->cuda.detail);
    free(self->emu.detail);
    free(self->why);
    *self = (mutant){0};
}

int mutants_read_row(const mutants_reading *r, const mutants *before, const json_cursor *row,
                     mutant *out, err *e)
{
    bool ok_too = r->terms == NULL;
    SCOPED(mutant_fini) mutant self = {0};
    if (read_name(&self, before, row, e) < 0 || read_expect(&self, row, ok_too, e) < 0 ||
        read_detail(&self, row, e) < 0 || read_emu(&self, row, ok_too, e) < 0 ||
        read_why(&self, row, e) < 0 || read_files(r, &self, row, e) < 0)
        return -1;
    *out = self;
    self = (mutant){0};
    return 0;
}

bool mutant_expects(const mutant_expect *self, outcome result, const char *detail)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->any[i] == result)
            return self->detail == NULL || strcmp(self->detail, detail == NULL ? "" : detail) == 0;
    return false;
}

/* ---- the whole ---- */

static bool is_listed(const mutants *list, const char *file)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t size = strlen(list->items[i].name);
        if (strncmp(file, list->items[i].name, size) == 0 &&
            (strcmp(file + size, ".cu") == 0 || strcmp(file + size, ".json") == 0))
            return true;
    }
    return false;
}

static void close_folder(DIR **folder)
{
    if (*folder != NULL)
        closedir(*folder);
}

int mutants_check_files(const char *folder, const char *list_file, const mutants *list,
                        const json_cursor *root, err *e)
{
    SCOPED(close_folder) DIR *open = opendir(folder);
    if (open == NULL)
        return err_errno(e, errno, "cannot read the folder %s", folder);
    for (struct dirent *entry; (entry = readdir(open)) != NULL;) {
        const char *file = entry->d_name;
        bool known = file[0] == '.' || strcmp(file, list_file) == 0 || is_listed(list, file);
        if (!known)
            return json_fail(root, e, "%s/%s belongs to no listed kernel: list it or move it away",
                             folder, file);
    }
    return 0;
}

static int read_list(const mutants_reading *r, mutants *out, err *e)
{
    static const char *const keys[] = {"name", "expect", "detail", "emu", "why", NULL};
    SCOPED(scoped_free) char *path = file_join(r->folder, list_name);
    SCOPED(json_doc_destroy) json_doc *doc = yaml_load(path, e);
    if (doc == NULL)
        return -1;
    json_cursor root = json_root(doc), row;
    size_t n;
    if (json_want_array(&root, MUTANTS_MAX, &n, e) < 0)
        return -1;
    if (n == 0)
        return json_fail(&root, e, "the list is empty: name a mutant or remove the folder");
    out->items = xcalloc(n, sizeof *out->items);
    for (size_t i = 0; i < n; i++) {
        json_element(&root, i, &row);
        if (json_only_keys(&row, keys, e) < 0 ||
            mutants_read_row(r, out, &row, &out->items[out->count], e) < 0)
            return -1;
        out->count++;
    }
    return mutants_check_files(r->folder, list_name, out, &root, e);
}

int mutants_load(const char *folder, const contract *terms, const char *gold_plan, mutants *out,
                 err *e)
{
    SCOPED(scoped_free) char *inner = file_join(folder, "mutants");
    SCOPED(mutants_fini) mutants self = {0};
    const mutants_reading r = {.folder = inner, .terms = terms, .gold_plan = gold_plan};
    if (file_exists(inner) && read_list(&r, &self, e) < 0)
        return -1;
    *out = self;
    self = (mutants){0};
    return 0;
}

void mutants_fini(mutants *self)
{
    for (size_t i = 0; i < self->count; i++)
        mutant_fini(&self->items[i]);
    free(self->items);
    *self = (mutants){0};
}
