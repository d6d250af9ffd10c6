// undefined_symbol
extern __device__ float helper(float);
extern "C" __global__ void k(float *y)
{
    y[0] = helper(y[1]);
}
