/* zip - zstd in one call
 *
 * Purpose:   compress and restore artifacts.
 * Ownership: out is a caller's buf whose maximum bounds the restored size.
 * Threads:   safe.
 * Errors:    ERR_LIMIT past the maximum, ERR_PROTOCOL for damaged data.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_ZIP_H
#define CE_COMMON_ZIP_H

#include "common/buf.h"
#include "common/err.h"

int zip_pack(const void *data, size_t size, buf *out, err *e);
int zip_unpack(const void *data, size_t size, buf *out, err *e);

#endif
