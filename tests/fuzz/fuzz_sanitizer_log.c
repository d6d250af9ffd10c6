/* fuzz_sanitizer_log - any bytes as the text of a compute-sanitizer
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/sanitizer_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

static bool mentions(const uint8_t *data, size_t size, const char *word)
{
    return memmem(data, size, word, strlen(word)) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sanitizer_log log;
    sanitizer_log_read("memcheck", (const char *)data, size, &log);
    switch (log.state) {
    case SANITIZER_LOG_CLEAN:
        must(verdict_is_ok(&log.verdict) && mentions(data, size, "SUMMARY: "));
        break;
    case SANITIZER_LOG_FINDING:
        must(!verdict_is_ok(&log.verdict) && strncmp(log.verdict.text, "memcheck: ", 10) == 0);
        must(strpbrk(log.verdict.text, "\r\n\t") == NULL);
        break;
    case SANITIZER_LOG_UNUSABLE:
        must(verdict_is_ok(&log.verdict) && log.why[0] != '\0');
        break;
    }
    return 0;
}
