/* parser - what the parts of the PTX parser share
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

enum { EXPRESSION_DEPTH = 64 };

int parser_init(parser *self, arena *memory, const char *text, size_t size, err *e)
{
    *self = (parser){.reader = token_start(text, size), .memory = memory, .e = e};
    self->names = names_create(memory);
    list_init(&self->variables, sizeof(ptx_variable *));
    list_init(&self->functions, sizeof(ptx_function *));
    list_init(&self->files, sizeof(ptx_file));
    if (token_next(&self->reader, &self->now, e) != 0)
        return -1;
    return token_next(&self->reader, &self->next, e);
}

void parser_fini(parser *self)
{
    names_destroy(&self->names);
    list_fini(&self->variables);
    list_fini(&self->functions);
    list_fini(&self->files);
}

int parser_fail(parser *self, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return err_set(self->e, ERR_PROTOCOL, "PTX line %u: %s", self->now.line, text);
}

int parser_limit(parser *self, const char *what)
{
    return err_set(self->e, ERR_LIMIT, "PTX line %u: too many %s", self->now.line, what);
}

int parser_advance(parser *self)
{
    self->now = self->next;
    return token_next(&self->reader, &self->next, self->e);
}

bool parser_at(const parser *self, char punct)
{
    return token_is(&self->now, punct);
}

static int shown(const token *t)
{
    return t->text.size > 40 ? 40 : (int)t->text.size;
}

int parser_expect(parser *self, char punct)
{
    if (parser_at(self, punct))
        return parser_advance(self);
    if (self->now.kind == TOKEN_END)
        return parser_fail(self, "the text ends where '%c' was expected", punct);
    return parser_fail(self, "'%c' was expected, not '%.*s'", punct, shown(&self->now),
                       self->now.text.data);
}

int parser_intern(parser *self, str text, const char **out)
{
    *out = names_intern(self->names, text.data, text.size);
    return *out != NULL ? 0 : parser_limit(self, "names");
}

int parser_name(parser *self, const char **out)
{
    if (self->now.kind != TOKEN_NAME)
        return parser_fail(self, "a name was expected");
    if (parser_intern(self, self->now.text, out) != 0)
        return -1;
    return parser_advance(self);
}

int parser_u64(parser *self, uint64_t max, uint64_t *out)
{
    if (self->now.kind != TOKEN_INT || self->now.bits > max)
        return parser_fail(self, "an integer up to %llu was expected", (unsigned long long)max);
    *out = self->now.bits;
    return parser_advance(self);
}

int parser_skip_to(parser *self, char punct)
{
    while (!parser_at(self, punct)) {
        if (self->now.kind == TOKEN_END)
            return parser_expect(self, punct);
        if (parser_advance(self) != 0)
            return -1;
    }
    return parser_advance(self);
}

void *parser_get(parser *self, size_t count, size_t size)
{
    void *out = arena_get(self->memory, count, size);
    if (out == NULL)
        parser_limit(self, "parts to keep in memory");
    return out;
}

/* ---- integer constant expressions ---- */

typedef struct binary {
    const char *text; /* "<<" is two punctuation tokens */
    int level;        /* binds tighter when higher */
} binary;

static const binary binaries[] = {{"|", 1}, {"^", 2}, {"&", 3}, {"<<", 4}, {">>", 4},
                                  {"+", 5}, {"-", 5}, {"*", 6}, {"/", 6},  {"%", 6}};

static int expression(parser *self, int level, int depth, int64_t *out);

static int primary(parser *self, int depth, int64_t *out)
{
    if (depth > EXPRESSION_DEPTH)
        return parser_fail(self, "this expression is nested too deeply");
    token t = self->now;
    if (t.kind == TOKEN_INT) {
        *out = (int64_t)t.bits;
        return parser_advance(self);
    }
    if (t.kind != TOKEN_PUNCT || strchr("-+~!(", t.punct) == NULL)
        return parser_fail(self, "an integer was expected, not '%.*s'", shown(&t), t.text.data);
    if (parser_advance(self) != 0)
        return -1;
    if (t.punct == '(')
        return expression(self, 1, depth + 1, out) != 0 ? -1 : parser_expect(self, ')');
    int64_t value = 0;
    if (primary(self, depth + 1, &value) != 0)
        return -1;
    uint64_t bits = (uint64_t)value;
    *out = t.punct == '-'   ? (int64_t)(0 - bits)
           : t.punct == '~' ? (int64_t)~bits
           : t.punct == '!' ? value == 0
                            : value;
    return 0;
}

static const binary *operator_here(const parser *self)
{
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++) {
        const binary *b = &binaries[i];
        if (token_is(&self->now, b->text[0]) &&
            (b->text[1] == '\0' || token_is(&self->next, b->text[1])))
            return b;
    }
    return NULL;
}

static int apply(parser *self, char sign, int64_t a, int64_t b, int64_t *out)
{
    uint64_t x = (uint64_t)a;
    uint64_t y = (uint64_t)b;
    if ((sign == '/' || sign == '%') && (b == 0 || (a == INT64_MIN && b == -1)))
        return parser_fail(self, "this division has no value");
    if ((sign == '<' || sign == '>') && y > 63)
        return parser_fail(self, "this shift is not within 0 … 63");
    switch (sign) {
    case '|':
        *out = (int64_t)(x | y);
        break;
    case '^':
        *out = (int64_t)(x ^ y);
        break;
    case '&':
        *out = (int64_t)(x & y);
        break;
    case '<':
        *out = (int64_t)(x << y);
        break;
    case '>':
        *out = a >> y;
        break;
    case '+':
        *out = (int64_t)(x + y);
        break;
    case '-':
        *out = (int64_t)(x - y);
        break;
    case '*':
        *out = (int64_t)(x * y);
        break;
    case '/':
        *out = a / b;
        break;
    default:
        *out = a % b;
        break;
    }
    return 0;
}

static int expression(parser *self, int level, int depth, int64_t *out)
{
    if (primary(self, depth, out) != 0)
        return -1;
    for (;;) {
        const binary *b = operator_here(self);
        if (b == NULL || b->level < level)
            return 0;
        for (size_t i = 0; b->text[i] != '\0'; i++)
            if (parser_advance(self) != 0)
                return -1;
        int64_t right = 0;
        if (expression(self, b->level + 1, depth + 1, &right) != 0 ||
            apply(self, b->text[0], *out, right, out) != 0)
            return -1;
    }
}

int parser_constant(parser *self, int64_t *out)
{
    return expression(self, 1, 0, out);
}

/* ---- lists ---- */

void list_init(list *self, size_t item_size)
{
    *self = (list){.size = item_size};
}

void list_fini(list *self)
{
    free(self->items);
    *self = (list){.size = self->size};
}

void *list_add(list *self, const void *item)
{
    if (self->count == self->cap) {
        self->cap = self->cap == 0 ? 16 : self->cap * 2;
        self->items = xreallocarray(self->items, self->cap, self->size);
    }
    char *place = (char *)self->items + self->count++ * self->size;
    memcpy(place, item, self->size);
    return place;
}

void *list_seal(list *self, parser *p)
{
    void *out = parser_get(p, self->count, self->size);
    if (out != NULL && self->count != 0)
        memcpy(out, self->items, self->count * self->size);
    return out;
}
