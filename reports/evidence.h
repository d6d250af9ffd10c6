/* evidence - a run as a folder that anybody can check
 *
 * Purpose:   pack: the data of a run, its texts, the files that follow from them, what is known of the code,
 *            and a manifest over all of it. verify: every byte is the manifest's, every figure follows from
 *            the data, the data follow from the records and samples; without a network.
 * Ownership: borrows.
 * Threads:   not from the store's own thread.
 * Errors:    evidence_verify gives -1 only when it cannot look; what it finds wrong is a finding, one
 *            sentence a line.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_REPORTS_EVIDENCE_H
#define CE_REPORTS_EVIDENCE_H

#include "common/buf.h"
#include "common/hash.h"
#include "reports/audit.h"
#include "reports/parcel.h"
#include "reports/signature.h"

typedef struct evidence_order {
    const char *run, *folder; /* the folder must not exist, or be empty */
    const char *version;      /* of the program that packs */
    const char *source;       /* checkout that the program was built from; NULL: not known */
    const char *key;          /* ssh key to sign with, or NULL */
    keyscan_list secrets;
    const char *const *environment; /* for git and ssh-keygen */
} evidence_order;

typedef struct evidence_pack {
    parcel_counts counts;
    hash manifest;
} evidence_pack;

int evidence_write(store *db, const evidence_order *order, evidence_pack *out, err *e);
/* evidence_document appends a page about a pack: its board, its hash, how to check it. */
int evidence_document(const char *folder, buf *out, err *e);

typedef struct evidence_ask {
    const char *folder;
    const char *version;  /* of the program that verifies */
    const hash *manifest; /* that it must have; NULL: any */
    signature_ask
        signer; /* who must have signed; no signers: a signature is checked if there is one */
} evidence_ask;

typedef struct evidence_verdict {
    audit_counts audit;
    parcel_counts counts;
    hash manifest;
    bool is_signed;
    size_t findings;
    buf *notes; /* what could not be looked at, one a line */
} evidence_verdict;

int evidence_verify(const evidence_ask *ask, evidence_verdict *out, buf *findings, err *e);

#endif
