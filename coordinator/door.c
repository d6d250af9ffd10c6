/* door - a place for each model that was asked, a bucket for each ceiling
 *
 * A ceiling is a bucket that holds one call (or the debt of one) and fills evenly over a minute. Who is
 * told to wait gets a time of his own: the moments that are given out lie one call apart.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/door.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/xalloc.h"

enum { MINUTE_MS = 60 * 1000, NAME_MAX_BYTES = 160, PER_MINUTE_MAX = 1000000000 };

typedef struct bucket {
    double level, most, fill; /* fill: a millisecond */
    int64_t at_ms;
    bool on;
} bucket;

typedef struct ceiling {
    char *name;
    bucket requests, tokens;
    int64_t promised_ms; /* the latest moment that was given to who waits */
} ceiling;

typedef struct place {
    struct place *next;
    char *provider, *model;
    int64_t until_ms; /* nobody goes before; DOOR_CLOSED */
    int complaints;   /* in a row */
    char text[ERR_TEXT_MAX];
} place;

struct door {
    bool patient;
    ceiling *ceilings;
    size_t count;
    place *first;
};

/* ---- ceilings ---- */

static int read_number(const char **at, const char *whole, int64_t *out, err *e)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(*at, &end, 10);
    if (end == *at || errno || value < 1 || value > PER_MINUTE_MAX)
        return err_set(e, ERR_USAGE,
                       "%s: write NAME=REQUESTS[,TOKENS], both a minute and from 1 to %d", whole,
                       PER_MINUTE_MAX);
    *at = end;
    *out = value;
    return 0;
}

int door_read_ceiling(const char *text, door_ceiling *out, err *e)
{
    const char *at = strchr(text, '=');
    door_ceiling got = {.name = NULL};
    if (!at || at == text || at - text > NAME_MAX_BYTES)
        return err_set(e, ERR_USAGE, "%s: write NAME=REQUESTS[,TOKENS], for example openai=500",
                       text);
    const char *name_end = at++;
    if (read_number(&at, text, &got.requests, e))
        return -1;
    if (*at == ',') {
        at++;
        if (read_number(&at, text, &got.tokens, e))
            return -1;
    }
    if (*at)
        return err_set(e, ERR_USAGE, "%s: \"%s\" is too much", text, at);
    got.name = xstrndup(text, (size_t)(name_end - text));
    *out = got;
    return 0;
}

static bucket make_bucket(int64_t per_minute)
{
    double fill = (double)per_minute / MINUTE_MS;
    return (bucket){.on = per_minute > 0, .level = 1.0, .most = 1.0, .fill = fill};
}

static void fill(bucket *self, int64_t now_ms)
{
    if (now_ms > self->at_ms) {
        self->level += (double)(now_ms - self->at_ms) * self->fill;
        self->level = self->level < self->most ? self->level : self->most;
        self->at_ms = now_ms;
    }
}

/* Milliseconds until the bucket has one (a call, or the last token of a debt). */
static int64_t bucket_wait(bucket *self, int64_t now_ms)
{
    if (!self->on)
        return 0;
    fill(self, now_ms);
    return self->level >= 1.0 ? 0 : (int64_t)((1.0 - self->level) / self->fill) + 1;
}

static bool is_for(const ceiling *self, const door_guest *to)
{
    size_t size = strlen(to->provider);
    if (strncmp(self->name, to->provider, size) != 0)
        return false;
    return !self->name[size] ||
           (self->name[size] == ':' && (strcmp(self->name + size + 1, to->model) == 0 ||
                                        (str_starts(to->model, self->name + size + 1) &&
                                         to->model[strlen(self->name + size + 1)] == '@')));
}

static int64_t ceiling_wait(ceiling *self, int64_t now_ms)
{
    int64_t requests = bucket_wait(&self->requests, now_ms);
    int64_t tokens = bucket_wait(&self->tokens, now_ms);
    int64_t wait = requests > tokens ? requests : tokens;
    if (!wait)
        return 0;
    int64_t step = (int64_t)(1.0 / self->requests.fill) + 1;
    int64_t at = now_ms + wait;
    at = self->promised_ms >= at ? self->promised_ms + step : at;
    self->promised_ms = at;
    return at - now_ms;
}

/* ---- places ---- */

static place *find(const door *self, const door_guest *to)
{
    for (place *p = self->first; p; p = p->next) {
        if (strcmp(p->provider, to->provider) == 0 && strcmp(p->model, to->model) == 0)
            return p;
    }
    return NULL;
}

static const char *address(const char *model)
{
    const char *at = strchr(model, '@');
    return at ? at : "";
}

static place *place_of(door *self, const door_guest *to)
{
    place *p = find(self, to);
    if (p)
        return p;
    p = xcalloc(1, sizeof *p);
    p->provider = xstrdup(to->provider);
    p->model = xstrdup(to->model);
    for (const place *other = self->first; other; other = other->next) {
        if (other->until_ms == DOOR_CLOSED && strcmp(other->provider, to->provider) == 0 &&
            strcmp(address(other->model), address(to->model)) == 0) {
            p->until_ms = DOOR_CLOSED;
            memcpy(p->text, other->text, sizeof p->text);
        }
    }
    p->next = self->first;
    self->first = p;
    return p;
}

/* ---- the door ---- */

door *door_create(const door_ceiling *ceilings, size_t count, bool patient)
{
    door *self = xcalloc(1, sizeof *self);
    self->patient = patient;
    self->count = count;
    self->ceilings = xcalloc(count + 1, sizeof *self->ceilings);
    for (size_t i = 0; i < count; i++)
        self->ceilings[i] = (ceiling){.name = xstrdup(ceilings[i].name),
                                      .requests = make_bucket(ceilings[i].requests),
                                      .tokens = make_bucket(ceilings[i].tokens)};
    return self;
}

void door_destroy(door **self)
{
    if (!*self)
        return;
    for (size_t i = 0; i < (*self)->count; i++)
        free((*self)->ceilings[i].name);
    for (place *p = (*self)->first, *next; p; p = next) {
        next = p->next;
        free(p->provider);
        free(p->model);
        free(p);
    }
    free((*self)->ceilings);
    free(*self);
    *self = NULL;
}

bool door_is_patient(const door *self)
{
    return self->patient;
}

int64_t door_wait(door *self, const door_guest *to, int64_t now_ms)
{
    const place *p = place_of(self, to);
    if (p->until_ms == DOOR_CLOSED)
        return DOOR_CLOSED;
    int64_t wait = p->until_ms > now_ms ? p->until_ms - now_ms : 0;
    for (size_t i = 0; !wait && i < self->count; i++) {
        if (is_for(&self->ceilings[i], to))
            wait = ceiling_wait(&self->ceilings[i], now_ms);
    }
    return wait;
}

const char *door_reason(const door *self, const door_guest *to)
{
    const place *p = find(self, to);
    return p && *p->text ? p->text : "the ceiling of the run is reached";
}

bool door_at(const door *self, size_t i, int64_t now_ms, door_state *out)
{
    const place *p = self->first;
    while (p && i-- > 0)
        p = p->next;
    if (!p)
        return false;
    int64_t wait = p->until_ms > now_ms ? p->until_ms - now_ms : 0;
    *out = (door_state){.guest = {p->provider, p->model},
                        .wait_ms = p->until_ms == DOOR_CLOSED ? DOOR_CLOSED : wait,
                        .reason = p->text};
    return true;
}

static void count_in(door *self, const door_guest *to, double requests, double tokens)
{
    for (size_t i = 0; i < self->count; i++) {
        if (is_for(&self->ceilings[i], to)) {
            self->ceilings[i].requests.level -= requests;
            self->ceilings[i].tokens.level -= tokens;
        }
    }
}

void door_enter(door *self, const door_guest *to, int64_t tokens, int64_t now_ms)
{
    for (size_t i = 0; i < self->count; i++) {
        fill(&self->ceilings[i].requests, now_ms);
        fill(&self->ceilings[i].tokens, now_ms);
    }
    count_in(self, to, 1.0, (double)tokens);
}

void door_leave(door *self, const door_guest *to, int64_t attempts_more, int64_t tokens_more)
{
    count_in(self, to, (double)attempts_more, (double)tokens_more);
}

void door_answered(door *self, const door_guest *to)
{
    place_of(self, to)->complaints = 0;
}

static void keep_text(place *p, const char *text)
{
    memset(p->text, 0, sizeof p->text);
    memccpy(p->text, text, 0, sizeof p->text - 1);
}

void door_complain(door *self, const door_guest *to, int64_t hold_ms, const char *text,
                   int64_t now_ms)
{
    place *p = place_of(self, to);
    if (p->until_ms == DOOR_CLOSED)
        return;
    if (p->until_ms <= now_ms) /* one of a burst counts */
        p->complaints++;
    keep_text(p, text);
    int64_t hold = DOOR_HOLD_MIN_MS;
    for (int i = 1; i < p->complaints && hold < DOOR_HOLD_MAX_MS / 2; i++)
        hold *= 2;
    hold = hold_ms > hold ? hold_ms : hold;
    if (!self->patient || hold > DOOR_HOLD_MAX_MS || p->complaints > DOOR_COMPLAINTS_MAX)
        p->until_ms = DOOR_CLOSED;
    else if (now_ms + hold > p->until_ms)
        p->until_ms = now_ms + hold;
}

void door_close(door *self, const door_guest *to, const char *text)
{
    keep_text(place_of(self, to), text);
    for (place *p = self->first; p; p = p->next) {
        if (strcmp(p->provider, to->provider) == 0 &&
            strcmp(address(p->model), address(to->model)) == 0) {
            p->until_ms = DOOR_CLOSED;
            keep_text(p, text);
        }
    }
}
