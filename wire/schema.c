/* schema - messages.def as data: what each message consists of
 *
 * Each row of messages.def becomes a function that returns a static table: the typedef `self` inside
 * it is how a field's macro knows the struct it stands in.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/schema.h"

#include "wire/message.h"

/* clang-format off */
#define OPEN(function, struct_type, value, sender, sentence) \
    static const schema *function(void)                      \
    {                                                        \
        typedef struct_type self;                            \
        enum { number_is = (value) };                        \
        static const char from_is[] = sender;                \
        static const char doc_is[] = sentence;               \
        static const schema_field fields[] = {

#define CLOSE(word)                                                                  \
        };                                                                           \
        static const schema it = {                                                   \
            .name = #word, .number = number_is, .from = from_is, .doc = doc_is,      \
            .fields = fields, .field_count = sizeof(fields) / sizeof(fields[0]),     \
            .size = sizeof(self)};                                                   \
        return &it;                                                                  \
    }

#define FIELD(word, kind, sentence) \
    .name = #word, .type = (kind), .offset = offsetof(self, word), .doc = (sentence)

#define ROW(word, doc)                     OPEN(row_##word, struct row_##word, 0, "", doc)
#define ROW_END(word)                      CLOSE(word)
#define MSG(word, NAME, number, from, doc) OPEN(msg_##word, struct msg_##word, number, from, doc)
#define MSG_END(word)                      CLOSE(word)
#define I64(word, low, high, doc)          {FIELD(word, SCHEMA_I64, doc), .min = (low), .max = (high)},
#define F64(word, doc)                     {FIELD(word, SCHEMA_F64, doc)},
#define BOOL(word, doc)                    {FIELD(word, SCHEMA_BOOL, doc)},
#define STR(word, high, doc)               {FIELD(word, SCHEMA_STR, doc), .max = (high)},
#define BYTES(word, high, doc)             {FIELD(word, SCHEMA_BYTES, doc), .max = (high)},
#define HASH(word, doc)                    {FIELD(word, SCHEMA_HASH, doc)},
#define LIST(word, type, high, doc)        {FIELD(word, SCHEMA_LIST, doc), .max = (high), \
                                            .count_offset = offsetof(self, word##_count), \
                                            .row = row_##type},
#include "wire/messages.def"
/* clang-format on */

typedef const schema *schema_fn(void);

static schema_fn *const messages[] = {
#define MSG(word, NAME, number, from, doc) msg_##word,
#include "wire/messages.def"
};

static schema_fn *const rows[] = {
#define ROW(word, doc) row_##word,
#include "wire/messages.def"
};

/* The switches also make the compiler refuse a number that is used twice. */
const schema *schema_of(unsigned number)
{
    switch (number) {
#define MSG(word, NAME, value, from, doc) \
    case (value):                         \
        return msg_##word();
#define RETIRED(value, doc) case (value):
#include "wire/messages.def"
    default:
        return NULL;
    }
}

const char *schema_retired(unsigned number)
{
    switch (number) {
#define RETIRED(value, doc) \
    case (value):           \
        return doc;
#include "wire/messages.def"
    default:
        return NULL;
    }
}

const schema *schema_at(size_t index)
{
    return index < sizeof(messages) / sizeof(messages[0]) ? messages[index]() : NULL;
}

const schema *schema_row_at(size_t index)
{
    return index < sizeof(rows) / sizeof(rows[0]) ? rows[index]() : NULL;
}
