// Nothing is wrong with the kernel; its plan passes the operands in the wrong order.
// SPDX-License-Identifier: MIT
extern "C" __global__ void tanh_add(const float *__restrict__ a, const float *__restrict__ b,
                                    float *__restrict__ y, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = tanhf(a[i]) + b[i];
}
