/* mutants - wrong kernels of a problem, each with the outcome that it must get
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

/* What every mutant of a problem is read with. */
typedef struct reading {
    const char *folder; /* …/mutants */
    const contract *terms;
    const char *gold_plan;
} reading;

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

static int read_outcome(mutant *self, const json_cursor *at, err *e)
{
    const char *name;
    outcome value;
    if (json_want_str(at, &name, e) < 0)
        return -1;
    if (!outcome_parse(name, &value) || value == OUTCOME_OK || !outcome_is_scored(value))
        return json_fail(at, e, "'%.40s' is no outcome that a wrong kernel can have", name);
    for (size_t i = 0; i < self->expected_count; i++)
        if (self->expected[i] == value)
            return json_fail(at, e, "'%s' is listed twice", name);
    self->expected[self->expected_count++] = value;
    return 0;
}

/* expect is an outcome or a list of outcomes. */
static int read_expect(mutant *self, const json_cursor *row, err *e)
{
    json_cursor list, at;
    size_t n = 0;
    if (json_member(row, "expect", &list, e) < 0)
        return -1;
    if (json_typeof(list.value) == JSON_TYPE_STRING)
        return read_outcome(self, &list, e);
    if (json_want_array(&list, MUTANT_OUTCOMES_MAX, &n, e) < 0)
        return -1;
    if (n == 0)
        return json_fail(&list, e, "name at least one outcome");
    for (size_t i = 0; i < n; i++) {
        json_element(&list, i, &at);
        if (read_outcome(self, &at, e) < 0)
            return -1;
    }
    return 0;
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
    if (self->expected_count > 1)
        return json_fail(&at, e, "a detail belongs to one outcome, and %zu are expected",
                         self->expected_count);
    self->detail = xstrdup(detail);
    return 0;
}

static int read_emu(mutant *self, const json_cursor *row, err *e)
{
    static const char *const choices[] = {"not_detectable", NULL};
    json_cursor at;
    int choice;
    if (!json_maybe(row, "emu", &at))
        return 0;
    if (json_want_choice(&at, choices, &choice, e) < 0)
        return -1;
    self->emu_blind = true;
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

static int check_plan(const reading *r, const mutant *self, const char *file, err *e)
{
    plan_fault fault;
    SCOPED(plan_destroy)
    plan *parsed = plan_parse(self->plan, strlen(self->plan), r->terms, &fault);
    if (parsed != NULL)
        return 0;
    return err_set(e, ERR_CONFIG, "%s/%s: %s%s%s", r->folder, file, fault.pointer,
                   fault.pointer[0] == '\0' ? "" : ": ", fault.text);
}

static int read_files(const reading *r, mutant *self, const json_cursor *row, err *e)
{
    SCOPED(scoped_free) char *source = xasprintf("%s.cu", self->name);
    SCOPED(scoped_free) char *launch = xasprintf("%s.json", self->name);
    if (!has_file(r->folder, source))
        return json_fail(row, e, "there is no %s/%s", r->folder, source);
    if (text_read(r->folder, source, &self->source, e) < 0)
        return -1;
    if (has_file(r->folder, launch))
        return text_read(r->folder, launch, &self->plan, e) < 0 ? -1
                                                                : check_plan(r, self, launch, e);
    if (r->gold_plan == NULL)
        return json_fail(row, e, "%s needs a plan: there is neither %s/%s nor a gold.json",
                         self->name, r->folder, launch);
    self->plan = xstrdup(r->gold_plan);
    return 0;
}

/* ---- one ---- */

static void mutant_fini(mutant *self)
{
    free(self->name);
    free(self->source);
    free(self->plan);
    free(self->detail);
    free(self->why);
    *self = (mutant){0};
}

static int read_mutant(const reading *r, mutants *list, const json_cursor *row, err *e)
{
    static const char *const keys[] = {"name", "expect", "detail", "emu", "why", NULL};
    SCOPED(mutant_fini) mutant self = {0};
    if (json_only_keys(row, keys, e) < 0 || read_name(&self, list, row, e) < 0 ||
        read_expect(&self, row, e) < 0 || read_detail(&self, row, e) < 0 ||
        read_emu(&self, row, e) < 0 || read_why(&self, row, e) < 0 ||
        read_files(r, &self, row, e) < 0)
        return -1;
    list->items[list->count++] = self;
    self = (mutant){0};
    return 0;
}

bool mutant_expects(const mutant *self, outcome result, const char *detail)
{
    for (size_t i = 0; i < self->expected_count; i++)
        if (self->expected[i] == result)
            return self->detail == NULL || strcmp(self->detail, detail == NULL ? "" : detail) == 0;
    return false;
}

/* ---- the whole ---- */

static bool is_listed(const mutants *list, const char *file)
{
    if (strcmp(file, list_name) == 0)
        return true;
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

/* check_unlisted refuses a file that somebody forgot to list: it would silently prove nothing. */
static int check_unlisted(const char *path, const mutants *list, const json_cursor *root, err *e)
{
    SCOPED(close_folder) DIR *folder = opendir(path);
    if (folder == NULL)
        return err_errno(e, errno, "cannot read the folder %s", path);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.' && !is_listed(list, entry->d_name))
            return json_fail(root, e, "%s/%s belongs to no listed mutant: list it or move it away",
                             path, entry->d_name);
    return 0;
}

static int read_list(const reading *r, mutants *out, err *e)
{
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
        if (read_mutant(r, out, &row, e) < 0)
            return -1;
    }
    return check_unlisted(r->folder, out, &root, e);
}

int mutants_load(const char *folder, const contract *terms, const char *gold_plan, mutants *out,
                 err *e)
{
    SCOPED(scoped_free) char *inner = file_join(folder, "mutants");
    SCOPED(mutants_fini) mutants self = {0};
    const reading r = {.folder = inner, .terms = terms, .gold_plan = gold_plan};
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
