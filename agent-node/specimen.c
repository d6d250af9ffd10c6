/* specimen - see specimen.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/specimen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { REFERENCE_MAX = 4 * 1024 * 1024 };

static const char problem_name[] = "selftest_copy";
static const char plain_reference[] = "import torch\n\n\n"
                                      "def reference(x, e):\n"
                                      "    return x.clone()\n";

/* ---- honest kernels ---- */

static const char copies[] =
    "extern \"C\" __global__ void copy(const float4 *x, float4 *y, long long n)\n"
    "{\n"
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        y[i] = x[i];\n"
    "}\n"
    "extern \"C\" __global__ void copy_more(const float4 *x, float4 *y, const float4 *e, float4 "
    "*z,\n"
    "                                     long long n, long long m)\n"
    "{\n"
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        y[i] = x[i];\n"
    "    else if (i < n + m)\n"
    "        z[i - n] = e[i - n];\n"
    "}\n"
    "extern \"C\" __global__ void copy_kept(const float4 *x, float4 *y, long long n)\n"
    "{\n"
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "    unsigned long long keep;\n"
    "    float4 v;\n"
    "    asm volatile(\"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;\" : \"=l\"(keep));\n"
    "    if (i >= n)\n"
    "        return;\n"
    "    asm volatile(\"ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;\"\n"
    "                 : \"=f\"(v.x), \"=f\"(v.y), \"=f\"(v.z), \"=f\"(v.w)\n"
    "                 : \"l\"(x + i), \"l\"(keep));\n"
    "    y[i] = v;\n"
    "}\n";

const specimen specimen_copy = {
    .name = "selftest_copy",
    .why = "copies",
    .source = copies,
    .plan = "{\"kernels\": [{\"entry\": \"copy\", \"grid\": [\"ceil_div(n, 1024)\"], \"block\": "
            "[256], \"args\": [\"x\", \"y\", {\"i64\": \"n / 4\"}]}]}"};

const specimen specimen_twice = {
    .name = "selftest_copy",
    .why = "copies twice",
    .source = copies,
    .plan =
        "{\"kernels\": [{\"entry\": \"copy\", \"grid\": [\"ceil_div(n, 1024)\"], \"block\": "
        "[256], \"args\": [\"x\", \"y\", {\"i64\": \"n / 4\"}]}, {\"entry\": \"copy\", \"grid\": "
        "[\"ceil_div(n, 1024)\"], \"block\": [256], \"args\": [\"x\", \"y\", {\"i64\": \"n / "
        "4\"}]}]}"};

const specimen specimen_slower_3 = {
    .name = "selftest_slower_3",
    .why = "copies, and 3 % more",
    .source = copies,
    .plan = "{\"kernels\": [{\"entry\": \"copy_more\", \"grid\": [\"ceil_div(n / 4 + n / 400 * 3, "
            "256)\"], \"block\": [256], \"args\": [\"x\", \"y\", \"e\", \"z\", {\"i64\": \"n / "
            "4\"}, {\"i64\": \"n / 400 * 3\"}]}], \"scratch\": [{\"name\": \"z\", \"dtype\": "
            "\"f32\", \"count\": \"n / 100 * 3 + 4\", \"init\": \"none\"}]}"};

const specimen specimen_slower_10 = {
    .name = "selftest_slower_10",
    .why = "copies, and 10 % more",
    .source = copies,
    .plan = "{\"kernels\": [{\"entry\": \"copy_more\", \"grid\": [\"ceil_div(n / 4 + n / 40, "
            "256)\"], \"block\": [256], \"args\": [\"x\", \"y\", \"e\", \"z\", {\"i64\": \"n / "
            "4\"}, {\"i64\": \"n / 40\"}]}], \"scratch\": [{\"name\": \"z\", \"dtype\": "
            "\"f32\", \"count\": \"n / 10 + 4\", \"init\": \"none\"}]}"};

const specimen specimen_keeps_l2 = {
    .name = "selftest_keeps_l2",
    .why = "asks that what it reads stays in L2",
    .source = copies,
    .plan = "{\"kernels\": [{\"entry\": \"copy_kept\", \"grid\": [\"ceil_div(n, 1024)\"], "
            "\"block\": [256], \"args\": [\"x\", \"y\", {\"i64\": \"n / 4\"}]}]}"};

/* ---- kernels that cheat ---- */

#define CHEAT_PLAN                                                                               \
    "{\"kernels\": [{\"entry\": \"cheat\", \"grid\": [\"ceil_div(n, 256)\"], \"block\": [256], " \
    "\"args\": [\"x\", \"y\", {\"i64\": \"n\"}]}]}"
#define CHEAT_HEAD                                                                   \
    "extern \"C\" __global__ void cheat(const float *x, float *y, long long n)\n{\n" \
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"

const specimen specimen_cheats[] = {
    {.name = "selftest_noop",
     .why = "does nothing",
     .source = CHEAT_HEAD "}\n",
     .plan = CHEAT_PLAN,
     .must = {OUTCOME_WRONG, OUTCOME_UNINITIALISED, OUTCOME_NONDETERMINISTIC},
     .must_count = 3},
    {.name = "selftest_sleeper",
     .why = "sleeps instead of working",
     .source = CHEAT_HEAD "    for (;;)\n        __nanosleep(1000000);\n}\n",
     .plan = CHEAT_PLAN,
     .must = {OUTCOME_HUNG},
     .must_count = 1},
    {.name = "selftest_cached",
     .why = "skips the work when its output is filled",
     .source = CHEAT_HEAD "    if (i < n && !(y[i] > -1e30f && y[i] < 1e30f))\n"
                          "        y[i] = x[i];\n}\n",
     .plan = CHEAT_PLAN,
     .must = {OUTCOME_UNINITIALISED, OUTCOME_WRONG, OUTCOME_NONDETERMINISTIC},
     .must_count = 3},
    {.name = "selftest_counter",
     .why = "counts its calls and goes wrong after a thousand",
     .source = "__device__ unsigned calls;\n" CHEAT_HEAD
               "    if (i == 0)\n        atomicAdd(&calls, 1u);\n"
               "    if (i < n)\n        y[i] = calls < 1000u ? x[i] : 0.0f;\n}\n",
     .plan = CHEAT_PLAN,
     .must = {OUTCOME_REJECTED},
     .must_count = 1},
    {.name = "selftest_beyond",
     .why = "writes one element past the end",
     .source = CHEAT_HEAD "    if (i < n)\n        y[i] = x[i];\n"
                          "    if (i == 0)\n        y[n] = 1.0f;\n}\n",
     .plan = CHEAT_PLAN,
     .must = {OUTCOME_OUT_OF_BOUNDS},
     .must_count = 1},
    {.name = NULL},
};

/* ---- right kernels with a defect ---- */

/* What was seen decides something, however seldom: a load that decides nothing is none in the machine code. */
#define PLANTED(tool, does, defect, outcome)                                                   \
    {                                                                                          \
        .name = "planted_" tool, .why = does,                                                  \
        .source =                                                                              \
            "extern \"C\" __global__ void planted(const float *x, float *y, long long n)\n{\n" \
            "    __shared__ float s[256];\n"                                                   \
            "    long long i = blockIdx.x * 256LL + threadIdx.x;\n"                            \
            "    float seen = 0.0f;\n"                                                         \
            "    s[threadIdx.x] = (float)i;\n" defect "    if (i < n)\n"                       \
            "        y[i] = __float_as_uint(seen) == 0x7fa5c3e1u ? seen : x[i];\n}\n",         \
        .plan = PLANTED_PLAN, .must = {(outcome)}, .must_count = 1                             \
    }
#define PLANTED_PLAN                                                                               \
    "{\"kernels\": [{\"entry\": \"planted\", \"grid\": [\"ceil_div(n, 256)\"], \"block\": [256], " \
    "\"args\": [\"x\", \"y\", {\"i64\": \"n\"}]}]}"

const specimen specimen_planted[] = {
    PLANTED("memcheck", "reads one element past the end of its input",
            "    if (i == n - 1)\n        seen = x[n];\n", OUTCOME_OUT_OF_BOUNDS),
    PLANTED("initcheck", "reads its output before anybody wrote it",
            "    if (i < n)\n        seen = y[i];\n", OUTCOME_UNINITIALISED),
    PLANTED("racecheck", "reads what another warp writes, and waits for nobody",
            "    seen = s[(threadIdx.x + 128) % 256];\n", OUTCOME_RACE),
    PLANTED("synccheck", "half of a block waits at a barrier, and half does not",
            "    if (threadIdx.x < 128)\n        __syncthreads();\n"
            "    seen = s[threadIdx.x];\n",
            OUTCOME_RACE),
    {.name = NULL},
};

/* ---- the problem ---- */

static char *terms_text(int64_t n, int64_t ignored)
{
    return xasprintf("{\"benchmark\":{\"m\":%" PRId64 ",\"n\":%" PRId64 "},"
                     "\"dims\":[{\"max\":%" PRId64 ",\"min\":1,\"name\":\"n\"},"
                     "{\"max\":%" PRId64 ",\"min\":1,\"name\":\"m\"}],"
                     "\"inputs\":[{\"dtype\":\"f32\",\"name\":\"x\",\"shape\":[\"n\"]},"
                     "{\"dtype\":\"f32\",\"name\":\"e\",\"shape\":[\"m\"]}],\"order_free\":false,"
                     "\"outputs\":[{\"dtype\":\"f32\",\"name\":\"y\",\"shape\":[\"n\"]}],"
                     "\"problem\":\"%s\",\"reduction\":\"1\",\"scalars\":[],"
                     "\"shapes\":[{\"m\":%" PRId64 ",\"n\":%" PRId64 "}],\"values\":[\"normal\"]}",
                     ignored, n, n, ignored, problem_name, ignored, n);
}

/* Seeds of a self-test are nobody's to know. */
static int draw_seed(int64_t *out, err *e)
{
    uint64_t bits = 0;
    if (getrandom(&bits, sizeof(bits), 0) != (ssize_t)sizeof(bits)) {
        return err_set(e, ERR_SYSTEM, "no random numbers from the system");
    }
    *out = (int64_t)(bits >> 2);
    return 0;
}

int specimen_open(specimen_bench *self, const node_parts *node, const lane_facts *facts, int64_t n,
                  int64_t ignored, const char *reference, err *e)
{
    *self = (specimen_bench){.contract = terms_text(n, ignored),
                             .reference = xstrdup(reference != NULL ? reference : plain_reference)};
    self->spec = (task_spec){.problem = (char *)(uintptr_t)problem_name,
                             .contract = self->contract,
                             .reference_file = (char *)(uintptr_t) "selftest.py"};
    self->account =
        (ledger){.session = node->session, .blobs = node->blobs, .cancelled = &self->never};
    self->p = (pipeline){.node = node,
                         .ledger = &self->account,
                         .spec = &self->spec,
                         .reference = self->reference,
                         .facts = facts};
    self->p.terms = contract_parse(self->contract, strlen(self->contract), "selftest", e);
    return self->p.terms != NULL ? draw_seed(&self->spec.seed, e) : -1;
}

void specimen_close(specimen_bench *self)
{
    contract_destroy(&self->p.terms);
    free(self->contract);
    free(self->reference);
    self->contract = self->reference = NULL;
}

int specimen_build(const specimen_bench *self, const specimen *what, candidate **out, err *e)
{
    plan_fault fault = {0};
    SCOPED(candidate_destroy) candidate *c = xcalloc(1, sizeof(*c));
    c->source = xstrdup(what->source);
    c->plan_text = xstrdup(what->plan);
    c->alias = what->name;
    c->plan = plan_parse(c->plan_text, strlen(c->plan_text), self->p.terms, &fault);
    if (c->plan == NULL) {
        return err_set(e, ERR_INTERNAL, "%s: plan %s: %s", what->name, fault.pointer, fault.text);
    }
    if (ledger_put_text(&self->account, c->source, &c->source_hash, e) != 0 ||
        ledger_put_text(&self->account, c->plan_text, &c->plan_hash, e) != 0 ||
        candidate_compile(&self->p, c, true, &c->compiled, e) != 0) {
        return -1;
    }
    *out = TAKE(c);
    return 0;
}

/* ---- the same kernel on the judge's side ---- */

static const char reference_head[] = "import ctypes\n"
                                     "import torch\n\n"
                                     "CODE = bytes.fromhex(\"";

static const char reference_tail[] =
    "\")\n"
    "state = {}\n\n\n"
    "def kernel():\n"
    "    if not state:\n"
    "        state[\"cuda\"] = ctypes.CDLL(\"libcuda.so.1\")\n"
    "        module, function = ctypes.c_void_p(), ctypes.c_void_p()\n"
    "        done = state[\"cuda\"].cuModuleLoadData(ctypes.byref(module), CODE)\n"
    "        done = done or state[\"cuda\"].cuModuleGetFunction(ctypes.byref(function), module,"
    " b\"copy\")\n"
    "        if done:\n"
    "            raise RuntimeError(\"the driver does not load the copy: %d\" % done)\n"
    "        state[\"function\"] = function\n"
    "    return state[\"cuda\"], state[\"function\"]\n\n\n"
    "def reference(x, e):\n"
    "    if not x.is_cuda or x.dtype != torch.float32:\n"
    "        return x.clone()\n"
    "    y = torch.empty_like(x)\n"
    "    values = (ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()),"
    " ctypes.c_longlong(x.numel() // 4))\n"
    "    args = (ctypes.c_void_p * 3)(*[ctypes.addressof(v) for v in values])\n"
    "    cuda, function = kernel()\n"
    "    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)\n"
    "    done = cuda.cuLaunchKernel(function, (x.numel() + 1023) // 1024, 1, 1, 256, 1, 1, 0,"
    " stream, args, None)\n"
    "    if done:\n"
    "        raise RuntimeError(\"the driver does not launch the copy: %d\" % done)\n"
    "    return y\n";

char *specimen_reference(const candidate *copy)
{
    const message_bytes *code = &copy->compiled.cubin;
    buf text;
    buf_init(&text, REFERENCE_MAX);
    buf_puts(&text, reference_head);
    for (size_t i = 0; i < code->size; i++) {
        buf_printf(&text, "%02x", code->data[i]);
    }
    buf_puts(&text, reference_tail);
    return buf_take(&text);
}
