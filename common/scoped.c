/* scoped - release at the end of the scope
 *
 * SPDX-License-Identifier: MIT */
#include "common/scoped.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void scoped_free(void *pointer_to_pointer)
{
    void *pointer;
    memcpy(&pointer, pointer_to_pointer, sizeof pointer);
    free(pointer);
    pointer = NULL;
    memcpy(pointer_to_pointer, &pointer, sizeof pointer);
}

void scoped_close(int *fd)
{
    int saved = errno; /* an early return may still look at it */
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = saved;
}

void scoped_fclose(FILE **file)
{
    if (*file != NULL)
        (void)fclose(*file);
    *file = NULL;
}
