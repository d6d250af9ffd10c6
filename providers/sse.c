/* sse - server-sent events from any slicing of bytes
 *
 * Bytes gather in `line` until a line end; a field adds to the event; an empty line hands it over.
 *
 * SPDX-License-Identifier: MIT */
#include "providers/sse.h"

#include <stdio.h>
#include <string.h>

void sse_init(sse *self, size_t event_max, sse_event_fn *event, void *arg)
{
    *self = (sse){.event = event, .arg = arg};
    buf_init(&self->line, event_max);
    buf_init(&self->data, event_max);
}

void sse_fini(sse *self)
{
    buf_fini(&self->line);
    buf_fini(&self->data);
}

static int too_long(err *e)
{
    return err_set(e, ERR_LIMIT, "an event of the stream is longer than its limit");
}

static int hand_over(sse *self, err *e)
{
    int rc = 0;
    if (self->has_data) {
        rc = self->event(self->arg, self->name, buf_text(&self->data), self->data.size, e);
    }
    buf_clear(&self->data);
    self->has_data = false;
    self->name[0] = '\0';
    return rc;
}

static int add_data(sse *self, const char *value, size_t size, err *e)
{
    bool joined = !self->has_data || buf_add(&self->data, "\n", 1) == 0;
    self->has_data = true;
    return joined && buf_add(&self->data, value, size) == 0 ? 0 : too_long(e);
}

static bool is_field(const char *line, size_t size, const char *name)
{
    return strlen(name) == size && memcmp(line, name, size) == 0;
}

static int take_field(sse *self, const char *line, size_t size, err *e)
{
    const char *colon = memchr(line, ':', size);
    size_t name = colon != NULL ? (size_t)(colon - line) : size;
    const char *value = line + name;
    if (colon != NULL) {
        value++;
        value += value < line + size && *value == ' ';
    }
    size_t rest = (size_t)(line + size - value);
    if (is_field(line, name, "data")) {
        return add_data(self, value, rest, e);
    }
    if (is_field(line, name, "event")) {
        size_t kept = rest < sizeof(self->name) - 1 ? rest : sizeof(self->name) - 1;
        memcpy(self->name, value, kept);
        self->name[kept] = '\0';
    }
    return 0; /* comments (an empty name), id, retry and what the future brings */
}

static int take_line(sse *self, err *e)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const char *line = buf_text(&self->line);
    size_t size = self->line.size;
    if (!self->past_mark && size >= sizeof(mark) - 1 && memcmp(line, mark, sizeof(mark) - 1) == 0) {
        line += sizeof(mark) - 1;
        size -= sizeof(mark) - 1;
    }
    self->past_mark = true;
    int rc = size == 0 ? hand_over(self, e) : take_field(self, line, size, e);
    buf_clear(&self->line);
    return rc;
}

/* Up to and with the first line end; *used says how many bytes that were. */
static int feed_line(sse *self, const char *bytes, size_t size, size_t *used, err *e)
{
    size_t length = 0;
    while (length < size && bytes[length] != '\n' && bytes[length] != '\r') {
        length++;
    }
    if (buf_add(&self->line, bytes, length) != 0) {
        return too_long(e);
    }
    *used = length;
    if (length == size) {
        return 0;
    }
    self->after_cr = bytes[length] == '\r';
    *used = length + 1;
    return take_line(self, e);
}

int sse_feed(sse *self, const char *bytes, size_t size, err *e)
{
    if (self->broken) {
        return err_set(e, ERR_CONFLICT, "the stream is broken");
    }
    while (size > 0) {
        size_t used = 1;
        bool belongs = self->after_cr && bytes[0] == '\n';
        self->after_cr = false;
        if (!belongs && feed_line(self, bytes, size, &used, e) != 0) {
            self->broken = true;
            return -1;
        }
        bytes += used;
        size -= used;
    }
    return 0;
}
