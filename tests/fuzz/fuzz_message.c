/* fuzz_message - any bytes into the message decoder
 *
 * What decodes must encode again, to a message that decodes to the same bytes. The version in the head is
 * made ours: every other one ends the matter there (test_message.c), and what the fuzzer has learnt would be
 * lost with each new version.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/scoped.h"
#include "wire/frame.h"
#include "wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void encode(const message *m, buf *out)
{
    err e = {0};
    buf_init(out, MESSAGE_SIZE_MAX);
    int rc = message_encode(m, out, &e);
    assert(rc == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SCOPED(message_fini) message first = {0}, second = {0};
    err e = {0};
    SCOPED(buf_fini) buf input;
    buf_init(&input, MESSAGE_SIZE_MAX);
    buf_add(&input, data, size);
    if (size >= FRAME_HEAD)
        input.data[2] = MESSAGE_PROTOCOL;
    if (message_decode(input.data, input.size, &first, &e) < 0) {
        assert(e.code == ERR_PROTOCOL && e.text[0] != '\0');
        return 0;
    }
    SCOPED(buf_fini) buf once, twice;
    encode(&first, &once);
    int rc = message_decode(once.data, once.size, &second, &e);
    assert(rc == 0);
    encode(&second, &twice);
    assert(once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0);
    return 0;
}
