/* fuzz_answer - whatever a model writes, taken apart
 *
 * What was found is put between longer fences and taken apart again: it must come out the same (but for
 * carriage returns, one of which is dropped at each line's end).
 *
 * SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/stages/answer.h"
#include "common/scoped.h"
#include "common/xalloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* Backticks that no run in the text reaches. */
static char *longer_fence(const char *text)
{
    size_t longest = 2;
    size_t run = 0;
    for (const char *c = text; *c != '\0'; c++) {
        run = *c == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    char *fence = xmalloc(longest + 2);
    memset(fence, '`', longest + 1);
    fence[longest + 1] = '\0';
    return fence;
}

static void read_again(const answer_candidate *first)
{
    if (strchr(first->source, '\r') != NULL || strchr(first->plan, '\r') != NULL) {
        return;
    }
    char why[ANSWER_WHY_MAX] = "";
    answer_candidate second = {0};
    SCOPED(scoped_free) char *a = longer_fence(first->source);
    SCOPED(scoped_free) char *b = longer_fence(first->plan);
    SCOPED(scoped_free)
    char *text = xasprintf("%scuda\n%s%s\n%sjson\n%s%s\n", a, first->source, a, b, first->plan, b);
    must(answer_read_candidate(text, &second, why) == 0);
    must(strcmp(first->source, second.source) == 0 && strcmp(first->plan, second.plan) == 0);
    answer_candidate_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[ANSWER_WHY_MAX] = "";
    answer_candidate found = {0};
    SCOPED(scoped_free) char *text = xmalloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    if (answer_read_candidate(text, &found, why) == 0) {
        read_again(&found);
        answer_candidate_fini(&found);
    } else {
        must(found.source == NULL && found.plan == NULL && why[0] != '\0');
    }
    why[0] = '\0';
    SCOPED(scoped_free) char *block = answer_read_json(text, why);
    must((block != NULL) == (why[0] == '\0'));
    return 0;
}
