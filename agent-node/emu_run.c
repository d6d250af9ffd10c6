/* emu_run - see emu_run.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emu_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/judge.h"
#include "agent-node/modelled.h"
#include "agent-node/plain_values.h"
#include "agent-node/runner_proc.h"
#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/plan.h"

/* What the cases share. */
typedef struct bench {
    const emu_run_request *request;
    emu_run_result *out;
    judge *judge; /* NULL: plain values */
} bench;

static bool parse_plan(const emu_run_request *r, plan **steps, runner_verdict *out)
{
    plan_fault fault;
    *steps = plan_parse(r->plan, strlen(r->plan), r->problem->terms, &fault);
    if (*steps == NULL)
        verdict_set(out, OUTCOME_PLAN_INVALID, fault.pointer, "%s: %s", fault.pointer, fault.text);
    return *steps != NULL;
}

static int compile(const emu_run_request *r, const plan *steps, compile_pool *compiler,
                   emu_run_result *out, err *e)
{
    size_t count = 0;
    const char *const *entries = plan_entries(steps, &count);
    const compile_request request = {.arch = EMU_RUN_ARCH,
                                     .source = r->source,
                                     .entries = entries,
                                     .entry_count = count,
                                     .line_info = true};
    if (compile_pool_run(compiler, &request, &out->compiled, e) < 0)
        return -1;
    if (out->compiled.result != OUTCOME_OK)
        verdict_set(&out->verdict, out->compiled.result, out->compiled.detail, "%s",
                    out->compiled.text);
    return 0;
}

/* A judge that has the problem open; NULL with the reason in out where there is no PyTorch. */
static int open_judge(bench *b, err *e)
{
    err why = {0};
    const problem *p = b->request->problem;
    const judge_options options = {.python = b->request->python, .device = "cpu"};
    b->judge = judge_start(&options, &why);
    if (b->judge == NULL && why.code == ERR_UNAVAILABLE) {
        b->out->not_compared = xstrdup(why.text);
        return 0;
    }
    if (b->judge == NULL) {
        if (e != NULL)
            *e = why;
        return -1;
    }
    return judge_open(b->judge, p->terms, p->reference, "reference.py", e);
}

/* ---- one case ---- */

static int load(const bench *b, runner_proc *runner, runner_verdict *out, err *e)
{
    const compile_result *c = &b->out->compiled;
    SCOPED(scoped_free) char *terms = contract_text(b->request->problem->terms);
    const runner_candidate candidate = {.cubin = c->ptx.data,
                                        .cubin_size = c->ptx.size,
                                        .contract = terms,
                                        .plan = b->request->plan,
                                        .kernels = c->kernels,
                                        .kernel_count = c->kernel_count};
    return runner_proc_load(runner, &candidate, out, e);
}

static int compare(const bench *b, emu_case *one, int64_t salt, err *e)
{
    SCOPED(judge_comparison_fini) judge_comparison c = {0};
    if (judge_compare(b->judge, 0, salt, &c, e) < 0)
        return -1;
    one->comparison = TAKE(c.report_json);
    if (!c.equal)
        verdict_set(&one->verdict, OUTCOME_WRONG, c.detail, "%s", c.text);
    return 0;
}

/* Each case has a process of its own: after a finding there is nothing left to launch on. */
static int launch(const bench *b, emu_case *one, const judge_staging *staging, err *e)
{
    const runner_options options = {.device = "emu"};
    SCOPED(runner_proc_destroy) runner_proc *runner = runner_proc_start(&options, e);
    if (runner == NULL || load(b, runner, &one->verdict, e) < 0)
        return -1;
    if (!verdict_is_ok(&one->verdict))
        return 0;
    const emu_run_request *r = b->request;
    const runner_check check = {.terms = r->problem->terms,
                                .shape = r->shape,
                                .staging = staging,
                                .salt = r->seed,
                                .deadline_ms = EMU_RUN_DEADLINE_MS};
    if (runner_proc_check(runner, &check, &one->verdict, e) < 0)
        return -1;
    modelled_keep(&b->out->modelled, runner_proc_modelled(runner), r->problem->terms, r->shape);
    return verdict_is_ok(&one->verdict) && b->judge != NULL ? compare(b, one, r->seed, e) : 0;
}

static int judged_case(const bench *b, emu_case *one, err *e)
{
    SCOPED(judge_staging_fini) judge_staging staging = {0};
    const judge_draw_request draw = {
        .shape = b->request->shape, .seed = b->request->seed, .family = one->family, .slots = 1};
    return judge_draw(b->judge, &draw, &staging, e) < 0 ? -1 : launch(b, one, &staging, e);
}

static int plain_case(const bench *b, emu_case *one, err *e)
{
    const emu_run_request *r = b->request;
    SCOPED(plain_values_destroy)
    plain_values *values = plain_values_create(r->problem->terms, r->shape, r->seed, e);
    return values == NULL ? -1 : launch(b, one, plain_values_staging(values), e);
}

static int run_case(const bench *b, const char *family, err *e)
{
    emu_run_result *out = b->out;
    emu_case *one = &out->cases[out->case_count++];
    one->family = family;
    verdict_ok(&one->verdict);
    if ((b->judge != NULL ? judged_case(b, one, e) : plain_case(b, one, e)) < 0)
        return err_wrap(e, "%s values", family);
    if (verdict_is_ok(&out->verdict))
        out->verdict = one->verdict;
    return 0;
}

static int run_cases(const bench *b, err *e)
{
    const family_list *families = &b->request->problem->terms->families;
    if (b->judge == NULL)
        return run_case(b, "plain", e);
    if (b->request->family != NULL)
        return run_case(b, b->request->family, e);
    for (size_t i = 0; i < families->count; i++)
        if (run_case(b, families->names[i], e) < 0)
            return -1;
    return 0;
}

int emu_run(const emu_run_request *request, compile_pool *compiler, emu_run_result *out, err *e)
{
    bench b = {.request = request, .out = out};
    SCOPED(plan_destroy) plan *steps = NULL;
    *out = (emu_run_result){.case_count = 0};
    verdict_ok(&out->verdict);
    if (!parse_plan(request, &steps, &out->verdict))
        return 0;
    if (compile(request, steps, compiler, out, e) < 0)
        return -1;
    if (!verdict_is_ok(&out->verdict))
        return 0;
    int rc = open_judge(&b, e);
    if (rc == 0)
        rc = run_cases(&b, e);
    judge_destroy(&b.judge);
    return rc;
}

void emu_run_result_fini(emu_run_result *self)
{
    compile_result_fini(&self->compiled);
    for (size_t i = 0; i < self->case_count; i++)
        free(self->cases[i].comparison);
    free(self->not_compared);
    free(self->modelled);
    *self = (emu_run_result){.case_count = 0};
}

/* ---- what came of it ---- */

static json *parsed(const char *text)
{
    return text != NULL ? json_parse_tree(text, strlen(text), "result", NULL) : NULL;
}

static void say_verdict(const runner_verdict *v, const char *otherwise, buf *out)
{
    if (verdict_is_ok(v)) {
        buf_printf(out, "%s\n", otherwise);
        return;
    }
    buf_printf(out, "%s", outcome_name(v->result));
    if (v->detail[0] != '\0')
        buf_printf(out, "(%s)", v->detail);
    buf_printf(out, ": %s\n", v->text);
}

static void say_cases(const emu_run_result *r, buf *out)
{
    const char *fine = r->not_compared == NULL ? "ok, agrees with the reference"
                                               : "nothing found; outputs were not compared";
    for (size_t i = 0; i < r->case_count; i++) {
        buf_printf(out, "%-16s ", r->cases[i].family);
        say_verdict(&r->cases[i].verdict, fine, out);
    }
}

void emu_run_text(const emu_run_request *request, const emu_run_result *result, buf *out)
{
    const problem *p = request->problem;
    SCOPED(scoped_free) char *shape = contract_shape_label(p->terms, request->shape);
    buf_printf(out, "%s at %s, seed %" PRId64 "\n", p->id, shape, request->seed);
    if (result->case_count == 0) {
        say_verdict(&result->verdict, "", out);
        if (result->compiled.log != NULL && result->compiled.log[0] != '\0')
            buf_printf(out, "%s\n", result->compiled.log);
        return;
    }
    say_cases(result, out);
    if (result->not_compared != NULL)
        buf_printf(out, "not compared with the reference: %s\n", result->not_compared);
    SCOPED(json_destroy) json *counters = parsed(result->modelled);
    modelled_text(counters, out);
}

static void set_verdict(json *out, const runner_verdict *v)
{
    json_set_str(out, "outcome", outcome_name(v->result));
    json_set_str(out, "detail", v->detail[0] != '\0' ? v->detail : NULL);
    json_set_str(out, "text", v->text[0] != '\0' ? v->text : NULL);
}

static void set_parsed(json *out, const char *key, const char *text)
{
    json *tree = parsed(text);
    if (tree == NULL)
        tree = json_new_null();
    json_set(out, key, &tree);
}

static json *cases_json(const emu_run_result *r)
{
    json *list = json_new_array();
    for (size_t i = 0; i < r->case_count; i++) {
        json *one = json_new_object();
        json_set_str(one, "family", r->cases[i].family);
        set_verdict(one, &r->cases[i].verdict);
        set_parsed(one, "comparison", r->cases[i].comparison);
        json_append(list, &one);
    }
    return list;
}

json *emu_run_json(const emu_run_request *request, const emu_run_result *result)
{
    const problem *p = request->problem;
    json *out = json_new_object();
    json *shape = contract_shape_json(p->terms, request->shape), *cases = cases_json(result);
    json_set_str(out, "problem", p->id);
    json_set(out, "shape", &shape);
    json_set_int(out, "seed", request->seed);
    json_set_str(out, "device", "emu");
    set_verdict(out, &result->verdict);
    json_set_str(out, "log", result->compiled.log);
    json_set(out, "cases", &cases);
    json_set_bool(out, "compared", result->case_count > 0 && result->not_compared == NULL);
    json_set_str(out, "not_compared", result->not_compared);
    set_parsed(out, "modelled", result->modelled);
    return out;
}
