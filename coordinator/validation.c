/* validation - stored tasks into verdicts, verdicts into text
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/validation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/docket.h"
#include "reports/text.h"
#include "store/artifact.h"
#include "store/run.h"
#include "store/task.h"
#include "wire/spec.h"

enum { SPEC_MAX = 4 * 1024 * 1024, CELL_MAX = 256 };
static const double floor_share = 0.95; /* a gold kernel below this share of the floor cannot be */

/* A kernel's task. */
typedef struct kernel {
    const task_row *task; /* of the list */
    docket_record must;
    bool gold, fits;
} kernel;

typedef struct verdict {
    const char *problem;
    const task_row *check; /* the problem's own task */
    json_doc *checks;      /* what it said, or NULL */
    size_t first, count;   /* its kernels */
    size_t gold, gold_fits, wrong, wrong_fits, blind;
    bool floor_holds; /* gold is not faster than the memory allows */
    bool passed;
} verdict;

struct validation {
    run_row run;
    problem_list problems;
    task_list tasks;
    entrant_list entrants;
    kernel *kernels;
    size_t kernel_count;
    verdict *verdicts;
    const char *id; /* while reading */
};

void validation_destroy(validation **self)
{
    if (!*self)
        return;
    validation *v = *self;
    for (size_t i = 0; i < v->kernel_count; i++)
        docket_record_fini(&v->kernels[i].must);
    for (size_t i = 0; v->verdicts && i < v->problems.count; i++)
        json_doc_destroy(&v->verdicts[i].checks);
    free(v->kernels);
    free(v->verdicts);
    entrant_list_fini(&v->entrants);
    task_list_fini(&v->tasks);
    problem_list_fini(&v->problems);
    run_row_fini(&v->run);
    free(v);
    *self = NULL;
}

/* ---- reading ---- */

static bool is_check(const task_row *task)
{
    return strcmp(task->kind, "contract") == 0;
}

static bool fits(const kernel *k)
{
    const result_row *r = &k->task->outcome;
    return k->task->state == TASK_DONE &&
           mutant_expects(docket_expectation(&k->must, r->device_kind), r->result, r->detail);
}

static int read_kernel(store_tx *tx, validation *self, const task_row *task, err *e)
{
    SCOPED(task_spec_fini) task_spec spec = {0};
    SCOPED(buf_fini) buf text;
    buf_init(&text, SPEC_MAX);
    if (artifact_get(tx, &task->spec, &text, e) ||
        task_spec_read(buf_text(&text), text.size, &spec, e))
        return err_wrap(e, "task %s", task->id);
    if (!spec.trial)
        return err_set(e, ERR_CONFIG, "run %s is no validation", self->id);
    kernel *k = &self->kernels[self->kernel_count];
    if (docket_read(spec.trial, &k->must, e))
        return err_wrap(e, "task %s", task->id);
    k->task = task;
    k->gold = task->entrant == self->entrants.rows[DOCKET_GOLD].id;
    k->fits = fits(k);
    self->kernel_count++;
    return 0;
}

static int read_kernels(store_tx *tx, validation *self, err *e)
{
    self->kernels = xcalloc(self->tasks.count + 1, sizeof *self->kernels);
    if (self->entrants.count != DOCKET_ENTRANTS)
        return err_set(e, ERR_CONFIG, "run %s is no validation", self->id);
    for (size_t p = 0; p < self->problems.count; p++) {
        for (size_t i = 0; i < self->tasks.count; i++) {
            const task_row *task = &self->tasks.rows[i];
            if (!is_check(task) && strcmp(task->problem, self->problems.rows[p].id) == 0 &&
                read_kernel(tx, self, task, e))
                return -1;
        }
    }
    return 0;
}

static int read_job(store_tx *tx, void *arg, err *e)
{
    validation *self = arg;
    return run_find(tx, self->id, &self->run, e) ||
                   problem_list_read(tx, self->run.id, &self->problems, e) ||
                   entrant_list_read(tx, self->run.id, &self->entrants, e) ||
                   task_list_read(tx, self->run.id, NULL, &self->tasks, e) ||
                   read_kernels(tx, self, e)
               ? -1
               : 0;
}

/* ---- judging ---- */

static void find_check(const validation *self, verdict *v)
{
    for (size_t i = 0; i < self->tasks.count; i++) {
        const task_row *task = &self->tasks.rows[i];
        if (is_check(task) && strcmp(task->problem, v->problem) == 0)
            v->check = task;
    }
    const char *text = v->check && v->check->state == TASK_DONE ? v->check->outcome.text : NULL;
    v->checks = text ? json_parse(text, strlen(text), "checks", NULL) : NULL;
}

static const json *check_rows(const verdict *v)
{
    return v->checks ? json_get(json_doc_root(v->checks), "checks") : NULL;
}

static double floor_ms(const verdict *v)
{
    const json *rows = check_rows(v);
    for (size_t i = 0; i < json_size(rows); i++) {
        if (strcmp(json_str(json_get(json_at(rows, i), "name"), ""), "floor") == 0)
            return json_real(json_get(json_at(rows, i), "ms"), (double)NAN);
    }
    return (double)NAN;
}

static void count_kernels(const validation *self, verdict *v)
{
    double floor = floor_ms(v);
    v->floor_holds = true;
    for (size_t i = 0; i < self->kernel_count; i++) {
        const kernel *k = &self->kernels[i];
        if (strcmp(k->task->problem, v->problem) != 0)
            continue;
        v->first = v->count++ ? v->first : i;
        *(k->gold ? &v->gold : &v->wrong) += 1;
        *(k->gold ? &v->gold_fits : &v->wrong_fits) += k->fits;
        bool emulated =
            k->task->outcome.device_kind && strcmp(k->task->outcome.device_kind, "emu") == 0;
        v->blind += k->must.emu_blind && emulated;
        if (k->gold && k->task->outcome.candidate_ms < floor * floor_share)
            v->floor_holds = false;
    }
}

static bool is_adversarial(const validation *self)
{
    return strcmp(self->entrants.rows[DOCKET_KERNEL].name, "adversarial") == 0;
}

static void judge_problem(const validation *self, verdict *v)
{
    find_check(self, v);
    count_kernels(self, v);
    bool checked =
        v->check && v->check->state == TASK_DONE && v->check->outcome.result == OUTCOME_OK;
    bool enough = is_adversarial(self) || (v->wrong >= VALIDATION_MUTANTS_MIN && v->gold == 1);
    v->passed =
        checked && enough && v->floor_holds && v->gold_fits == v->gold && v->wrong_fits == v->wrong;
}

validation *validation_read(store *s, const char *run, err *e)
{
    SCOPED(validation_destroy) validation *self = xcalloc(1, sizeof *self);
    self->id = run;
    if (store_run(s, read_job, self, e))
        return NULL;
    self->verdicts = xcalloc(self->problems.count + 1, sizeof *self->verdicts);
    for (size_t i = 0; i < self->problems.count; i++) {
        self->verdicts[i].problem = self->problems.rows[i].id;
        judge_problem(self, &self->verdicts[i]);
    }
    return TAKE(self);
}

static bool problem_failed(const validation *self, const char *id)
{
    for (size_t i = 0; i < self->problems.count; i++) {
        const verdict *v = &self->verdicts[i];
        if (strcmp(v->problem, id) == 0)
            return v->check && v->check->state == TASK_DONE &&
                   v->check->outcome.result != OUTCOME_OK;
    }
    return false;
}

bool validation_ended(const validation *self)
{
    for (size_t i = 0; i < self->tasks.count; i++) {
        const task_row *task = &self->tasks.rows[i];
        if (task->state != TASK_DONE &&
            !(task->state == TASK_FAILED && problem_failed(self, task->problem)))
            return false;
    }
    return true;
}

bool validation_passed(const validation *self)
{
    for (size_t i = 0; i < self->problems.count; i++) {
        if (!self->verdicts[i].passed)
            return false;
    }
    return true;
}

/* ---- sums ---- */

typedef struct sums {
    size_t passed, gold, gold_fits, wrong, wrong_fits, blind;
} sums;

static sums sum_up(const validation *self)
{
    sums all = {0};
    for (size_t i = 0; i < self->problems.count; i++) {
        const verdict *v = &self->verdicts[i];
        all.passed += v->passed;
        all.gold += v->gold;
        all.gold_fits += v->gold_fits;
        all.wrong += v->wrong;
        all.wrong_fits += v->wrong_fits;
        all.blind += v->blind;
    }
    return all;
}

/* The first thing that a result was got on. */
static const result_row *made_on(const validation *self)
{
    for (size_t i = 0; i < self->kernel_count; i++) {
        const result_row *r = &self->kernels[i].task->outcome;
        if (r->device_kind && r->correct_protocol)
            return r;
    }
    return NULL;
}

/* ---- text ---- */

/* What the problem's own task said: "ok", or the checks that say no. */
static void add_check(buf *out, const verdict *v)
{
    if (!v->check || v->check->state != TASK_DONE) {
        buf_puts(out, v->check && v->check->error ? v->check->error : "not run");
        return;
    }
    if (v->check->outcome.result == OUTCOME_OK) {
        buf_puts(out, "ok");
        return;
    }
    const json *rows = check_rows(v);
    if (!rows)
        buf_puts(out, v->check->outcome.text ? v->check->outcome.text : "failed");
    for (size_t i = 0, said = 0; i < json_size(rows); i++) {
        const json *row = json_at(rows, i);
        if (!json_bool(json_get(row, "ok"), false))
            buf_printf(out, "%s%s: %s", said++ ? "; " : "", json_str(json_get(row, "name"), ""),
                       json_str(json_get(row, "text"), ""));
    }
}

static void add_complaints(const validation *self, const verdict *v, buf *out)
{
    if (!v->floor_holds)
        buf_puts(out,
                 "    gold is faster than the memory allows: the floor or the timing is wrong\n");
    if (!is_adversarial(self) && v->gold == 0)
        buf_puts(out, "    there is no gold kernel\n");
    if (!is_adversarial(self) && v->wrong < VALIDATION_MUTANTS_MIN)
        buf_printf(out, "    %zu mutants, at least %d are wanted\n", v->wrong,
                   VALIDATION_MUTANTS_MIN);
    for (size_t i = v->first; i < v->first + v->count; i++) {
        const kernel *k = &self->kernels[i];
        if (k->fits)
            continue;
        SCOPED(scoped_free)
        char *must = docket_expect_text(docket_expectation(&k->must, k->task->outcome.device_kind));
        buf_printf(out, "    %s must be %s and is ", k->must.name, must);
        text_result(out, k->task->state, k->task->outcome.result, k->task->outcome.detail);
        buf_printf(out, "%s%s\n", k->task->outcome.text ? ": " : "",
                   k->task->outcome.text ? k->task->outcome.text : "");
    }
}

static void add_heading(const validation *self, buf *out)
{
    sums all = sum_up(self);
    const char *noun = is_adversarial(self) ? "adversarial kernels" : "mutants";
    buf_printf(out, "%zu of %zu problems %s; %s as stated: %zu of %zu", all.passed,
               self->problems.count, is_adversarial(self) ? "as stated" : "admitted", noun,
               all.wrong_fits, all.wrong);
    if (all.blind)
        buf_printf(out, " (%zu of them not detectable on the emulator)", all.blind);
    buf_printf(out, "; gold correct: %zu of %zu", all.gold_fits, all.gold);
}

void validation_summary(const validation *self, buf *out)
{
    for (size_t i = 0; i < self->problems.count; i++) {
        const verdict *v = &self->verdicts[i];
        buf_printf(out, "%-3s %-28s gold %zu/%zu, kernels as stated %zu/%zu, reference ",
                   v->passed ? "ok" : "NO", v->problem, v->gold_fits, v->gold, v->wrong_fits,
                   v->wrong);
        add_check(out, v);
        buf_puts(out, "\n");
        add_complaints(self, v, out);
    }
    add_heading(self, out);
    buf_puts(out, "\n");
}

/* ---- Markdown ---- */

static void add_facts(const validation *self, buf *out)
{
    char hex[HASH_HEX];
    const result_row *on = made_on(self);
    hash_hex(&self->run.suite_hash, hex);
    buf_printf(out, "Suite %s %s, hash %s. ", self->run.suite, self->run.suite_version, hex);
    buf_printf(out, "On %s (%s), driver %s, %s, seed %lld; ce %s. Run %s, state %s.\n\n",
               on && on->device ? on->device : "no device", on ? on->device_kind : "none",
               on && on->driver ? on->driver : "none",
               on && on->correct_protocol ? on->correct_protocol : self->run.correct_protocol,
               (long long)self->run.seed, self->run.version, self->run.id,
               run_state_name(self->run.state));
}

static void add_verdicts(const validation *self, buf *out)
{
    buf_puts(out, "| problem | reference | gold | kernels as stated | all as stated |\n"
                  "|---|---|---|---|---|\n");
    for (size_t i = 0; i < self->problems.count; i++) {
        const verdict *v = &self->verdicts[i];
        SCOPED(buf_fini) buf said;
        buf_init(&said, VALIDATION_TEXT_MAX);
        add_check(&said, v);
        buf_printf(out, "| %s | ", v->problem);
        text_cell(out, buf_text(&said));
        buf_printf(out, " | %zu/%zu | %zu/%zu | %s |\n", v->gold_fits, v->gold, v->wrong_fits,
                   v->wrong, v->passed ? "yes" : "**NO**");
    }
}

static void add_kernel(const kernel *k, buf *out)
{
    const result_row *r = &k->task->outcome;
    SCOPED(scoped_free)
    char *must = docket_expect_text(docket_expectation(&k->must, r->device_kind));
    buf_printf(out, "| %s | %s | %s | ", k->task->problem, k->must.name, must);
    text_result(out, k->task->state, k->task->outcome.result, k->task->outcome.detail);
    buf_printf(out, " | %s | ", k->fits ? "yes" : "**NO**");
    text_cell(out, k->must.why ? k->must.why : "");
    buf_puts(out, " | ");
    text_cell(out, r->text ? r->text : k->task->error ? k->task->error : "");
    buf_puts(out, " |\n");
}

void validation_markdown(const validation *self, buf *out)
{
    buf_printf(out, "# %s of suite %s\n\n",
               is_adversarial(self) ? "Adversarial kernels" : "Validation", self->run.suite);
    add_facts(self, out);
    buf_puts(out, "**");
    add_heading(self, out);
    buf_puts(out, ".**\n\n");
    add_verdicts(self, out);
    buf_puts(out,
             "\n## Kill matrix\n\n"
             "| problem | kernel | must be | was | as stated | what is wrong with it | what was "
             "said |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < self->kernel_count; i++)
        add_kernel(&self->kernels[i], out);
}

/* ---- JSON ---- */

static json *kernel_json(const kernel *k)
{
    const result_row *r = &k->task->outcome;
    SCOPED(scoped_free)
    char *must = docket_expect_text(docket_expectation(&k->must, r->device_kind));
    json *row = json_new_object();
    json_set_str(row, "name", k->must.name);
    json_set_bool(row, "gold", k->gold);
    json_set_str(row, "must", must);
    json_set_str(row, "outcome", k->task->state == TASK_DONE ? outcome_name(r->result) : NULL);
    json_set_str(row, "detail", r->detail);
    json_set_bool(row, "as_stated", k->fits);
    json_set_str(row, "text", r->text ? r->text : k->task->error);
    return row;
}

static json *verdict_json(const validation *self, const verdict *v)
{
    json *row = json_new_object(), *kernels = json_new_array();
    const json *rows = check_rows(v);
    json *checks = rows ? json_copy(rows) : json_new_array();
    SCOPED(buf_fini) buf said;
    buf_init(&said, VALIDATION_TEXT_MAX);
    add_check(&said, v);
    for (size_t i = v->first; i < v->first + v->count; i++) {
        json *one = kernel_json(&self->kernels[i]);
        json_append(kernels, &one);
    }
    json_set_str(row, "id", v->problem);
    json_set_bool(row, "passed", v->passed);
    json_set_str(row, "reference", buf_text(&said));
    json_set(row, "checks", &checks);
    json_set(row, "kernels", &kernels);
    return row;
}

json *validation_json(const validation *self)
{
    char hex[HASH_HEX];
    const result_row *on = made_on(self);
    json *root = json_new_object(), *problems = json_new_array();
    hash_hex(&self->run.suite_hash, hex);
    json_set_str(root, "run", self->run.id);
    json_set_str(root, "suite", self->run.suite);
    json_set_str(root, "suite_hash", hex);
    json_set_str(root, "kernels", self->entrants.rows[DOCKET_KERNEL].name);
    json_set_str(root, "device", on ? on->device : NULL);
    json_set_str(root, "device_kind", on ? on->device_kind : NULL);
    json_set_str(root, "protocol", on ? on->correct_protocol : NULL);
    json_set_bool(root, "passed", validation_passed(self));
    for (size_t i = 0; i < self->problems.count; i++) {
        json *row = verdict_json(self, &self->verdicts[i]);
        json_append(problems, &row);
    }
    json_set(root, "problems", &problems);
    return root;
}
