/* fault - why a provider gave no answer
 *
 * SPDX-License-Identifier: MIT */
#include "providers/fault.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

typedef struct meaning {
    const char *name;
    err_code code;
    bool retry;    /* may the same call succeed soon? */
    bool terminal; /* no call with this key will */
    bool throttles;
} meaning;

static const meaning meanings[FAULT_CLASS_COUNT] = {
    [FAULT_NONE] = {"none", ERR_NONE, false, false, false},
    [FAULT_AUTH] = {"auth", ERR_DENIED, false, true, false},
    [FAULT_QUOTA] = {"quota", ERR_LIMIT, false, true, false},
    [FAULT_REQUEST] = {"request", ERR_CONFIG, false, false, false},
    [FAULT_RATE_LIMIT] = {"rate_limit", ERR_LIMIT, true, false, true},
    [FAULT_OVERLOADED] = {"overloaded", ERR_UNAVAILABLE, true, false, true},
    [FAULT_TIMEOUT] = {"timeout", ERR_TIMEOUT, true, false, false},
    [FAULT_BAD_RESPONSE] = {"bad_response", ERR_PROTOCOL, true, false, false},
    [FAULT_SERVER] = {"server", ERR_UNAVAILABLE, true, false, false},
};

static const struct {
    int64_t status;
    fault_class class;
} statuses[] = {
    {401, FAULT_AUTH},       {402, FAULT_QUOTA},   {403, FAULT_AUTH},       {404, FAULT_REQUEST},
    {408, FAULT_TIMEOUT},    {409, FAULT_SERVER},  {429, FAULT_RATE_LIMIT}, {498, FAULT_OVERLOADED},
    {503, FAULT_OVERLOADED}, {504, FAULT_TIMEOUT}, {520, FAULT_SERVER},     {524, FAULT_TIMEOUT},
    {529, FAULT_OVERLOADED},
};

const char *fault_class_name(fault_class class)
{
    return meanings[class].name;
}

void fault_set(fault *self, fault_class class, const char *format, ...)
{
    va_list args;
    *self = (fault){.class = class, .wait_ms = -1};
    va_start(args, format);
    vsnprintf(self->text, sizeof(self->text), format, args);
    va_end(args);
    self->text[str_utf8_valid(self->text, strlen(self->text))] = '\0';
    for (char *at = self->text; *at != '\0'; at++) {
        *at = *at == '\n' || *at == '\r' || *at == '\t' ? ' ' : *at;
    }
}

bool fault_may_retry(const fault *self)
{
    return meanings[self->class].retry && !self->final && !self->cancelled;
}

bool fault_is_terminal(const fault *self)
{
    return meanings[self->class].terminal;
}

bool fault_throttles(const fault *self)
{
    return meanings[self->class].throttles;
}

fault_class fault_of_status(int64_t status)
{
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i].status == status) {
            return statuses[i].class;
        }
    }
    if (status < 300) {
        return FAULT_NONE;
    }
    if (status < 400) {
        return FAULT_BAD_RESPONSE;
    }
    return status < 500 ? FAULT_REQUEST : FAULT_SERVER;
}

int fault_to_err(const fault *self, err *e)
{
    const meaning *m = &meanings[self->class];
    if (self->cancelled) {
        return err_set(e, ERR_CONFLICT, "%s", self->text);
    }
    err_set(e, m->code, "%s: %s", m->name, self->text);
    if (e != NULL) {
        e->retry = fault_may_retry(self);
        e->retry_after_ms = self->wait_ms > 0 ? self->wait_ms : 0;
    }
    return -1;
}
