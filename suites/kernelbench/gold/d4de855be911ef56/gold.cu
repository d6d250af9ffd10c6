// KernelBench, level 3: ResNet18
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

// Windows of 3 x 3, two steps apart, one line of padding: one result a thread.
extern "C" __global__ void __launch_bounds__(128) pool(const float *__restrict__ x, float *__restrict__ y, int height, int width,
                                                       int out_height, int out_width)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= out_width)
        return;
    x += (long long)blockIdx.z * height * width;
    float best = -__int_as_float(0x7f800000);
    for (int r = max(2 * i - 1, 0); r < min(2 * i + 2, height); r++)
        for (int s = max(2 * j - 1, 0); s < min(2 * j + 2, width); s++)
            best = fmaxf(best, x[(long long)r * width + s]);
    y[((long long)blockIdx.z * out_height + i) * out_width + j] = best;
}

// The mean of one plane a block.
extern "C" __global__ void __launch_bounds__(128) means(const float *__restrict__ x, float *__restrict__ y, int plane)
{
    x += (long long)blockIdx.x * plane;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < plane; i += blockDim.x)
        sum += x[i];
    sum = over_block<false>(sum);
    if (threadIdx.x == 0)
        y[blockIdx.x] = sum / (float)plane;
}

// C = A B, 128 x 128 a block, 8 x 8 a thread; the next tiles are under way while these are multiplied.
extern "C" __global__ void __launch_bounds__(256) layer(const float *__restrict__ a, const float *__restrict__ b,
    const float *__restrict__ bias, float *__restrict__ y, int M, int N, int K)
{
    enum { BM = 128, BN = 128, BK = 16, EACH = BM * BK / 256 };
    __shared__ __align__(16) float as[2][BK][BM + 4], bs[2][BK][BN + 4];
    const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN, t = threadIdx.x;
    const int row = t / 16 * 4, col = t % 16 * 4; // this thread has rows row and row + 64, columns likewise
    const long long batch = blockIdx.z;
    a += batch * M * K;
    b += batch * K * N;
    y += batch * M * N;
    float next_a[EACH], next_b[EACH], sum[8][8] = {};
    auto fetch = [&](int k0) {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int e = t + i * 256;
            {
                const int m = e / BK, k = e % BK;
                next_a[i] = m0 + m < M && k0 + k < K ? a[(long long)(m0 + m) * K + k0 + k] : 0.0f;
            }
            {
                const int n = e / BK, k = e % BK;
                next_b[i] = n0 + n < N && k0 + k < K ? b[(long long)(n0 + n) * K + k0 + k] : 0.0f;
            }
        }
    };
    auto put = [&](int half) {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int e = t + i * 256;
            as[half][e % BK][e / BK] = next_a[i];
            bs[half][e % BK][e / BK] = next_b[i];
        }
    };
    fetch(0);
    put(0);
    __syncthreads();
    for (int k0 = 0, half = 0; k0 < K; k0 += BK, half ^= 1) {
        if (k0 + BK < K)
            fetch(k0 + BK);
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float u[8], v[8];
            *reinterpret_cast<float4 *>(u) = *reinterpret_cast<const float4 *>(&as[half][k][row]);
            *reinterpret_cast<float4 *>(u + 4) = *reinterpret_cast<const float4 *>(&as[half][k][row + 64]);
            *reinterpret_cast<float4 *>(v) = *reinterpret_cast<const float4 *>(&bs[half][k][col]);
            *reinterpret_cast<float4 *>(v + 4) = *reinterpret_cast<const float4 *>(&bs[half][k][col + 64]);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += u[i] * v[j];
        }
        if (k0 + BK < K)
            put(half ^ 1);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const int m = m0 + row + i % 4 + i / 4 * 64, n = n0 + col + j % 4 + j / 4 * 64;
            if (m < M && n < N) {
                float v = sum[i][j];
                y[(long long)m * N + n] = v + bias[n];
            }
        }
}
