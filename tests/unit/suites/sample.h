/* sample - a contract and quoting for the tests of suites/
 *
 * Purpose:   JSON inside C strings is written with ' for " and turned by sample_quote.
 * Ownership: results are the caller's.
 * Threads:   safe.
 * Errors:    a sample that does not parse aborts the test.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_UNIT_SUITES_SAMPLE_H
#define CE_TESTS_UNIT_SUITES_SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "suites/contract.h"

#define SAMPLE_DIMS \
    "'dims':[{'name':'rows','min':0,'max':65536},{'name':'cols','min':1,'max':16384}],"
#define SAMPLE_INPUTS                                               \
    "'inputs':[{'name':'x','dtype':'f16','shape':['rows','cols']}," \
    "{'name':'weight','dtype':'f16','shape':['cols']}],"
#define SAMPLE_SCALARS "'scalars':[{'name':'eps','dtype':'f32','value':1e-5}],"
#define SAMPLE_OUTPUTS "'outputs':[{'name':'y','dtype':'f16','shape':['rows','cols']}],"
#define SAMPLE_REST                                                      \
    "'reduction':'cols','values':['normal','zeros'],'order_free':false," \
    "'shapes':[{'rows':0,'cols':128},{'rows':3,'cols':7}],'benchmark':{'rows':4096,'cols':4096}"
#define SAMPLE_CONTRACT \
    "{'problem':'sample'," SAMPLE_DIMS SAMPLE_INPUTS SAMPLE_SCALARS SAMPLE_OUTPUTS SAMPLE_REST "}"

/* sample_quote turns ' into ". */
static inline char *sample_quote(const char *text)
{
    char *out = xstrdup(text);
    for (char *at = out; *at != '\0'; at++)
        if (*at == '\'')
            *at = '"';
    return out;
}

static inline contract *sample_contract(void)
{
    SCOPED(scoped_free) char *text = sample_quote(SAMPLE_CONTRACT);
    contract *c = contract_parse(text, strlen(text), "sample", NULL);
    if (c == NULL)
        abort();
    return c;
}

#endif
