// device_heap
extern "C" __global__ void k(float **y)
{
    y[0] = new float[64];
}
