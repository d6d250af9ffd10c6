// device_heap
extern "C" __global__ void k(float **y)
{
    y[0] = (float *)malloc(64);
}
