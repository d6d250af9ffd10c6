// KernelBench, level 3: LSTMHn
// SPDX-License-Identifier: MIT

// A launch for each round of a wavefront: in round s layer l does step s - l, so that all layers work at once.
// A warp has one hidden unit of one layer and its gates: the lanes share the products, then lane b finishes
// batch b. States go back and forth between the halves of one buffer.
constexpr int HIDDEN = 256, BATCH = 10, WIDTH = 128, STEPS = 512;
constexpr int WARPS = 8;

__device__ __forceinline__ float warp_sum(float value)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

__device__ __forceinline__ float sigmoid(float z)
{
    return 1.0f / (1.0f + expf(-z));
}

// sums[first + gate] += rows of w times what lies in shared memory; the last gate's go to sums[last].
template <int GATES>
__device__ __forceinline__ void add_products(float (&sums)[4][BATCH], const float *w, int unit, int length,
                                             const float *values, int last)
{
    const int lane = threadIdx.x % 32;
    for (int k = lane * 4; k < length; k += 128) {
        float4 row[GATES];
#pragma unroll
        for (int g = 0; g < GATES; g++)
            row[g] = *reinterpret_cast<const float4 *>(w + (long long)(g * HIDDEN + unit) * length + k);
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const float4 v = *reinterpret_cast<const float4 *>(values + b * length + k);
#pragma unroll
            for (int g = 0; g < GATES; g++) {
                const float part = row[g].x * v.x + row[g].y * v.y + row[g].z * v.z + row[g].w * v.w;
                if (g < GATES - 1)
                    sums[g][b] += part;
                else if (last == GATES - 1)
                    sums[GATES - 1][b] += part;
                else
                    sums[3][b] += part;
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(256)
    round_of_all(const float *__restrict__ x, const float *__restrict__ h0, const float *__restrict__ c0,
                 const float *__restrict__ wi0, const float *__restrict__ ws0, const float *__restrict__ bi0,
                 const float *__restrict__ bs0, const float *__restrict__ wi1, const float *__restrict__ ws1,
                 const float *__restrict__ bi1, const float *__restrict__ bs1, const float *__restrict__ wi2,
                 const float *__restrict__ ws2, const float *__restrict__ bi2, const float *__restrict__ bs2,
                 const float *__restrict__ wi3, const float *__restrict__ ws3, const float *__restrict__ bi3,
                 const float *__restrict__ bs3, const float *__restrict__ wi4, const float *__restrict__ ws4,
                 const float *__restrict__ bi4, const float *__restrict__ bs4, const float *__restrict__ wi5,
                 const float *__restrict__ ws5, const float *__restrict__ bi5, const float *__restrict__ bs5,
                 const float *__restrict__ before, float *__restrict__ after, float *__restrict__ cell,
                 float *__restrict__ y, int round)
{
    __shared__ __align__(16) float inputs[BATCH * (WIDTH > HIDDEN ? WIDTH : HIDDEN)], states[BATCH * HIDDEN];
    const int layer = blockIdx.y, t = round - layer;
    if (t < 0 || t >= STEPS)
        return;
    const float *w_in = layer == 0 ? wi0 : layer == 1 ? wi1 : layer == 2 ? wi2 : layer == 3 ? wi3 :
        layer == 4 ? wi4 : wi5;
    const float *w_state = layer == 0 ? ws0 : layer == 1 ? ws1 : layer == 2 ? ws2 : layer == 3 ? ws3 :
        layer == 4 ? ws4 : ws5;
    const float *b_in = layer == 0 ? bi0 : layer == 1 ? bi1 : layer == 2 ? bi2 : layer == 3 ? bi3 :
        layer == 4 ? bi4 : bi5;
    const float *b_state = layer == 0 ? bs0 : layer == 1 ? bs1 : layer == 2 ? bs2 : layer == 3 ? bs3 :
        layer == 4 ? bs4 : bs5;
    const int length = layer == 0 ? WIDTH : HIDDEN;
    const float *state = t == 0 ? h0 + layer * BATCH * HIDDEN : before + layer * BATCH * HIDDEN;
    for (int i = threadIdx.x; i < BATCH * length; i += 256) {
        const int b = i / length, k = i % length;
        inputs[i] = layer == 0 ? x[(b * STEPS + t) * WIDTH + k] : before[(layer - 1) * BATCH * HIDDEN + i];
    }
    for (int i = threadIdx.x; i < BATCH * HIDDEN; i += 256)
        states[i] = state[i];
    __syncthreads();
    const int unit = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sums[4][BATCH] = {};
    add_products<4>(sums, w_in, unit, length, inputs, 4 - 1);
    add_products<4>(sums, w_state, unit, HIDDEN, states, 3);
    float gate[4] = {};
#pragma unroll
    for (int b = 0; b < BATCH; b++)
#pragma unroll
        for (int g = 0; g < 4; g++) {
            const float all = warp_sum(sums[g][b]);
            gate[g] = lane == b ? all : gate[g];
        }
    if (lane >= BATCH)
        return;
    const int at = (layer * BATCH + lane) * HIDDEN + unit;
    const float in = sigmoid(gate[0] + b_in[unit] + b_state[unit]);
    const float forget = sigmoid(gate[1] + b_in[HIDDEN + unit] + b_state[HIDDEN + unit]);
    const float next = tanhf(gate[2] + b_in[2 * HIDDEN + unit] + b_state[2 * HIDDEN + unit]);
    const float out = sigmoid(gate[3] + b_in[3 * HIDDEN + unit] + b_state[3 * HIDDEN + unit]);
    const float c = forget * (t == 0 ? c0[at] : cell[at]) + in * next;
    const float h = out * tanhf(c);
    cell[at] = c;
    after[at] = h;
    if (t == STEPS - 1)
        y[at] = h;
}
