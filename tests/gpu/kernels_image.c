/* kernels_image - see kernels_image.h.
 *
 * SPDX-License-Identifier: MIT */
#include "kernels_image.h"

#ifdef KERNELS_FATBIN
__asm__(".section .rodata\n"
        ".balign 16\n"
        "kernels_fatbin_begin:\n"
        ".incbin \"" KERNELS_FATBIN "\"\n"
        "kernels_fatbin_end:\n"
        ".previous\n");
extern const char kernels_fatbin_begin[] __attribute__((visibility("hidden")));
extern const char kernels_fatbin_end[] __attribute__((visibility("hidden")));

const void *kernels_image(void)
{
    return kernels_fatbin_begin;
}

size_t kernels_image_size(void)
{
    return (size_t)(kernels_fatbin_end - kernels_fatbin_begin);
}
#else
const void *kernels_image(void)
{
    return "";
}

size_t kernels_image_size(void)
{
    return 0;
}
#endif
