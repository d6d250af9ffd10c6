/* fixture - a request as the tests of the back ends put it
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_PROVIDERS_FIXTURE_H
#define CE_TESTS_PROVIDERS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "providers/provider.h"

static const char fixture_contract[] =
    "{\"problem\":\"copy\",\"inputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[\"n\"]}],"
    "\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[\"n\"]}]}";

static inline provider_material fixture_material(void)
{
    return (provider_material){.contract = fixture_contract,
                               .gold_source = "__global__ void k() {}",
                               .gold_plan = "{\"kernels\": []}"};
}

static inline provider_request fixture_request(const provider_material *material, const char *stage,
                                               int64_t index)
{
    static const provider_turn turns[] = {{"user", "write it"}};
    return (provider_request){.stage = stage,
                              .index = index,
                              .problem = "copy",
                              .system = "rules",
                              .turns = turns,
                              .turn_count = 1,
                              .material = material};
}

#endif
