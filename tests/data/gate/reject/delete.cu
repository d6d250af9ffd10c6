// device_heap
extern "C" __global__ void k(float *y)
{
    delete y;
}
