// entry_missing
extern "C" __global__ void other(float *y)
{
    y[0] = 1;
}
