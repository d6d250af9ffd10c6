/* fake_provider - the scripted model server of fake_provider.py, from a test in C
 *
 * Purpose:   starts the server, gives it scripts, asks what it was asked.
 * Ownership: fake_provider_stop kills the server.
 * Threads:   one owner.
 * Errors:    fail the test.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_SUPPORT_FAKE_PROVIDER_H
#define CE_TESTS_SUPPORT_FAKE_PROVIDER_H

#include <stddef.h>

#include "common/json.h"

#define FAKE_PROVIDER_KEY "canary-7f3a91d2"

typedef struct fake_provider fake_provider;

fake_provider *fake_provider_start(void);
void fake_provider_stop(fake_provider **self);
/* fake_provider_base: "http://127.0.0.1:PORT". */
const char *fake_provider_base(const fake_provider *self);
/* fake_provider_steps sets a script of one rule with these steps ("{…}, {…}") and forgets the log. */
void fake_provider_steps(const fake_provider *self, const char *steps);
/* fake_provider_log: the requests served since then, as an array; caller owns. */
json *fake_provider_log(const fake_provider *self);
size_t fake_provider_served(const fake_provider *self);

#endif
