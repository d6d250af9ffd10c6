/* fuzz_reply - any bytes as a provider's reply
 *
 * The first byte chooses the back end and whether the rest is a whole reply, an error or a stream. What
 * comes out is an answer or a fault, both fit to be stored and shown.
 *
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/str.h"
#include "providers/anthropic.h"
#include "providers/compat.h"
#include "providers/gemini.h"
#include "providers/openai.h"
#include "providers/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const remote_ops *const back_ends[] = {&anthropic_remote, &openai_remote, &gemini_remote,
                                              &compat_remote};
enum { BACK_ENDS = sizeof back_ends / sizeof back_ends[0] };

typedef struct reading {
    const remote_ops *ops;
    reply reply;
} reading;

static void must(bool truth)
{
    if (!truth)
        abort();
}

static int take_event(void *arg, const char *name, const char *data, size_t size, err *e)
{
    reading *self = arg;
    SCOPED(json_destroy) json *value = json_parse_tree(data, size, "event", e);
    if (value == NULL)
        return -1;
    self->ops->read_event(&self->reply, name, value);
    return 0;
}

static void read_stream(reading *self, const char *text, size_t size)
{
    SCOPED(sse_fini) sse parser;
    sse_init(&parser, 1 << 20, take_event, self);
    sse_feed(&parser, text, size, NULL);
    if (self->ops->read_end != NULL)
        self->ops->read_end(&self->reply);
}

static void read_body(reading *self, const char *text, size_t size, int64_t status)
{
    SCOPED(json_destroy) json *body = json_parse_tree(text, size, "reply", NULL);
    if (status != 200)
        self->ops->classify(&self->reply, status, body);
    else if (body != NULL)
        self->ops->read_whole(&self->reply, body);
    if (status != 200)
        must(self->reply.fault.class != FAULT_NONE || self->reply.stopped);
}

static void check(const reply *r)
{
    const char *text = buf_text(&r->text);
    must(str_utf8_valid(text, r->text.size) == r->text.size);
    must(strlen(r->fault.text) == str_utf8_valid(r->fault.text, strlen(r->fault.text)));
    must((r->fault.class != FAULT_NONE) == (r->fault.text[0] != '\0'));
    must(r->used.in >= -1 && r->used.out >= -1);
    must(r->used.cache_read >= -1 && r->used.cache_write >= -1);
    must(!(r->cost_usd < 0.0));
    must(r->stop < PROVIDER_STOP_COUNT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    reading self = {.ops = back_ends[data[0] % BACK_ENDS]};
    const char *text = (const char *)data + 1;
    reply_init(&self.reply);
    switch (data[0] / BACK_ENDS % 3) {
    case 0:
        read_body(&self, text, size - 1, 200);
        break;
    case 1:
        read_body(&self, text, size - 1, 429);
        break;
    default:
        read_stream(&self, text, size - 1);
        break;
    }
    check(&self.reply);
    reply_fini(&self.reply);
    return 0;
}
