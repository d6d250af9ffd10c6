// the device runtime would launch further kernels
// SPDX-License-Identifier: MIT
extern "C" __device__ int cudaDeviceSynchronize();

extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        if (i == 0)
            cudaDeviceSynchronize();
        y[i] = a[i] + b[i];
    }
}
