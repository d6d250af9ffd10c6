/* price - what a model's tokens cost
 *
 * SPDX-License-Identifier: MIT */
#include "providers/price.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/json.h"

extern const unsigned char price_table[]; /* prices.json, embedded by CMake */

static json_doc *table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void drop_table(void)
{
    json_doc_destroy(&table);
}

static void read_table(void)
{
    const char *text = (const char *)price_table;
    table = json_parse(text, strlen(text), "prices.json", NULL);
    assert(table != NULL && "prices.json is tested");
    (void)atexit(drop_table); /* without it memory is merely not given back at the end */
}

static const json *rows(void)
{
    pthread_once(&once, read_table);
    return json_get(json_doc_root(table), "models");
}

const char *price_as_of(void)
{
    pthread_once(&once, read_table);
    return json_str(json_get(json_doc_root(table), "as_of"), "");
}

static bool is_date(const char *text)
{
    static const char *const forms[] = {"dddddddd", "dddd-dd-dd"};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t at = 0;
        while (forms[i][at] == 'd' ? text[at] >= '0' && text[at] <= '9'
                                   : forms[i][at] != '\0' && text[at] == forms[i][at]) {
            at++;
        }
        if (forms[i][at] == '\0' && text[at] == '\0') {
            return true;
        }
    }
    return false;
}

/* claude-haiku-4-5 is also the price of claude-haiku-4-5-20251001. */
static bool names(const char *row, const char *model)
{
    size_t size = strlen(row);
    return strncmp(row, model, size) == 0 &&
           (model[size] == '\0' || (model[size] == '-' && is_date(model + size + 1)));
}

/* Dates as text compare like dates. */
static bool holds(const json *row, const char *day)
{
    return strcmp(json_str(json_get(row, "from"), ""), day) <= 0 &&
           strcmp(day, json_str(json_get(row, "until"), "9999")) < 0;
}

static double number(const json *row, const char *key)
{
    return json_real(json_get(row, key), (double)NAN);
}

bool price_find(const char *provider, const char *model, int64_t wall_ms, int64_t prompt_tokens,
                price *out)
{
    char day[CLOCK_TEXT];
    const json *list = rows();
    clock_text(wall_ms, day);
    day[strlen("2026-11-30")] = '\0';
    for (size_t i = 0; i < json_size(list); i++) {
        const json *row = json_at(list, i);
        if (strcmp(json_str(json_get(row, "provider"), ""), provider) != 0 ||
            !names(json_str(json_get(row, "model"), ""), model) || !holds(row, day)) {
            continue;
        }
        const json *above = json_get(row, "above");
        if (above != NULL && prompt_tokens > json_int(json_get(above, "tokens"), INT64_MAX)) {
            row = above;
        }
        *out = (price){.in = number(row, "in"),
                       .out = number(row, "out"),
                       .cache_read = number(row, "cache_read"),
                       .cache_write = number(row, "cache_write")};
        return true;
    }
    return false;
}

static double part(int64_t tokens, double each)
{
    return tokens > 0 ? (double)tokens * each / 1e6 : 0.0;
}

double price_cost(const price *self, const price_tokens *used)
{
    if (used->in < 0 || used->out < 0) {
        return (double)NAN;
    }
    return part(used->in, self->in) + part(used->out, self->out) +
           part(used->cache_read, self->cache_read) + part(used->cache_write, self->cache_write);
}

static double dearest_input(const price *p)
{
    double most = p->in;
    most = p->cache_write > most ? p->cache_write : most; /* NaN is never more */
    return p->cache_read > most ? p->cache_read : most;
}

double price_worst(const char *provider, const char *model, int64_t wall_ms, int64_t input_max,
                   int64_t output_max)
{
    double most = (double)NAN;
    for (int i = 0; i < 2; i++) {
        price now;
        if (!price_find(provider, model, wall_ms + i * (int64_t)PRICE_LATER_MS, input_max, &now)) {
            return (double)NAN;
        }
        double cost = part(input_max, dearest_input(&now)) + part(output_max, now.out);
        most = most >= cost ? most : cost;
    }
    return most;
}

double price_of_call(const char *provider, const char *model, int64_t wall_ms,
                     const price_tokens *used)
{
    price found;
    int64_t prompt = used->in + (used->cache_read > 0 ? used->cache_read : 0) +
                     (used->cache_write > 0 ? used->cache_write : 0);
    return price_find(provider, model, wall_ms, prompt, &found) ? price_cost(&found, used)
                                                                : (double)NAN;
}
