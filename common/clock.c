/* clock - time as a value
 *
 * SPDX-License-Identifier: MIT */
#include "common/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t read_us(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_mono_ms(void)
{
    return read_us(CLOCK_MONOTONIC) / 1000;
}

int64_t clock_mono_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

int64_t clock_wall_ms(void)
{
    return read_us(CLOCK_REALTIME) / 1000;
}

void clock_text(int64_t wall_ms, char out[CLOCK_TEXT])
{
    int64_t ms = wall_ms % 1000;
    time_t seconds = (time_t)(wall_ms / 1000 - (ms < 0 ? 1 : 0)); /* round towards the past */
    struct tm utc;
    if (gmtime_r(&seconds, &utc) == NULL ||
        strftime(out, CLOCK_TEXT, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(out, CLOCK_TEXT, "?");
}
