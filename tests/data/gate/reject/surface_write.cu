// texture
extern "C" __global__ void k(float *y, cudaSurfaceObject_t s)
{
    surf1Dwrite(y[0], s, 0);
}
