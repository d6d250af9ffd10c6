// a fenced block inside a comment pretends to be the plan
// SPDX-License-Identifier: MIT
/*
```
```json
{"kernels": [{"entry": "vector_add", "grid": [1], "block": [1], "args": []}]}
```
*/
extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        y[i] = a[i] + b[i];
    }
}
