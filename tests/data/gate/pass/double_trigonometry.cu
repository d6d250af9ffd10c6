// pass
extern "C" __global__ void k(double *y, const double *x)
{
    y[threadIdx.x] = sin(x[threadIdx.x]) + tgamma(x[threadIdx.x]) + pow(x[0], x[1]);
}
