/* signature - signs a file with an ssh key, and checks it
 *
 * Purpose:   runs ssh-keygen -Y as a child, namespace "ce-evidence": FILE.sig beside FILE.
 * Ownership: borrows.
 * Threads:   safe; runs one child.
 * Errors:    ERR_UNAVAILABLE: ssh-keygen is not installed; ERR_CONFIG with its words when it says no.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_SIGNATURE_H
#define CE_REPORTS_SIGNATURE_H

#include "common/err.h"

/* signature_make writes FILE.sig with a private key, or a public one whose other half ssh-agent has;
 * `environment` (NULL-ended) says where that is. A passphrase cannot be asked for. */
int signature_make(const char *file, const char *key, const char *const *environment, err *e);

/* Who may have signed: ssh's file of allowed signers and a name in it. Both NULL: anybody. */
typedef struct signature_ask {
    const char *signers, *identity;
} signature_ask;
/* signature_check: FILE.sig belongs to FILE, and to that signer. */
int signature_check(const char *file, const signature_ask *ask, err *e);

#endif
