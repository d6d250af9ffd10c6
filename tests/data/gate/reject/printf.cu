// device_printf
extern "C" __global__ void k(float *y)
{
    printf("%f\n", y[0]);
}
