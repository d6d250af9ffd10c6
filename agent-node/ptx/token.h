/* token - the words of PTX text
 *
 * Purpose:   cuts PTX into names, dotted words, numbers, strings and punctuation.
 * Ownership: tokens are views into the text, which must outlive them.
 * Threads:   one owner.
 * Errors:    ERR_PROTOCOL "PTX line N: …" on a character, number, string or comment that is none.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_PTX_TOKEN_H
#define CE_PTX_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/str.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_NAME,   /* ld, %rd1, $L__BB0_2, _Z1fi */
    TOKEN_DOT,    /* .global, .shared::cta: the text is without the first dot */
    TOKEN_INT,    /* value in bits */
    TOKEN_FLOAT,  /* 0f…, 0d… and decimals: IEEE bits in bits, `wide` says 64 */
    TOKEN_STRING, /* the text is without quotes */
    TOKEN_PUNCT   /* one character; "<<" and ">>" arrive as two tokens */
} token_kind;

typedef struct token {
    token_kind kind;
    char punct;    /* TOKEN_PUNCT */
    bool wide;     /* TOKEN_FLOAT: a double */
    str text;      /* as written */
    uint64_t bits; /* TOKEN_INT, TOKEN_FLOAT */
    uint32_t line; /* of the PTX text, from 1 */
} token;

typedef struct token_reader {
    const char *at;
    const char *end;
    uint32_t line;
} token_reader;

token_reader token_start(const char *text, size_t size);
/* token_next reads one token; TOKEN_END for ever at the end. */
int token_next(token_reader *self, token *out, err *e);

bool token_is(const token *self, char punct);
/* token_is_dot: a dotted word, compared without its dot. */
bool token_is_dot(const token *self, const char *word);

#endif
