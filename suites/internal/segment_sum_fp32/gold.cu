// Sums of the segments of a vector, fp32, without reading the segment ids from end to end. `prepare` finds
// where each segment starts by binary search, and adds up those chunks of 4,096 elements that lie within one
// segment. `sum_segments` then adds, eight lanes a segment, the elements in front of the first whole chunk,
// the chunks' sums, and the elements behind the last: short segments are read directly and long ones are
// spread over the device. Orders are fixed, so that equal inputs give equal bits.
// SPDX-License-Identifier: MIT
namespace {
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int CHUNK = 4096;
constexpr int LANES = 8; // a segment

// The number of ids below `segment`.
__device__ __forceinline__ int lower_bound(const long long *ids, int n, int segment)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (ids[middle] < segment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The sum of a whole chunk, in every thread.
__device__ __forceinline__ float chunk_sum(const float *x)
{
    __shared__ float parts[WARPS];
    const float4 *from = reinterpret_cast<const float4 *>(x);
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < CHUNK / 4 / THREADS; k++) {
        const float4 v = from[k * THREADS + threadIdx.x];
        sum += (v.x + v.y) + (v.z + v.w);
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < WARPS; i++)
        total += parts[i];
    return total;
}

// The sum of elements from + lane, from + lane + 8, … below `to`.
__device__ __forceinline__ float lane_sum(const float *x, int from, int to, int lane)
{
    float sum = 0.0f;
#pragma unroll 4
    for (int i = from + lane; i < to; i += LANES)
        sum += x[i];
    return sum;
}
} // namespace

extern "C" __global__ void __launch_bounds__(THREADS)
    prepare(const float *__restrict__ x, const long long *__restrict__ ids,
            int *__restrict__ starts, float *__restrict__ chunks, int n, int segments)
{
    const long long segment = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (segment <= segments)
        starts[segment] = lower_bound(ids, n, (int)segment);
    const long long first = (long long)blockIdx.x * CHUNK;
    if (first + CHUNK > n || ids[first] != ids[first + CHUNK - 1])
        return;
    const float total = chunk_sum(x + first);
    if (threadIdx.x == 0)
        chunks[blockIdx.x] = total;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sum_segments(const float *__restrict__ x, const int *__restrict__ starts,
                 const float *__restrict__ chunks, const float *__restrict__ base,
                 float *__restrict__ y, int segments)
{
    const int segment = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    float sum = 0.0f;
    if (segment < segments) {
        const int start = starts[segment], end = starts[segment + 1];
        const int first = (start + CHUNK - 1) / CHUNK, last = end / CHUNK;
        if (first < last) {
            sum = lane_sum(x, start, first * CHUNK, lane) + lane_sum(x, last * CHUNK, end, lane);
            sum += lane_sum(chunks, first, last, lane);
        } else {
            sum = lane_sum(x, start, end, lane);
        }
    }
#pragma unroll
    for (int offset = LANES / 2; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (segment < segments && lane == 0)
        y[segment] = base[segment] + sum;
}
