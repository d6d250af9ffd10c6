/* night_config - what a nightly.yaml says
 *
 * Words and numbers are tables; what needs more than a table has a function of its own.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/night_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "common/yaml.h"
#include "coordinator/entrants.h"
#include "coordinator/hook.h"
#include "providers/catalog.h"
#include "reports/rules.h"

enum {
    WINDOW = 7,
    NIGHTS = 30,
    PACKS = 7,
    DB_MIB = 8192,
    OVERDUE_HOURS = 26,
    NAME_MAX_BYTES = 40,
    SAMPLES_MAX = 1000,
    MANY = 1000000
};
static const double BUDGET_MAX = 1e6;

static const char *const top[] = {
    "name",     "out",    "db",       "keys",   "suites",         "suites_dir",
    "root",     "level",  "shots",    "models", "entrants",       "samples",
    "only",     "limit",  "device",   "arch",   "target",         "budget_usd",
    "slots",    "python", "fake",     "bind",   "node_timeout_s", "on_rate_limit",
    "selftest", "gate",   "evidence", "keep",   "notify",         "overdue_hours",
    NULL};
static const char *const of_gate[] = {"window", "rules", "confirm", NULL};
static const char *const of_evidence[] = {"pack", "sign", "source", NULL};
static const char *const of_keep[] = {"nights", "packs", "db_mib", NULL};

/* ---- one value ---- */

typedef struct reading {
    night_config *out;
    const char *folder; /* of the file */
} reading;

static char *resolved(const reading *r, const char *path)
{
    return path[0] == '/' ? xstrdup(path) : file_join(r->folder, path);
}

typedef enum text_kind { TEXT_WORD, TEXT_PATH, TEXT_FILE } text_kind;

static int take_text(const reading *r, const json_cursor *c, const char *key, text_kind kind,
                     char **out, err *e)
{
    json_cursor at;
    const char *text;
    if (!json_maybe(c, key, &at))
        return 0;
    if (json_want_str(&at, &text, e))
        return -1;
    if (!*text)
        return json_fail(&at, e, "is empty: leave the key out instead");
    *out = kind == TEXT_WORD ? xstrdup(text) : resolved(r, text);
    if (kind == TEXT_FILE && !file_exists(*out))
        return json_fail(&at, e, "there is no %s", *out);
    return 0;
}

static int take_int(const json_cursor *c, const char *key, int64_t min, int64_t max, int64_t *out,
                    err *e)
{
    json_cursor at;
    return json_maybe(c, key, &at) ? json_want_int(&at, min, max, out, e) : 0;
}

static int take_bool(const json_cursor *c, const char *key, bool *out, err *e)
{
    json_cursor at;
    return json_maybe(c, key, &at) ? json_want_bool(&at, out, e) : 0;
}

static int take_real(const json_cursor *c, const char *key, double max, double *out, err *e)
{
    json_cursor at;
    if (!json_maybe(c, key, &at))
        return 0;
    if (json_want_real(&at, out, e))
        return -1;
    return *out > 0 && *out <= max ? 0
                                   : json_fail(&at, e, "want a number above 0, at most %g", max);
}

/* A list of words; the borrowed texts are put into a fresh NULL-ended array. */
static int take_list(const json_cursor *c, const char *key, size_t max, const char ***out,
                     size_t *count, err *e)
{
    json_cursor list, at;
    if (!json_maybe(c, key, &list))
        return 0;
    if (json_want_array(&list, max, count, e))
        return -1;
    if (!*count)
        return json_fail(&list, e, "is empty: leave the key out instead");
    *out = xcalloc(*count + 1, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        json_element(&list, i, &at);
        if (json_want_str(&at, &(*out)[i], e))
            return -1;
        if (!*(*out)[i])
            return json_fail(&at, e, "is empty");
    }
    return 0;
}

static int take_names(const json_cursor *c, const char *key, settings_name **out, size_t *count,
                      err *e)
{
    SCOPED(scoped_free) const char **words = NULL;
    size_t found = 0;
    if (take_list(c, key, SETTINGS_NAMES_MAX, &words, &found, e))
        return -1;
    *out = xcalloc(found + 1, sizeof **out);
    for (size_t i = 0; i < found; i++)
        (*out)[(*count)++].name = xstrdup(words[i]);
    return 0;
}

/* ---- parts ---- */

static int read_name(const json_cursor *root, night_config *out, err *e)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    json_cursor at;
    const char *text;
    if (json_member(root, "name", &at, e) || json_want_str(&at, &text, e))
        return -1;
    if (!*text || strlen(text) > NAME_MAX_BYTES || text[strspn(text, allowed)])
        return json_fail(&at, e, "want small letters, digits and '-', at most %d",
                         (int)NAME_MAX_BYTES);
    out->name = xstrdup(text);
    return 0;
}

static int check_choice(const json_cursor *root, const char *key, const char *const *choices,
                        err *e)
{
    json_cursor at;
    int which;
    return json_maybe(root, key, &at) ? json_want_choice(&at, choices, &which, e) : 0;
}

static int read_words(const reading *r, const json_cursor *root, err *e)
{
    static const char *const devices[] = {"auto", "cuda", "emu", "fake", NULL};
    static const char *const waits[] = {"wait", "fail", NULL};
    settings *s = &r->out->run;
    const struct {
        const char *key;
        text_kind kind;
        char **to;
    } rows[] = {
        {"out", TEXT_PATH, &r->out->out},
        {"db", TEXT_PATH, &r->out->db},
        {"keys", TEXT_PATH, &r->out->keys},
        {"suites_dir", TEXT_FILE, &s->suites_dir},
        {"root", TEXT_FILE, &s->root},
        {"level", TEXT_WORD, &s->level},
        {"shots", TEXT_WORD, &s->shots},
        {"device", TEXT_WORD, &s->device},
        {"arch", TEXT_WORD, &s->arch},
        {"python", TEXT_FILE, &s->python},
        {"fake", TEXT_FILE, &s->fake},
        {"bind", TEXT_WORD, &s->bind},
        {"on_rate_limit", TEXT_WORD, &s->on_rate_limit},
    };
    if (check_choice(root, "device", devices, e) || check_choice(root, "on_rate_limit", waits, e))
        return -1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (take_text(r, root, rows[i].key, rows[i].kind, rows[i].to, e))
            return -1;
    if (!s->device)
        s->device = xstrdup("auto");
    return 0;
}

static int read_numbers(const reading *r, const json_cursor *root, err *e)
{
    settings *s = &r->out->run;
    double timeout = SETTINGS_NODE_TIMEOUT_MS / 1e3;
    bool selftest = true;
    s->samples = 1;
    s->target = 1;
    r->out->overdue_hours = OVERDUE_HOURS;
    if (take_int(root, "samples", 1, SAMPLES_MAX, &s->samples, e) ||
        take_int(root, "limit", 1, SETTINGS_NAMES_MAX, &s->limit, e) ||
        take_int(root, "slots", 1, 1024, &s->slots, e) ||
        take_int(root, "overdue_hours", 1, MANY, &r->out->overdue_hours, e) ||
        take_real(root, "target", 1000, &s->target, e) ||
        take_real(root, "budget_usd", BUDGET_MAX, &s->budget_usd, e) ||
        take_real(root, "node_timeout_s", 3600, &timeout, e) ||
        take_bool(root, "selftest", &selftest, e))
        return -1;
    s->node_timeout_ms = (int64_t)(timeout * 1000);
    s->selftest = selftest ? 1 : 0;
    s->seed = settings_random_seed();
    return 0;
}

static bool has_gold(const char *const *models, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(models[i], NIGHT_GOLD) == 0)
            return true;
    return false;
}

/* Nobody is asked at night: money needs a bound. */
static int check_money(const json_cursor *root, const settings *s, err *e)
{
    for (size_t i = 0; i < s->entrant_count && s->budget_usd <= 0; i++) {
        const settings_entrant *one = &s->entrants[i];
        bool paid = one->escalation && provider_is_paid(one->escalation);
        for (size_t k = 0; k < SPEC_STAGES; k++)
            paid = paid || provider_is_paid(one->models[k]);
        if (paid)
            return json_fail(root, e, "%s costs money: say with `budget_usd` how much a night may",
                             one->name);
    }
    return 0;
}

static int read_entrants(const reading *r, const json_cursor *root, err *e)
{
    SCOPED(scoped_free) const char **models = NULL;
    SCOPED(scoped_free) char *file = NULL;
    size_t count = 0;
    if (take_list(root, "models", SETTINGS_ENTRANTS_MAX - 1, &models, &count, e) ||
        take_text(r, root, "entrants", TEXT_FILE, &file, e))
        return -1;
    SCOPED(scoped_free) const char **all = xcalloc(count + 1, sizeof *all);
    size_t first = has_gold(models, count) ? 0 : 1;
    all[0] = NIGHT_GOLD;
    for (size_t i = 0; i < count; i++)
        all[first + i] = models[i];
    const entrants_wanted wanted = {
        .models = all, .model_count = first + count, .file = file, .temperature = (double)NAN};
    json_cursor at = *root;
    err why = {0};
    if (entrants_make(&wanted, &r->out->run, &why) == 0)
        return 0;
    if (why.code == ERR_CONFIG) {
        *e = why; /* has a place in the entrants file already */
        return -1;
    }
    json_maybe(root, count ? "models" : "entrants", &at);
    return json_fail(&at, e, "%s", why.text);
}

static int read_gate(const reading *r, const json_cursor *root, err *e)
{
    json_cursor part;
    SCOPED(scoped_free) char *rules = NULL;
    r->out->window = WINDOW;
    r->out->rules = gate_defaults;
    r->out->confirm = true;
    if (!json_maybe(root, "gate", &part))
        return 0;
    if (json_only_keys(&part, of_gate, e) ||
        take_int(&part, "window", 1, NIGHT_WINDOW_MAX, &r->out->window, e) ||
        take_bool(&part, "confirm", &r->out->confirm, e) ||
        take_text(r, &part, "rules", TEXT_FILE, &rules, e))
        return -1;
    return rules ? rules_load(rules, &r->out->rules, e) : 0;
}

static int read_evidence(const reading *r, const json_cursor *root, err *e)
{
    json_cursor part;
    r->out->pack = true;
    if (!json_maybe(root, "evidence", &part))
        return 0;
    return json_only_keys(&part, of_evidence, e) || take_bool(&part, "pack", &r->out->pack, e) ||
                   take_text(r, &part, "sign", TEXT_FILE, &r->out->sign, e) ||
                   take_text(r, &part, "source", TEXT_FILE, &r->out->source, e)
               ? -1
               : 0;
}

static int read_keep(const reading *r, const json_cursor *root, err *e)
{
    json_cursor part;
    r->out->keep_nights = NIGHTS;
    r->out->keep_packs = PACKS;
    r->out->keep_db_mib = DB_MIB;
    if (!json_maybe(root, "keep", &part))
        return 0;
    return json_only_keys(&part, of_keep, e) ||
                   take_int(&part, "nights", 1, MANY, &r->out->keep_nights, e) ||
                   take_int(&part, "packs", 0, MANY, &r->out->keep_packs, e) ||
                   take_int(&part, "db_mib", 1, MANY, &r->out->keep_db_mib, e)
               ? -1
               : 0;
}

static int read_hook(const reading *r, const json_cursor *root, err *e)
{
    SCOPED(scoped_free) const char **words = NULL;
    size_t count = 0;
    if (take_list(root, "notify", HOOK_WORDS_MAX, &words, &count, e))
        return -1;
    if (!count)
        return 0;
    r->out->hook = xcalloc(count + 1, sizeof *r->out->hook);
    for (size_t i = 0; i < count; i++)
        r->out->hook[i] =
            i == 0 && strchr(words[0], '/') ? resolved(r, words[0]) : xstrdup(words[i]);
    return 0;
}

static int read_all(const reading *r, const json_cursor *root, err *e)
{
    settings *s = &r->out->run;
    if (json_only_keys(root, top, e) || read_name(root, r->out, e) || read_words(r, root, e) ||
        read_numbers(r, root, e) || take_names(root, "suites", &s->suites, &s->suite_count, e) ||
        take_names(root, "only", &s->only, &s->only_count, e) || read_gate(r, root, e) ||
        read_evidence(r, root, e) || read_keep(r, root, e) || read_hook(r, root, e))
        return -1;
    if (!s->suite_count)
        return json_fail(root, e, "`suites` is missing (ce-coord suite list names them)");
    if (!r->out->out)
        return json_fail(root, e, "`out` is missing: the folder for the nights' reports");
    return read_entrants(r, root, e) || check_money(root, s, e) ? -1 : 0;
}

static char *folder_of(const char *path, err *e)
{
    SCOPED(scoped_free) char *whole = realpath(path, NULL);
    if (!whole) {
        err_set(e, ERR_NOT_FOUND, "%s: there is no such file", path);
        return NULL;
    }
    char *slash = strrchr(whole, '/');
    return xstrndup(whole, slash == whole ? 1 : (size_t)(slash - whole));
}

night_config *night_config_load(const char *path, err *e)
{
    SCOPED(scoped_free) char *folder = folder_of(path, e);
    SCOPED(json_doc_destroy) json_doc *doc = folder ? yaml_load(path, e) : NULL;
    if (!doc)
        return NULL;
    SCOPED(night_config_destroy) night_config *self = xcalloc(1, sizeof *self);
    const reading r = {.out = self, .folder = folder};
    const json_cursor root = json_root(doc);
    self->path = xstrdup(path);
    return read_all(&r, &root, e) ? NULL : TAKE(self);
}

void night_config_destroy(night_config **self)
{
    night_config *c = *self;
    if (!c)
        return;
    char *const owned[] = {c->path, c->name, c->out, c->db, c->keys, c->sign, c->source};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(owned[i]);
    for (size_t i = 0; c->hook && c->hook[i]; i++)
        free(c->hook[i]);
    free(c->hook);
    settings_fini(&c->run);
    free(c);
    *self = NULL;
}
