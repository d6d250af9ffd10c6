// a log of megabytes
// SPDX-License-Identifier: MIT
#define A(x) x x x x x x x x x x
#define B(x) A(A(A(A(x))))
#line 1 "a_file_name_that_makes_every_line_of_the_log_longer_than_it_would_have_been_otherwise_by_far.cu"
extern "C" __global__ void vector_add(float *y)
{
    B(undefined_name_that_is_long_enough_to_fill_the_log_with_many_bytes_an_error = 1;)
}
