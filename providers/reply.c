/* reply - what has been read of a provider's answer
 *
 * SPDX-License-Identifier: MIT */
#include "providers/reply.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/str.h"

void reply_init(reply *self)
{
    *self = (reply){.used = {-1, -1, -1, -1}, .cost_usd = (double)NAN, .fault = {.wait_ms = -1}};
    buf_init(&self->text, REPLY_TEXT_MAX);
}

void reply_fini(reply *self)
{
    buf_fini(&self->text);
    json_destroy(&self->usage);
}

void reply_stop(reply *self, provider_stop stop)
{
    self->stop = stop;
    self->stopped = true;
}

void reply_odd_stop(reply *self, const char *word)
{
    fault_set(&self->fault, FAULT_BAD_RESPONSE, "the answer ended with '%.64s', which is no answer",
              word);
}

void reply_end_by(reply *self, const reply_end *ends, const json *word)
{
    const char *text = json_str(word, NULL);
    if (text == NULL)
        return;
    for (; ends->word != NULL; ends++) {
        if (strcmp(ends->word, text) == 0) {
            reply_stop(self, ends->stop);
            return;
        }
    }
    reply_odd_stop(self, text);
}

void reply_add_text(reply *self, const char *text)
{
    if (buf_puts(&self->text, text) != 0) {
        reply_bad(self, "the text of the answer is larger than 1 MiB");
        self->fault.final = true;
    }
}

void reply_add_parts(reply *self, const json *parts, const char *type)
{
    size_t count = json_typeof(parts) == JSON_TYPE_ARRAY ? json_size(parts) : 0;
    for (size_t i = 0; i < count; i++) {
        const json *part = json_at(parts, i);
        bool wanted = type == NULL || strcmp(json_str(json_get(part, "type"), ""), type) == 0;
        if (wanted && !json_bool(json_get(part, "thought"), false)) {
            reply_add_text(self, json_str(json_get(part, "text"), ""));
        }
    }
}

void reply_keep(char out[REPLY_WORD_MAX], const json *text)
{
    const char *word = json_str(text, NULL);
    if (word != NULL) {
        snprintf(out, REPLY_WORD_MAX, "%s", word);
        out[str_utf8_valid(out, strlen(out))] = '\0';
    }
}

void reply_keep_usage(reply *self, const json *usage)
{
    if (json_typeof(usage) != JSON_TYPE_OBJECT) {
        return;
    }
    SCOPED(scoped_free) char *text = json_dump(usage);
    json_destroy(&self->usage);
    self->usage = strlen(text) <= REPLY_USAGE_MAX ? json_copy(usage) : NULL;
}

int64_t reply_count(const json *object, const char *key, int64_t otherwise)
{
    int64_t count = json_int(json_get(object, key), otherwise);
    return count < 0 ? otherwise : count;
}

void reply_split(reply *self, int64_t all_in, int64_t cache_read, int64_t cache_write, int64_t out)
{
    int64_t cached = (cache_read > 0 ? cache_read : 0) + (cache_write > 0 ? cache_write : 0);
    self->used = (price_tokens){.in = all_in < cached ? -1 : all_in - cached,
                                .out = out,
                                .cache_read = cache_read,
                                .cache_write = cache_write};
}

const reply_word *reply_find_word(const reply_word *words, const char *text)
{
    for (; words->word != NULL; words++) {
        if (strcmp(words->word, text) == 0) {
            return words;
        }
    }
    return NULL;
}

void reply_fail(reply *self, int64_t status, const reply_word *words, const char *const *said,
                const char *message)
{
    const reply_word *known = NULL;
    for (; *said != NULL && known == NULL; said++) {
        known = reply_find_word(words, *said);
    }
    fault_class class = known != NULL ? known->class : fault_of_status(status);
    char code[32];
    snprintf(code, sizeof(code), "HTTP %lld", (long long)status);
    bool inside = status == 200;
    fault_set(&self->fault, class != FAULT_NONE ? class : FAULT_SERVER, "%s%s%.160s",
              inside ? "" : code, inside || message[0] == '\0' ? "" : ": ",
              inside && message[0] == '\0' ? "the provider reports an error" : message);
    self->fault.final = known != NULL && known->final;
}

void reply_refuse(reply *self, const char *why)
{
    reply_add_text(self, why);
    reply_stop(self, PROVIDER_STOP_REFUSED);
    self->ended = true;
}

void reply_bad(reply *self, const char *what)
{
    fault_set(&self->fault, FAULT_BAD_RESPONSE, "%s", what);
}
