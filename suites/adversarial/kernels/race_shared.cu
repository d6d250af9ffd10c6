// reads the other warps' sums without a barrier
// SPDX-License-Identifier: MIT
extern "C" __global__ void sum_all(const float *x, float *y, long long n)
{
    __shared__ float parts[256];
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < n; i += 256)
        sum += x[i];
    parts[threadIdx.x] = 0.0f;
    __syncthreads();
    if (threadIdx.x >= 32) // the other warps are late
        for (int i = 0; i < 64; i++)
            __nanosleep(1000);
    parts[threadIdx.x] = sum;
    if (threadIdx.x == 0) {
        float all = 0.0f;
        for (int i = 0; i < 256; i++)
            all += parts[i];
        *y = all;
    }
}
