// resources
extern "C" __global__ void k(float *y, int n)
{
    float a[140000];
    for (int i = 0; i < 140000; i++)
        a[i] = y[i & n];
    y[0] = a[n];
}
