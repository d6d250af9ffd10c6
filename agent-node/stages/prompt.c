/* prompt - what a model is asked at each stage
 *
 * The rules and the plan grammar are suites/plan_guide.md, the text that people read too.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/stages/prompt.h"

#include <inttypes.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"

extern const unsigned char plan_guide_text[]; /* suites/plan_guide.md, embedded by CMake */

enum { PROMPT_MAX = 4 * 1024 * 1024 };

char *prompt_system(void)
{
    return xasprintf("You write CUDA kernels that are exact first and fast second.\n\n%s",
                     (const char *)plan_guide_text);
}

char *prompt_interview_system(void)
{
    return xstrdup(
        "You are asked what a CUDA kernel must do before it is written. Answer with one ```json "
        "block, an object with exactly these members:\n"
        "  name: string\n"
        "  semantics: string, what each output element is\n"
        "  inputs, outputs: arrays of {name, dtype, shape}; shape is an array of dim names or "
        "numbers as text\n"
        "  hazards: array of strings, numeric and indexing hazards\n"
        "  plan_of_attack: string, how the work is divided over blocks and threads\n");
}

static void add_device(buf *out, const lane_facts *facts)
{
    buf_printf(out,
               "## Device\n%s, compile target %s, %" PRId64 " multiprocessors, %" PRId64
               " bytes of shared memory per block (static and dynamic, opt-in included)",
               facts->name[0] != '\0' ? facts->name : "a GPU", facts->arch, facts->limits.sm_count,
               facts->limits.shared_per_block_max);
    if (facts->l2_bytes > 0) {
        buf_printf(out, ", %" PRId64 " bytes of L2", facts->l2_bytes);
    }
    buf_puts(out, ".\n");
}

char *prompt_problem(const pipeline *p)
{
    SCOPED(buf_fini) buf out;
    SCOPED(json_destroy) json *terms = contract_told_json(p->terms);
    SCOPED(scoped_free) char *dump = json_dump_pretty(terms);
    buf_init(&out, PROMPT_MAX);
    buf_printf(&out, "## Task\n%s\n\n## Contract\n```json\n%s```\n\n", p->prompt, dump);
    buf_printf(&out, "## Reference\n```python\n%s\n```\n\n", p->reference);
    add_device(&out, p->facts);
    if (p->kernel_spec != NULL) {
        buf_printf(&out, "\n## Specification you gave\n```json\n%s\n```\n", p->kernel_spec);
    }
    return buf_take(&out);
}

char *prompt_candidate(const pipeline *p, const candidate *c, const char *finding)
{
    SCOPED(scoped_free) char *problem = prompt_problem(p);
    return xasprintf("%s\n## The candidate so far\n```cuda\n%s\n```\n\n```json\n%s\n```\n\n"
                     "## Finding\n%s\n\nAnswer with the whole corrected candidate.",
                     problem, c->source, c->plan_text, finding);
}

char *prompt_polish(const pipeline *p, const candidate *c)
{
    SCOPED(scoped_free) char *problem = prompt_problem(p);
    return xasprintf("%s\n## The verified kernel\n```cuda\n%s\n```\n\n```json\n%s\n```\n\n"
                     "Make it pleasant to read: comments that say why, clear names of local "
                     "variables. Change nothing that changes the machine code, keep every entry "
                     "name and the launch plan. Answer with the whole candidate.",
                     problem, c->source, c->plan_text);
}
