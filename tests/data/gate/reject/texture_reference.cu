// compile_failed
texture<float, 1> t;
extern "C" __global__ void k(float *y)
{
    y[0] = tex1Dfetch(t, 0);
}
