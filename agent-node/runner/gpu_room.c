/* gpu_room - see gpu_room.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/gpu_room.h"

#include <inttypes.h>
#include <stdio.h>

enum { WITHOUT_OPT_IN = 48 * 1024 }; /* of every CUDA device, static and dynamic of a block */

static int check(const cuda_api *api, CUresult code, err *e, const char *what)
{
    char text[ERR_TEXT_MAX];
    if (code == CUDA_SUCCESS)
        return 0;
    cuda_api_explain(api, code, text, sizeof text);
    return err_native(e, ERR_GPU, ERR_DOMAIN_CUDA, (int64_t)code, "%s: %s", what, text);
}

/* make_shared: the opt-in is for all that the device has, so that launches of one function with different
 * needs do not undo each other's. */
static int make_shared(const cuda_api *api, const gpu_facts *facts, CUfunction function,
                       const gpu_call *call, runner_verdict *out, err *e)
{
    char pointer[128];
    int fixed = 0;
    if (check(api, api->func_get(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function), e,
              "ask for a kernel's shared memory") < 0)
        return -1;
    const int64_t most = facts->shared_per_block - fixed;
    if (call->shared > most) {
        snprintf(pointer, sizeof pointer, "%s/shared", call->pointer);
        verdict_set(out, OUTCOME_PLAN_INVALID, pointer,
                    "%s: %u bytes of dynamic and %d of static shared memory; a block has %" PRId64,
                    pointer, call->shared, fixed, facts->shared_per_block);
        return 0;
    }
    if ((int64_t)call->shared + fixed <= WITHOUT_OPT_IN)
        return 0;
    return check(
        api,
        api->func_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)most),
        e, "opt a kernel in to more shared memory");
}

static int make_grid(const cuda_api *api, const gpu_facts *facts, CUfunction function,
                     const gpu_call *call, runner_verdict *out, err *e)
{
    char pointer[128];
    int each = 0;
    const uint64_t blocks = (uint64_t)call->grid[0] * call->grid[1] * call->grid[2];
    const int threads = (int)(call->block[0] * call->block[1] * call->block[2]);
    if (check(api, api->occupancy(&each, function, threads, call->shared), e,
              "ask how many blocks a multiprocessor holds") < 0)
        return -1;
    const uint64_t most = (uint64_t)each * (uint64_t)facts->sm_count;
    if (blocks <= most)
        return 0;
    snprintf(pointer, sizeof pointer, "%s/grid", call->pointer);
    verdict_set(out, OUTCOME_PLAN_INVALID, pointer,
                "%s: a cooperative launch of %" PRIu64 " blocks; the device holds %" PRIu64
                " of kernel %s at once (%d on each of %" PRId64 " multiprocessors)",
                pointer, blocks, most, call->entry, each, facts->sm_count);
    return 0;
}

int gpu_room_make(const cuda_api *api, const gpu_facts *facts, CUfunction function,
                  const gpu_call *call, runner_verdict *out, err *e)
{
    if (make_shared(api, facts, function, call, out, e) < 0)
        return -1;
    return verdict_is_ok(out) && call->cooperative ? make_grid(api, facts, function, call, out, e)
                                                   : 0;
}
