/* host - what a node says of the machine that it runs on
 *
 * Purpose:   kernel, processor, cores and memory, for the record of a run. No name of host or user.
 * Ownership: host_json gives an owned object.
 * Threads:   safe.
 * Errors:    none: what cannot be read is null.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_HOST_H
#define CE_AGENT_NODE_HOST_H

#include "common/json.h"

enum { HOST_FACT_MAX = 128 };

/* host_json: `version` is of ce. */
json *host_json(const char *version);
/* host_fact gives the value of the first line "name : value" of such a text, as in /proc/cpuinfo; false
 * without one. */
bool host_fact(const char *text, const char *name, char out[HOST_FACT_MAX]);

#endif
