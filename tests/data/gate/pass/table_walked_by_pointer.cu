// pass
__device__ const float table[64] = {1, 2, 3, 4, 5};
extern "C" __global__ void k(float *y, int n)
{
    float sum = 0;
    for (const float *at = table; at != table + 64; at += 4)
        sum += *at * y[0];
    y[1] = sum;
}
