/* sanitizer_log - see sanitizer_log.h.
 *
 * Every line of the tool begins with nine '='; other lines are the program's. A record is a line that says what
 * was found and indented ones that say where; the summary counts records.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/sanitizer_log.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/str.h"

static const char prefix[] = "=========";

/* How a record begins, and what it means. */
typedef struct form {
    const char *begins;
    outcome result;
    const char *detail; /* "": by the rest of the line */
} form;

static const form forms[] = {
    {"Invalid __", OUTCOME_OUT_OF_BOUNDS, ""},
    {"Uninitialized __", OUTCOME_UNINITIALISED, NULL},
    {"Error: Race reported between ", OUTCOME_RACE, "shared"},
    {"Error: Potential ", OUTCOME_RACE, "shared"},
    {"Barrier error detected", OUTCOME_RACE, "barrier"},
};

/* Where and how: lines of a record that are worth telling. */
static const char *const places[] = {"at ", "by thread ", "Access ", "Address ", "and ", NULL};

/* The tool itself failed. */
static const char *const failures[] = {"Error: ", "Internal Sanitizer Error",
                                       "Target application terminated before", NULL};

typedef struct reading {
    const form *found; /* of the first record; NULL: none yet */
    bool open;         /* its lines are being gathered */
    bool misaligned, summed;
    long long count; /* of the summary */
    buf told;        /* the record */
    char failure[SANITIZER_LOG_WHY_MAX];
    char stray[SANITIZER_LOG_WHY_MAX]; /* the first line that is none of all this */
} reading;

static bool begins(str line, const char *word)
{
    size_t size = strlen(word);
    return line.size >= size && memcmp(line.data, word, size) == 0;
}

static bool begins_any(str line, const char *const *words)
{
    for (; *words != NULL; words++)
        if (begins(line, *words))
            return true;
    return false;
}

static bool contains(str line, const char *word)
{
    for (; line.size > 0; line.data++, line.size--)
        if (begins(line, word))
            return true;
    return false;
}

static const form *form_of(str line)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (begins(line, forms[i].begins))
            return &forms[i];
    return NULL;
}

static void keep(char *out, str line)
{
    if (*out == '\0')
        snprintf(out, SANITIZER_LOG_WHY_MAX, "%.*s", (int)line.size, line.data);
}

/* "ERROR SUMMARY: 3 errors", "RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)". The second
 * line of a summary, "669 errors were not printed", is none. */
static bool read_summary(reading *r, str line)
{
    const bool race = begins(line, "RACECHECK SUMMARY: ");
    char text[128];
    long long hazards = 0, errors = 0;
    if (!race && !begins(line, "ERROR SUMMARY: "))
        return false;
    snprintf(text, sizeof text, "%.*s", (int)line.size, line.data);
    const bool read = race ? sscanf(text, "RACECHECK SUMMARY: %9lld %*[a-z] displayed (%9lld",
                                    &hazards, &errors) == 2
                           : sscanf(text, "ERROR SUMMARY: %9lld", &errors) == 1;
    if (read && !r->summed && errors >= 0) {
        r->summed = true;
        r->count = errors;
    }
    return true;
}

static void tell(reading *r, str line)
{
    buf_printf(&r->told, "%s%.*s", r->told.size > 0 ? ", " : "", (int)line.size, line.data);
}

static void read_line(reading *r, str line)
{
    const form *is = form_of(line);
    if (line.size == 0 || is != NULL)
        r->open = false;
    if (is != NULL && r->found == NULL) {
        r->found = is;
        r->open = true;
        r->misaligned = false;
        tell(r, line);
    } else if (r->open && begins_any(line, places)) {
        r->misaligned = r->misaligned || contains(line, "misaligned");
        tell(r, line);
    } else if (line.size > 0 && is == NULL && !read_summary(r, line)) {
        keep(begins_any(line, failures) ? r->failure : r->stray, line);
    }
}

static const char *detail_of(const reading *r, const char *told)
{
    if (*r->found->detail != '\0')
        return r->found->detail;
    return r->misaligned ? "misaligned" : strstr(told, "__ read") != NULL ? "read" : "write";
}

/* Bytes that are no text become blanks: names of kernels are the candidate's. */
static void make_printable(char *text)
{
    for (char *c = text; *c != '\0'; c++)
        if (!isprint((unsigned char)*c))
            *c = ' ';
}

static void conclude(const reading *r, const char *tool, sanitizer_log *out)
{
    if (r->found != NULL) {
        const char *told = buf_text(&r->told);
        out->state = SANITIZER_LOG_FINDING;
        verdict_set(&out->verdict, r->found->result,
                    r->found->detail != NULL ? detail_of(r, told) : NULL, "%s: %s", tool, told);
        make_printable(out->verdict.text);
        return;
    }
    if (*r->failure != '\0')
        snprintf(out->why, sizeof out->why, "%s", r->failure);
    else if (!r->summed)
        snprintf(out->why, sizeof out->why, "it ended without a summary");
    else if (r->count > 0)
        snprintf(out->why, sizeof out->why, "%lld findings that ce cannot read: %.120s", r->count,
                 r->stray);
    else
        out->state = SANITIZER_LOG_CLEAN;
    make_printable(out->why);
}

void sanitizer_log_read(const char *tool, const char *text, size_t size, sanitizer_log *out)
{
    reading r = {.count = 0};
    str rest = {text, size}, line;
    *out = (sanitizer_log){.state = SANITIZER_LOG_UNUSABLE};
    verdict_ok(&out->verdict);
    buf_init(&r.told, RUNNER_TEXT_MAX / 2);
    while (str_line(&rest, &line))
        if (begins(line, prefix) && !contains(line, "COMPUTE-SANITIZER")) {
            const str said = {line.data + sizeof prefix - 1, line.size - (sizeof prefix - 1)};
            read_line(&r, str_trim(said));
        }
    conclude(&r, tool, out);
    buf_fini(&r.told);
}
