// sums into shared memory that nobody cleared
// SPDX-License-Identifier: MIT
extern "C" __global__ void sum_all(const float *x, float *y, long long n)
{
    __shared__ float parts[256];
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < n; i += 256)
        sum += x[i];
    parts[threadIdx.x] += sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0.0f;
        for (int i = 0; i < 256; i++)
            all += parts[i];
        *y = all;
    }
}
