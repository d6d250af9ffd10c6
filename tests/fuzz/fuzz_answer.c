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
#include "common/str.h"
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

/* The same as one object, where the plan is one. */
static void read_as_object(const answer_candidate *first)
{
    char why[ANSWER_WHY_MAX] = "";
    answer_candidate second = {0};
    json *plan = json_parse_tree(first->plan, strlen(first->plan), "plan", NULL);
    if (json_typeof(plan) != JSON_TYPE_OBJECT || json_size(plan) > GRAMMAR_MEMBERS_MAX ||
        str_utf8_valid(first->source, strlen(first->source)) != strlen(first->source)) {
        json_destroy(&plan);
        return;
    }
    SCOPED(json_destroy) json *object = json_new_object();
    json_set_str(object, "source", first->source);
    json_set(object, "plan", &plan);
    SCOPED(scoped_free) char *text = json_dump(object);
    must(answer_read_candidate(text, &second, why) == 0);
    must(str_ends(second.source, "\n") && str_starts(second.source, first->source));
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
        read_as_object(&found);
        answer_candidate_fini(&found);
    } else {
        must(found.source == NULL && found.plan == NULL && why[0] != '\0');
    }
    why[0] = '\0';
    SCOPED(json_destroy) json *spec = answer_read_spec(text, why);
    must((spec != NULL) == (why[0] == '\0'));
    return 0;
}
