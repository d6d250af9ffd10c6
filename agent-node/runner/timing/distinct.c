/* distinct - see distinct.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/timing/distinct.h"

#include <stdlib.h>

enum { SLOTS_MAX = 65 };

static uint64_t mix(uint64_t sum, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ p[i]) * 0x100000001B3u; /* FNV-1a */
    return sum;
}

/* kernel_sum adds a kernel node's arguments to the sum; false when they cannot be seen. */
static bool kernel_sum(const cuda_api *api, CUgraphNode node, uint64_t *sum)
{
    CUDA_KERNEL_NODE_PARAMS p = {0};
    size_t offset = 0;
    size_t size = 0;
    if (api->kernel_params(node, &p) != CUDA_SUCCESS || p.func == NULL || p.kernelParams == NULL)
        return false;
    for (size_t i = 0; api->func_param_info(p.func, i, &offset, &size) == CUDA_SUCCESS; i++)
        *sum = mix(*sum, p.kernelParams[i], size);
    return true;
}

/* nodes_sum is the sum over the kernels among the nodes. */
static uint64_t nodes_sum(const cuda_api *api, const CUgraphNode *nodes, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
        if (api->node_type(nodes[i], &type) != CUDA_SUCCESS)
            return 0;
        if (type == CU_GRAPH_NODE_TYPE_KERNEL && !kernel_sum(api, nodes[i], &sum))
            return 0;
    }
    return sum;
}

/* graph_sum is the sum over a graph's kernels; 0: there is none, or one that cannot be seen. */
static uint64_t graph_sum(const cuda_api *api, void *graph)
{
    size_t count = 0;
    if (api->graph_nodes(graph, NULL, &count) != CUDA_SUCCESS || count == 0)
        return 0;
    CUgraphNode *nodes = calloc(count, sizeof(CUgraphNode));
    uint64_t sum = 0;
    if (nodes != NULL && api->graph_nodes(graph, nodes, &count) == CUDA_SUCCESS)
        sum = nodes_sum(api, nodes, count);
    free(nodes);
    return sum;
}

bool distinct_slots(const cuda_api *api, void *const *graphs, uint32_t count, uint32_t *one,
                    uint32_t *other)
{
    uint64_t sums[SLOTS_MAX];
    if (api->func_param_info == NULL)
        return true;
    for (uint32_t k = 0; k < count && k < SLOTS_MAX; k++) {
        sums[k] = graph_sum(api, graphs[k]);
        for (uint32_t i = 0; i < k; i++) {
            if (sums[k] != 0 && sums[i] == sums[k]) {
                *one = i;
                *other = k;
                return false;
            }
        }
    }
    return true;
}
