/* json_out - writes a JSON object member by member, without a tree
 *
 * SPDX-License-Identifier: MIT */
#include "common/json_out.h"

#include <string.h>

#include "common/json.h"

json_out json_out_open(buf *out)
{
    buf_puts(out, "{");
    return (json_out){.out = out};
}

void json_out_close(json_out *self)
{
    buf_puts(self->out, "}");
}

static void put_key(json_out *self, const char *key)
{
    buf_puts(self->out, self->any ? ",\"" : "\"");
    buf_puts(self->out, key);
    buf_puts(self->out, "\":");
    self->any = true;
}

void json_out_str(json_out *self, const char *key, const char *text)
{
    put_key(self, key);
    if (text == NULL)
        buf_puts(self->out, "null");
    else
        json_quote(self->out, text, strlen(text));
}

void json_out_int(json_out *self, const char *key, int64_t value)
{
    put_key(self, key);
    buf_int(self->out, value);
}

void json_out_real(json_out *self, const char *key, double value)
{
    put_key(self, key);
    json_number(self->out, value);
}

void json_out_bool(json_out *self, const char *key, bool value)
{
    put_key(self, key);
    buf_puts(self->out, value ? "true" : "false");
}

void json_out_raw(json_out *self, const char *key, const char *text)
{
    put_key(self, key);
    buf_puts(self->out, text);
}
