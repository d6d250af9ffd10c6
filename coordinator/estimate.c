/* estimate - counting, pricing, printing, asking
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/estimate.h"

#include <math.h>
#include <string.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "providers/catalog.h"
#include "providers/price.h"

/* What the figures assume. Tokens of an answer count its reasoning; a call asks with the rules, the
 * problem, and what the stage has seen so far. */
enum {
    RULES_BYTES = 32 * 1024, /* at most: system text, plan grammar, device facts, schemas */
    LOG_BYTES = 32 * 1024,   /* at most: a compiler's log or a report, in a repair */
    RULES_TOKENS = 5000,
    BYTES_A_TOKEN = 4,
    ANSWER_LOW = 1000,
    ANSWER_EXPECTED = 6000,
    ANSWER_HIGH = 20000,
    BILLED_TWICE = 2
};

static const struct {
    double low, expected; /* calls of a stage; high and worst: its budget */
} habits[SPEC_STAGES] = {[STAGE_INTERVIEW] = {1, 1.1},
                         [STAGE_CODEGEN] = {1, 1.6},
                         [STAGE_CORRECTNESS] = {0, 0.7},
                         [STAGE_PERFORMANCE] = {0, 1.5},
                         [STAGE_POLISH] = {1, 1}};

static const char assumptions[] =
    "assumed: a stage needs 1.1, 1.6, 0.7, 1.5 and 1 calls (low: 1, 1, 0, 0, 1; high: its whole "
    "budget);\n"
    "  an answer, reasoning included, has 6000 tokens (low 1000, high 20000, never above the "
    "model's cap);\n"
    "  a question has 5000 tokens of rules and the problem's own text, in repairs also what came "
    "before;\n"
    "  nothing comes from a cache. worst case: every call of every budget, each at its whole "
    "output cap,\n"
    "  a token a byte of question at its dearest price, and each call billed twice.\n";

/* ---- one stage of one task ---- */
typedef struct question {
    const char *provider;
    char model[CATALOG_MODEL_MAX];
    int64_t output_max;
    int64_t bytes; /* of the problem */
    int64_t wall_ms;
} question;

static bool locate(const char *model_id, question *out)
{
    const char *model = NULL;
    catalog_address address;
    const catalog_entry *entry = catalog_split(model_id, &model, NULL);
    if (!entry || catalog_locate(model, &address, NULL))
        return false;
    const ability_row *family = ability_of(entry->name, address.model);
    out->provider = entry->name;
    out->output_max = family ? family->output_max : 0;
    memcpy(out->model, address.model, sizeof out->model);
    return true;
}

static bool has_price(const char *model_id, int64_t wall_ms)
{
    question q = {.wall_ms = wall_ms};
    price found;
    return locate(model_id, &q) && price_find(q.provider, q.model, wall_ms, 0, &found);
}

static double likely(const question *q, double calls, int64_t answer, int64_t earlier)
{
    answer = answer < q->output_max ? answer : q->output_max;
    const price_tokens used = {.in = RULES_TOKENS + q->bytes / BYTES_A_TOKEN + earlier,
                               .out = answer,
                               .cache_read = 0,
                               .cache_write = 0};
    return calls * price_of_call(q->provider, q->model, q->wall_ms, &used);
}

/* Call k of a stage carries the k answers before it, and a log for each. */
static double worst_call(const question *q, int64_t k)
{
    int64_t input = RULES_BYTES + q->bytes + (k + 1) * (q->output_max + LOG_BYTES);
    return BILLED_TWICE * price_worst(q->provider, q->model, q->wall_ms, input, q->output_max);
}

static double at_most(double calls, int64_t budget)
{
    return calls < (double)budget ? calls : (double)budget;
}

static void add_stage(estimate_usd *sum, const question *q, size_t stage, int64_t budget)
{
    double high = (double)budget;
    sum->low += likely(q, at_most(habits[stage].low, budget), ANSWER_LOW, 0);
    sum->expected +=
        likely(q, at_most(habits[stage].expected, budget), ANSWER_EXPECTED, ANSWER_EXPECTED / 2);
    sum->high += likely(q, high, ANSWER_HIGH, ANSWER_HIGH);
    for (int64_t k = 0; k < budget; k++)
        sum->worst += worst_call(q, k);
}

/* ---- an entrant ---- */
static int64_t bytes_of(const problem *p)
{
    return (int64_t)(strlen(p->prompt) +
                     2 * strlen(p->reference)); /* the contract is about as long */
}

/* The escalation is asked once in a stage, after its budget; nobody expects it to be. */
static void add_escalation(estimate_usd *sum, question *q, const settings_entrant *competitor,
                           stage_id stage)
{
    int64_t budget = competitor->budgets[stage];
    if (settings_calls(competitor, stage) == budget || !provider_is_paid(competitor->escalation) ||
        !locate(competitor->escalation, q))
        return;
    sum->high += likely(q, 1, ANSWER_HIGH, ANSWER_HIGH);
    sum->worst += worst_call(q, budget);
}

static estimate_usd stage_usd(const settings_entrant *competitor, stage_id stage, const problem *p,
                              int64_t wall_ms)
{
    estimate_usd sum = {0};
    question q = {.wall_ms = wall_ms, .bytes = bytes_of(p)};
    const char *model_id = competitor->models[stage];
    if (provider_is_paid(model_id) && locate(model_id, &q))
        add_stage(&sum, &q, stage, competitor->budgets[stage]);
    add_escalation(&sum, &q, competitor, stage);
    return sum;
}

static void add_usd(estimate_usd *to, const estimate_usd *one, double times)
{
    to->low += times * one->low;
    to->expected += times * one->expected;
    to->high += times * one->high;
    to->worst += times * one->worst;
}

/* The first model of an entrant that costs money and has no price; NULL: there is none. */
static const char *unpriced_of(const settings_entrant *competitor, int64_t wall_ms)
{
    for (size_t i = 0; i < SPEC_STAGES; i++) {
        const char *model_id = competitor->models[i];
        if (provider_is_paid(model_id) && !has_price(model_id, wall_ms))
            return model_id;
    }
    const char *last = competitor->escalation;
    return last && provider_is_paid(last) && !has_price(last, wall_ms) ? last : NULL;
}

static void count_calls(estimate_entrant *to, const settings_entrant *competitor)
{
    double expected = 0;
    bool dear = competitor->escalation && provider_is_paid(competitor->escalation);
    for (size_t i = 0; i < SPEC_STAGES; i++) {
        int64_t budget = competitor->budgets[i], calls = settings_calls(competitor, (stage_id)i);
        to->calls_max += calls;
        to->paid_max += provider_is_paid(competitor->models[i]) ? budget : 0;
        to->paid_max += dear ? calls - budget : 0;
        expected += at_most(habits[i].expected, budget);
    }
    to->calls_max *= to->tasks;
    to->paid_max *= to->tasks;
    to->calls_expected = (int64_t)ceil(expected * (double)to->tasks);
}

static estimate_entrant entrant_of(const settings *s, const selection *chosen, size_t entrant,
                                   int64_t wall_ms)
{
    const settings_entrant *competitor = &s->entrants[entrant];
    estimate_entrant self = {.tasks = (int64_t)chosen->count * s->samples,
                             .unpriced = unpriced_of(competitor, wall_ms)};
    count_calls(&self, competitor);
    for (size_t i = 0; i < chosen->count; i++) {
        for (size_t k = 0; k < SPEC_STAGES; k++) {
            estimate_usd one = stage_usd(competitor, (stage_id)k, chosen->problems[i], wall_ms);
            add_usd(&self.usd, &one, (double)s->samples);
        }
    }
    return self;
}

static void add_entrant(estimate_entrant *all, const estimate_entrant *one)
{
    all->tasks += one->tasks;
    all->calls_expected += one->calls_expected;
    all->calls_max += one->calls_max;
    all->paid_max += one->paid_max;
    add_usd(&all->usd, &one->usd, 1);
    all->unpriced = all->unpriced ? all->unpriced : one->unpriced;
}

estimate estimate_of(const settings *s, const selection *chosen, int64_t wall_ms)
{
    estimate self = {.contract_tasks = (int64_t)chosen->count};
    for (size_t i = 0; i < s->entrant_count && i < SETTINGS_ENTRANTS_MAX; i++) {
        self.entrants[i] = entrant_of(s, chosen, i, wall_ms);
        add_entrant(&self.all, &self.entrants[i]);
    }
    return self;
}

int estimate_check_budget(const settings *s, double budget_usd, int64_t wall_ms, err *e)
{
    for (size_t i = 0; budget_usd > 0 && i < s->entrant_count; i++) {
        const char *model_id = unpriced_of(&s->entrants[i], wall_ms);
        if (model_id)
            return err_set(e, ERR_USAGE,
                           "--budget-usd: no price is known for %s (providers/prices.json, %s), "
                           "so no budget can be kept: leave it out, or add a price",
                           model_id, price_as_of());
    }
    return 0;
}

/* ---- printing ---- */
static void print_usd(const estimate_entrant *e, FILE *out)
{
    if (e->unpriced)
        fprintf(out, "USD unknown: no price for %s (prices of %s)\n", e->unpriced, price_as_of());
    else
        fprintf(out, "USD low %.4f, expected %.4f, high %.4f, worst case %.4f\n", e->usd.low,
                e->usd.expected, e->usd.high, e->usd.worst);
}

void estimate_print(const estimate *self, const settings *s, const selection *chosen, FILE *out)
{
    fprintf(out, "suite %s %s; problems: %zu, entrants: %zu, samples: %lld\n", chosen->name,
            chosen->version, chosen->count, s->entrant_count, (long long)s->samples);
    fprintf(out, "contract tasks: %lld, then tasks of five stages: %lld\n",
            (long long)self->contract_tasks, (long long)self->all.tasks);
    fprintf(out, "model calls expected: %lld, at most: %lld, of them paid: %lld\n",
            (long long)self->all.calls_expected, (long long)self->all.calls_max,
            (long long)self->all.paid_max);
    print_usd(&self->all, out);
    for (size_t i = 0; i < s->entrant_count; i++) {
        const estimate_entrant *one = &self->entrants[i];
        fprintf(out, "  entrant %s: %lld tasks, %lld calls expected, %lld at most; ",
                s->entrants[i].name, (long long)one->tasks, (long long)one->calls_expected,
                (long long)one->calls_max);
        print_usd(one, out);
    }
    for (size_t i = 0; i < chosen->count; i++)
        fprintf(out, "  problem %s\n", chosen->problems[i]->id);
    if (self->all.paid_max)
        fputs(assumptions, out);
    if (s->budget_usd > 0)
        fprintf(out, "budget: USD %.4f%s\n", s->budget_usd,
                self->all.usd.worst > s->budget_usd
                    ? " (below the worst case: the run may end before its tasks do)"
                    : "");
}

static void set_entrant(json *to, const estimate_entrant *e)
{
    json_set_int(to, "tasks", e->tasks);
    json_set_int(to, "calls_expected", e->calls_expected);
    json_set_int(to, "calls_max", e->calls_max);
    json_set_int(to, "paid_calls_max", e->paid_max);
    json *usd = e->unpriced ? json_new_null() : json_new_object();
    if (!e->unpriced) {
        json_set_real(usd, "low", e->usd.low);
        json_set_real(usd, "expected", e->usd.expected);
        json_set_real(usd, "high", e->usd.high);
        json_set_real(usd, "worst_case", e->usd.worst);
    }
    json_set(to, "usd", &usd);
    json_set_str(to, "unpriced", e->unpriced);
}

json *estimate_json(const estimate *self, const settings *s, const selection *chosen)
{
    json *root = json_new_object();
    json_set_str(root, "suite", chosen->name);
    json_set_str(root, "suite_version", chosen->version);
    json *problems = json_new_array();
    for (size_t i = 0; i < chosen->count; i++) {
        json *id = json_new_str(chosen->problems[i]->id);
        json_append(problems, &id);
    }
    json *entrants = json_new_array();
    for (size_t i = 0; i < s->entrant_count; i++) {
        json *one = json_new_object();
        json_set_str(one, "name", s->entrants[i].name);
        set_entrant(one, &self->entrants[i]);
        json_append(entrants, &one);
    }
    json_set(root, "problems", &problems);
    json_set(root, "entrants", &entrants);
    json_set_int(root, "samples", s->samples);
    json_set_int(root, "contract_tasks", self->contract_tasks);
    set_entrant(root, &self->all);
    json_set_str(root, "prices_as_of", price_as_of());
    json_set_str(root, "assumptions", assumptions);
    json_set_real(root, "budget_usd", s->budget_usd > 0 ? s->budget_usd : (double)NAN);
    return root;
}

/* ---- asking ---- */
static void describe(const estimate *self, buf *out)
{
    buf_printf(out, "this run may make up to %lld paid model calls in %lld tasks, ",
               (long long)self->all.paid_max, (long long)self->all.tasks);
    if (self->all.unpriced)
        buf_printf(out, "and no price is known for %s", self->all.unpriced);
    else
        buf_printf(out, "about USD %.2f (%.2f to %.2f, at worst %.2f)", self->all.usd.expected,
                   self->all.usd.low, self->all.usd.high, self->all.usd.worst);
}

int estimate_confirm(const estimate *self, const estimate_ask *ask, bool *go, err *e)
{
    *go = true;
    if (self->all.paid_max == 0 || ask->yes)
        return 0;
    SCOPED(buf_fini) buf text;
    buf_init(&text, ERR_TEXT_MAX);
    describe(self, &text);
    if (!ask->terminal)
        return err_set(e, ERR_USAGE, "%s: say --yes to start it without a question",
                       buf_text(&text));
    fprintf(ask->out, "%s. Start it? [y/N] ", buf_text(&text));
    fflush(ask->out);
    char answer[16] = "";
    *go = fgets(answer, sizeof answer, ask->in) && (answer[0] == 'y' || answer[0] == 'Y');
    return 0;
}
