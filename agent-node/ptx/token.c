/* token - the words of PTX text
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/ptx/token.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 64 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$';
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

token_reader token_start(const char *text, size_t size)
{
    return (token_reader){.at = text, .end = text + size, .line = 1};
}

static int skip_comment(token_reader *self, err *e)
{
    uint32_t from = self->line;
    for (self->at += 2; self->end - self->at >= 2; self->at++) {
        if (self->at[0] == '*' && self->at[1] == '/') {
            self->at += 2;
            return 0;
        }
        if (*self->at == '\n')
            self->line++;
    }
    return err_set(e, ERR_PROTOCOL, "PTX line %u: this comment has no end", from);
}

static int skip_blank(token_reader *self, err *e)
{
    while (self->at < self->end) {
        char c = *self->at;
        bool pair = self->end - self->at >= 2;
        if (c == '\n') {
            self->line++;
            self->at++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            self->at++;
        } else if (c == '/' && pair && self->at[1] == '/') {
            const char *stop = memchr(self->at, '\n', (size_t)(self->end - self->at));
            self->at = stop != NULL ? stop : self->end;
        } else if (c == '/' && pair && self->at[1] == '*') {
            if (skip_comment(self, e) != 0)
                return -1;
        } else {
            break;
        }
    }
    return 0;
}

static str upto(const token_reader *self, const char *from)
{
    return (str){from, (size_t)(self->at - from)};
}

static void read_word(token_reader *self)
{
    while (self->at < self->end && is_word(*self->at))
        self->at++;
}

/* A dotted word keeps its "::" parts: .shared::cta, .mbarrier::complete_tx::bytes. */
static int read_dot(token_reader *self, token *out, err *e)
{
    const char *from = ++self->at;
    read_word(self);
    while (self->end - self->at >= 3 && self->at[0] == ':' && self->at[1] == ':' &&
           is_word(self->at[2])) {
        self->at += 2;
        read_word(self);
    }
    out->kind = TOKEN_DOT;
    out->text = upto(self, from);
    if (out->text.size == 0)
        return err_set(e, ERR_PROTOCOL, "PTX line %u: a dot without a word", self->line);
    return 0;
}

static int read_string(token_reader *self, token *out, err *e)
{
    const char *from = ++self->at;
    while (self->at < self->end && *self->at != '"' && *self->at != '\n') {
        if (*self->at == '\\' && self->end - self->at >= 2 && self->at[1] != '\n')
            self->at++;
        self->at++;
    }
    if (self->at >= self->end || *self->at != '"')
        return err_set(e, ERR_PROTOCOL, "PTX line %u: this string has no end", self->line);
    out->kind = TOKEN_STRING;
    out->text = upto(self, from);
    self->at++;
    return 0;
}

static int bad_number(const token_reader *self, err *e)
{
    return err_set(e, ERR_PROTOCOL, "PTX line %u: this is no number", self->line);
}

/* 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX: the bits of a float. */
static int read_float_bits(token_reader *self, size_t digits, token *out, err *e)
{
    const char *from = self->at;
    uint64_t bits = 0;
    self->at += 2;
    for (size_t i = 0; i < digits; i++, self->at++) {
        int value = self->at < self->end ? hex_value(*self->at) : -1;
        if (value < 0)
            return bad_number(self, e);
        bits = bits << 4 | (uint64_t)value;
    }
    out->kind = TOKEN_FLOAT;
    out->wide = digits == 16;
    out->bits = bits;
    out->text = upto(self, from);
    return 0;
}

static int read_decimal(token_reader *self, const char *from, token *out, err *e)
{
    bool exponent = false;
    while (self->at < self->end) {
        char c = *self->at;
        bool sign = (c == '+' || c == '-') && (self->at[-1] == 'e' || self->at[-1] == 'E');
        if (!is_digit(c) && c != '.' && !sign && (exponent || (c != 'e' && c != 'E')))
            break;
        exponent = exponent || c == 'e' || c == 'E';
        self->at++;
    }
    char text[NUMBER_MAX];
    out->text = upto(self, from);
    if (out->text.size >= sizeof text)
        return bad_number(self, e);
    memcpy(text, from, out->text.size);
    text[out->text.size] = '\0';
    char *stop = NULL;
    double value = strtod(text, &stop);
    if (stop == text || *stop != '\0')
        return bad_number(self, e);
    out->kind = TOKEN_FLOAT;
    out->wide = true;
    memcpy(&out->bits, &value, sizeof value);
    return 0;
}

static unsigned read_base(token_reader *self)
{
    if (*self->at != '0' || self->end - self->at < 2)
        return 10;
    char next = self->at[1];
    unsigned base = next == 'x' || next == 'X' ? 16 : next == 'b' || next == 'B' ? 2 : 8;
    self->at += base == 8 ? 1 : 2;
    return base;
}

static int read_digits(token_reader *self, unsigned base, uint64_t *bits, err *e)
{
    *bits = 0;
    for (; self->at < self->end; self->at++) {
        int value = hex_value(*self->at);
        if (value < 0 || (unsigned)value >= base)
            break;
        if (*bits > (UINT64_MAX - (uint64_t)value) / base)
            return err_set(e, ERR_PROTOCOL, "PTX line %u: this number has over 64 bits",
                           self->line);
        *bits = *bits * base + (uint64_t)value;
    }
    return 0;
}

static int read_int(token_reader *self, token *out, err *e)
{
    const char *from = self->at;
    unsigned base = read_base(self);
    const char *digits = self->at;
    uint64_t bits = 0;
    if (read_digits(self, base, &bits, e) < 0)
        return -1;
    if (self->at == digits && base != 8)
        return bad_number(self, e);
    if (self->at < self->end && *self->at == 'U')
        self->at++;
    if (self->at < self->end && is_word(*self->at))
        return bad_number(self, e);
    out->kind = TOKEN_INT;
    out->bits = bits;
    out->text = upto(self, from);
    return 0;
}

static int read_number(token_reader *self, token *out, err *e)
{
    const char *from = self->at;
    char mark = from[0] == '0' && self->end - from >= 2 ? from[1] : '\0';
    if (mark == 'f' || mark == 'F')
        return read_float_bits(self, 8, out, e);
    if (mark == 'd' || mark == 'D')
        return read_float_bits(self, 16, out, e);
    const char *look = from;
    while (look < self->end && is_digit(*look))
        look++;
    if (look < self->end && (*look == '.' || *look == 'e' || *look == 'E')) {
        self->at = look + 1;
        if (*look != '.')
            self->at = look;
        return read_decimal(self, from, out, e);
    }
    return read_int(self, out, e);
}

static int read_punct(token_reader *self, token *out, err *e)
{
    char c = *self->at;
    if (c == '\0' || strchr("{}()[]<>,;:=+-*/%!~&|^?@#", c) == NULL)
        return err_set(e, ERR_PROTOCOL, "PTX line %u: unexpected byte 0x%02x", self->line,
                       (unsigned)(unsigned char)c);
    out->kind = TOKEN_PUNCT;
    out->punct = c;
    out->text = (str){self->at++, 1};
    return 0;
}

int token_next(token_reader *self, token *out, err *e)
{
    *out = (token){.kind = TOKEN_END};
    if (skip_blank(self, e) != 0)
        return -1;
    out->line = self->line;
    if (self->at >= self->end)
        return 0;
    const char *from = self->at;
    char c = *from;
    if (c == '.')
        return read_dot(self, out, e);
    if (c == '"')
        return read_string(self, out, e);
    if (is_digit(c))
        return read_number(self, out, e);
    if (is_name_start(c) && (c != '%' || (self->end - from >= 2 && is_word(from[1])))) {
        self->at++;
        read_word(self);
        out->kind = TOKEN_NAME;
        out->text = upto(self, from);
        return 0;
    }
    return read_punct(self, out, e);
}

bool token_is(const token *self, char punct)
{
    return self->kind == TOKEN_PUNCT && self->punct == punct;
}

bool token_is_dot(const token *self, const char *word)
{
    return self->kind == TOKEN_DOT && str_equal(self->text, word);
}
