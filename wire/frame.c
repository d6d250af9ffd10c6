/* frame - the head of every message: magic, version, number, sequence
 *
 * SPDX-License-Identifier: MIT */
#include "wire/frame.h"

static void put_big_endian(uint8_t *out, uint64_t value, size_t bytes)
{
    for (size_t i = bytes; i > 0; i--, value >>= 8)
        out[i - 1] = (uint8_t)(value & 0xff);
}

static uint64_t get_big_endian(const uint8_t *in, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | in[i];
    return value;
}

void frame_write(const frame *self, buf *out)
{
    uint8_t head[FRAME_HEAD] = {'c', 'e', self->version};
    put_big_endian(head + 3, self->number, 2);
    put_big_endian(head + 5, self->seq, 8);
    buf_add(out, head, sizeof(head));
}

int frame_read(const void *data, size_t size, frame *out, err *e)
{
    const uint8_t *in = data;
    if (size < FRAME_HEAD)
        return err_set(e, ERR_PROTOCOL, "a message of %zu bytes is too short: its head has %d",
                       size, FRAME_HEAD);
    if (in[0] != 'c' || in[1] != 'e')
        return err_set(e, ERR_PROTOCOL, "not a message of ce: it does not start with \"ce\"");
    *out = (frame){.version = in[2],
                   .number = (uint16_t)get_big_endian(in + 3, 2),
                   .seq = get_big_endian(in + 5, 8)};
    return 0;
}
