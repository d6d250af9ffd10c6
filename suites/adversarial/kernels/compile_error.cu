// does not compile
// SPDX-License-Identifier: MIT
extern "C" __global__ void vector_add(float *y) { y[0] = nothing; }
