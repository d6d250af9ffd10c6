// pass
extern "C" __global__ void k(float *y, int n)
{
    static constexpr float table[8] = {1, 2, 3, 5, 8, 13, 21, 34};
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[i & 7] * y[i];
    y[0] = sum;
}
