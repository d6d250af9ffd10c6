// compile_failed
extern "C" __global__ void child(int *y)
{
    y[0] = 1;
}
extern "C" __global__ void k(int *y)
{
    child<<<1, 1>>>(y);
}
