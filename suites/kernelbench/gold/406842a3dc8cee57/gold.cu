// KernelBench, level 3: ResNetBasicBlock
// SPDX-License-Identifier: MIT

// One convolution: 128 places by 64 channels a block, 8 x 4 a thread; the windows are gathered on the way into
// shared memory.
extern "C" __global__ void __launch_bounds__(256) convolve(const float *__restrict__ x, const float *__restrict__ w,
    float *__restrict__ y, int in_channels, int height, int width, int channels, int side, int stride, int pad,
    int out_height, int out_width, int places)
{
    enum { BM = 128, BN = 64, BK = 8 };
    __shared__ __align__(16) float as[BK][BM], bs[BK][BN];
    const int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN, t = threadIdx.x;
    const int square = side * side, terms = in_channels * square, plane = out_height * out_width;
    const int mine = m0 + t % BM, at = mine % plane; // the place whose window this thread gathers
    const int top = at / out_width * stride - pad, left = at % out_width * stride - pad;
    const float *image = x + (long long)(mine / plane) * in_channels * height * width;
    const int row = t / 16 * 8, col = t % 16 * 4;
    float sum[8][4] = {};
    for (int k0 = 0; k0 < terms; k0 += BK) {
#pragma unroll
        for (int i = 0; i < BK / 2; i++) {
            const int kk = t / BM + 2 * i, k = k0 + kk, c = k / square;
            const int r = top + k % square / side, s = left + k % side;
            const bool is = mine < places && k < terms && r >= 0 && r < height && s >= 0 && s < width;
            as[kk][t % BM] = is ? image[((long long)c * height + r) * width + s] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int e = t + i * 256, n = e / BK, kk = e % BK;
            bs[kk][n] = n0 + n < channels && k0 + kk < terms ? w[(long long)(n0 + n) * terms + k0 + kk] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float u[8], v[4];
#pragma unroll
            for (int i = 0; i < 8; i++)
                u[i] = as[k][row + i];
#pragma unroll
            for (int j = 0; j < 4; j++)
                v[j] = bs[k][col + j];
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const int m = m0 + row + i, n = n0 + col + j;
            if (m < places && n < channels)
                y[((long long)(m / plane) * channels + n) * plane + m % plane] = sum[i][j];
        }
}

// The sum (or the maximum) over a block, to every thread.
template <bool MAX> __device__ float over_block(float v)
{
    __shared__ float part[32];
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, v, d);
        v = MAX ? fmaxf(v, other) : v + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    float all = part[0];
    for (int w = 1; w < (int)blockDim.x / 32; w++)
        all = MAX ? fmaxf(all, part[w]) : all + part[w];
    return all;
}

// Mean and squared deviation of one plane a block.
extern "C" __global__ void __launch_bounds__(256) planes(const float *__restrict__ x, float2 *__restrict__ part, int plane)
{
    x += (long long)blockIdx.x * plane;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < plane; i += blockDim.x)
        sum += x[i];
    const float mean = over_block<false>(sum) / (float)plane;
    sum = 0.0f;
    for (int i = threadIdx.x; i < plane; i += blockDim.x)
        sum += (x[i] - mean) * (x[i] - mean);
    sum = over_block<false>(sum);
    if (threadIdx.x == 0)
        part[blockIdx.x] = make_float2(mean, sum);
}

// The batch's statistics of a channel from its planes; then one plane, with what is added and the rectifier.
extern "C" __global__ void __launch_bounds__(256) normalise(const float *__restrict__ x, const float2 *__restrict__ part,
    const float *__restrict__ weight, const float *__restrict__ bias, const float *__restrict__ added, float *__restrict__ y,
    int batch, int channels, int plane, int adds, int rectifies)
{
    const int c = blockIdx.x % channels;
    float mean = 0.0f, spread = 0.0f;
    for (int b = 0; b < batch; b++)
        mean += part[b * channels + c].x;
    mean /= (float)batch;
    for (int b = 0; b < batch; b++) {
        const float2 p = part[b * channels + c];
        spread += p.y + (p.x - mean) * (p.x - mean) * (float)plane;
    }
    const float scale = rsqrtf(spread / ((float)plane * (float)batch) + 1e-5f) * weight[c];
    const long long first = (long long)blockIdx.x * plane;
    for (int i = threadIdx.x; i < plane; i += blockDim.x) {
        float v = (x[first + i] - mean) * scale + bias[c];
        v += adds ? added[first + i] : 0.0f;
        y[first + i] = rectifies ? fmaxf(v, 0.0f) : v;
    }
}
