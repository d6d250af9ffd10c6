/* scoped - release at the end of the scope
 *
 * Purpose:   SCOPED(x_destroy) on a local pointer calls x_destroy(&local) when the scope is left;
 *            TAKE(p) moves a pointer out of such a local. CLASS's destructor signature
 *            (void x_destroy(x **self)) is the cleanup attribute's, so no wrapper is needed.
 * Ownership: the local owns until TAKE.
 * Threads:   none.
 * Errors:    none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_SCOPED_H
#define CE_COMMON_SCOPED_H

#include <stddef.h>

#define SCOPED(destructor) __attribute__((cleanup(destructor)))

/* TAKE yields the pointer and leaves NULL behind: `*out = TAKE(local)`. */
#define TAKE(p)                             \
    __extension__({                         \
        __typeof__(p) *take_from_ = &(p);   \
        __typeof__(p) taken_ = *take_from_; \
        *take_from_ = NULL;                 \
        taken_;                             \
    })

/* scoped_free frees a heap pointer: `SCOPED(scoped_free) char *text = …`. Takes any T **. */
void scoped_free(void *pointer_to_pointer);

/* scoped_close closes a file descriptor that is >= 0 and stores -1. */
void scoped_close(int *fd);

/* scoped_fclose closes a FILE * and nulls it. */
struct _IO_FILE;
void scoped_fclose(struct _IO_FILE **file);

#endif
