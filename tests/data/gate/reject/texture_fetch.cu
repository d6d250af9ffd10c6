// texture
extern "C" __global__ void k(float *y, cudaTextureObject_t t)
{
    y[0] = tex1Dfetch<float>(t, 0);
}
