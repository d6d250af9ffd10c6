/* id - identifiers that sort by time
 *
 * SPDX-License-Identifier: MIT */
#include "common/id.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "common/clock.h"

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz"; /* Crockford: no i l o u */

void id_make(int64_t wall_ms, const uint8_t random[10], char out[ID_TEXT])
{
    uint64_t time = (uint64_t)wall_ms & 0xffffffffffffu;
    for (int i = 9; i >= 0; i--, time >>= 5)
        out[i] = digits[time & 31];
    for (int half = 0; half < 2; half++) { /* 40 bits are 8 digits */
        uint64_t bits = 0;
        for (int i = 0; i < 5; i++)
            bits = bits << 8 | random[5 * half + i];
        for (int i = 7; i >= 0; i--, bits >>= 5)
            out[10 + 8 * half + i] = digits[bits & 31];
    }
    out[ID_TEXT - 1] = '\0';
}

void id_new(char out[ID_TEXT])
{
    uint8_t random[10];
    id_random(random, sizeof random);
    id_make(clock_wall_ms(), random, out);
}

void id_random(void *out, size_t size)
{
    unsigned char *at = out;
    while (size > 0) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            fprintf(stderr, "ce: the kernel gives no randomness\n");
            abort();
        }
        at += got;
        size -= (size_t)got;
    }
}
