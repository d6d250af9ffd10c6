/* import_kernelbench - eval_results.json of a KernelBench run
 *
 * An object by problem number; each value is a list with one object a sample, in older runs that object alone. It has
 * runtimes of candidates and none of the reference, so that no speedup follows; a few forks add ref_runtime. One
 * file is one level, which it does not name.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/import.h"

enum { PROBLEMS_MAX = 1000000, SAMPLES_MAX = 100000, NAME_MAX_SIZE = 128 };

static bool is_number(const char *text)
{
    for (const char *p = text; *p != '\0'; p++)
        if (*p < '0' || *p > '9')
            return false;
    return text[0] != '\0';
}

bool import_kernelbench_is(const json *root)
{
    bool any = false;
    for (json_iter it = {0}; json_next(root, &it);) {
        if (!is_number(it.key))
            return false;
        any = true;
    }
    return any;
}

/* A time in ms; what is not above 0 stands for none. */
static int read_time(const json_cursor *sample, const char *key, double *out, err *e)
{
    json_cursor at;
    *out = (double)NAN;
    if (!json_maybe(sample, key, &at) || json_typeof(at.value) == JSON_TYPE_NULL)
        return 0;
    if (json_want_real(&at, out, e) < 0)
        return -1;
    if (!(*out > 0))
        *out = (double)NAN;
    return 0;
}

static int read_truth(const json_cursor *sample, const char *key, bool *out, err *e)
{
    json_cursor at;
    return json_member(sample, key, &at, e) < 0 ? -1 : json_want_bool(&at, out, e);
}

/* The first thing that metadata says of a failure. */
static const char *detail_of(const json *metadata, bool compiled)
{
    static const char *const keys[] = {"compilation_error_name",
                                       "compilation_error",
                                       "runtime_error_name",
                                       "runtime_error",
                                       "correctness_issue_name",
                                       "correctness_issue",
                                       "cuda_error_name",
                                       "cuda_error",
                                       "error"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *text = json_str(json_get(metadata, keys[i]), NULL);
        if (text != NULL)
            return text;
    }
    return compiled ? "not correct" : "does not compile";
}

static int read_sample(const claims_source *from, const json_cursor *sample, const char *problem,
                       int64_t number, err *e)
{
    const json *metadata = json_get(sample->value, "metadata");
    char name[NAME_MAX_SIZE];
    json_cursor at;
    bool compiled, correct;
    double candidate, reference;
    snprintf(name, sizeof name, "problem %.100s", problem);
    if (json_maybe(sample, "sample_id", &at) && json_want_int(&at, 0, SAMPLES_MAX, &number, e) < 0)
        return -1;
    if (read_truth(sample, "compiled", &compiled, e) < 0 ||
        read_truth(sample, "correctness", &correct, e) < 0 ||
        read_time(sample, "runtime", &candidate, e) < 0 ||
        read_time(sample, "ref_runtime", &reference, e) < 0)
        return -1;
    if (correct && !compiled)
        return json_fail(sample, e, "correct, and yet it does not compile");
    double speedup = correct ? reference / candidate : (double)NAN;
    claim_row claim = {.entrant = from->entrant,
                       .problem = name,
                       .sample = number,
                       .correct = correct,
                       .detail = correct ? NULL : detail_of(metadata, compiled),
                       .speedup = speedup,
                       .reason = !isnan(speedup) ? NULL
                                 : correct       ? "the file has no time of the reference"
                                                 : "it was not correct there",
                       .candidate_ms = correct ? candidate : (double)NAN,
                       .baseline_ms = correct ? reference : (double)NAN,
                       .baseline = isnan(speedup) ? NULL : "ref_runtime",
                       .device = json_str(json_get(metadata, "hardware"), NULL)};
    claims_add(from, "kernelbench", &claim);
    return 0;
}

static int read_problem(const claims_source *from, const json_cursor *problem, err *e)
{
    size_t n;
    if (json_typeof(problem->value) == JSON_TYPE_OBJECT)
        return read_sample(from, problem, problem->key, 0, e);
    if (json_want_array(problem, SAMPLES_MAX, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        json_cursor sample;
        size_t members;
        json_element(problem, i, &sample);
        if (json_want_object(&sample, SAMPLES_MAX, &members, e) < 0 ||
            read_sample(from, &sample, problem->key, (int64_t)i, e) < 0)
            return -1;
    }
    return 0;
}

int import_kernelbench(const claims_source *from, const json_cursor *root, err *e)
{
    size_t n;
    if (json_want_object(root, PROBLEMS_MAX, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        json_cursor problem;
        json_entry(root, i, &problem);
        if (read_problem(from, &problem, e) < 0)
            return -1;
    }
    return 0;
}
