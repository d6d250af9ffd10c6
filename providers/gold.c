/* gold - the suite's own kernels as an entrant
 *
 * The KernelSpec it gives is the contract's own names and shapes; the candidate is gold.cu and
 * gold.json inside the fences that every model must use, with prose around them.
 *
 * SPDX-License-Identifier: MIT */
#include "providers/gold.h"

#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"

static json *spec_tensors(const json *tensors)
{
    json *out = json_new_array();
    for (size_t i = 0; i < json_size(tensors); i++) {
        json *tensor = json_copy(json_at(tensors, i));
        json_append(out, &tensor);
    }
    return out;
}

static json *spec_of(const json *contract)
{
    json *spec = json_new_object();
    json *inputs = spec_tensors(json_get(contract, "inputs"));
    json *outputs = spec_tensors(json_get(contract, "outputs"));
    json *hazards = json_new_array();
    json_set_str(spec, "name", json_str(json_get(contract, "problem"), ""));
    json_set_str(spec, "semantics", "as the reference computes it");
    json_set(spec, "inputs", &inputs);
    json_set(spec, "outputs", &outputs);
    json_set(spec, "hazards", &hazards);
    json_set_str(spec, "plan_of_attack", "the suite's own kernel");
    return spec;
}

static int answer_spec(const provider_request *request, provider_answer *out, err *e)
{
    const char *text = request->material->contract;
    SCOPED(json_doc_destroy) json_doc *doc = json_parse(text, strlen(text), "contract", e);
    if (doc == NULL) {
        return -1;
    }
    SCOPED(json_destroy) json *spec = spec_of(json_doc_root(doc));
    SCOPED(scoped_free) char *dump = json_dump_pretty(spec);
    out->text = xasprintf("The specification follows from the contract.\n\n```json\n%s```\n", dump);
    return 0;
}

static void answer_kernel(const provider_request *request, provider_answer *out)
{
    out->text = xasprintf("The suite's own kernel.\n\n```cuda\n%s\n```\n\nand its launch plan:\n\n"
                          "```json\n%s\n```\n",
                          request->material->gold_source, request->material->gold_plan);
}

static bool is_repair(const char *stage)
{
    return strcmp(stage, "correctness") == 0 || strcmp(stage, "performance") == 0;
}

int gold_answer(void *state, const provider_request *request, provider_answer *out, err *e)
{
    (void)state;
    out->cost_usd = 0.0;
    out->tokens_in = 0;
    out->tokens_out = 0;
    if (strcmp(request->stage, "interview") == 0) {
        return answer_spec(request, out, e);
    }
    if (request->index > 0 || is_repair(request->stage)) {
        out->stop = PROVIDER_STOP_EXHAUSTED;
        out->text = xstrdup("");
        return 0;
    }
    if (request->material->gold_source == NULL || request->material->gold_plan == NULL) {
        out->stop = PROVIDER_STOP_REFUSED;
        out->text = xstrdup("This problem has no gold kernel.");
        return 0;
    }
    answer_kernel(request, out);
    return 0;
}

const provider_ops gold_ops = {.name = "gold", .answer = gold_answer};
