/* kernels_image - the compiled kernels.cu inside the test program
 *
 * Purpose:   the test needs no compiler on the GPU host.
 * Ownership: constant memory.
 * Threads:   constant.
 * Errors:    size 0 when nvcc was absent at build time.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_GPU_KERNELS_IMAGE_H
#define CE_TESTS_GPU_KERNELS_IMAGE_H

#include <stddef.h>

const void *kernels_image(void);
size_t kernels_image_size(void);

#endif
