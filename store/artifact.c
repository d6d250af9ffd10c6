/* artifact - content-addressed blobs, compressed
 *
 * SPDX-License-Identifier: MIT */
#include "store/artifact.h"

#include <string.h>

#include "common/scoped.h"
#include "common/zip.h"
#include "store/db.h"

int artifact_has(store_tx *tx, const hash *name, bool *out, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s =
        db_prepare(tx, "SELECT 1 FROM artifact WHERE hash = ?1 AND length(data) > 0", e);
    if (s == NULL)
        return -1;
    db_hash(s, 1, name);
    int got = db_step(tx, s, e);
    if (got < 0)
        return -1;
    *out = got == 1;
    return 0;
}

static int insert(store_tx *tx, const hash *name, size_t size, const buf *packed, err *e)
{
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx,
                                 "INSERT INTO artifact (hash, size, data) VALUES (?1, ?2, ?3) "
                                 "ON CONFLICT (hash) DO UPDATE SET data = excluded.data",
                                 e);
    if (s == NULL)
        return -1;
    db_hash(s, 1, name);
    db_int(s, 2, (int64_t)size);
    sqlite3_bind_blob64(s, 3, packed->data, packed->size, SQLITE_STATIC);
    return db_write(tx, s, e);
}

int artifact_put(store_tx *tx, const void *data, size_t size, hash *out, err *e)
{
    if (size > ARTIFACT_MAX)
        return err_set(e, ERR_LIMIT, "an artifact of %zu bytes is above the maximum of %d", size,
                       ARTIFACT_MAX);
    hash name = hash_of(data, size);
    bool there;
    if (artifact_has(tx, &name, &there, e) < 0)
        return -1;
    if (!there) {
        SCOPED(buf_fini) buf packed = {0};
        buf_init(&packed, (size_t)ARTIFACT_MAX + (size_t)ARTIFACT_MAX / 128);
        if (zip_pack(data, size, &packed, e) < 0 || insert(tx, &name, size, &packed, e) < 0)
            return err_wrap(e, "artifact");
    }
    if (out != NULL)
        *out = name;
    return 0;
}

int artifact_put_text(store_tx *tx, const char *text, hash *out, err *e)
{
    if (text != NULL)
        return artifact_put(tx, text, strlen(text), out, e);
    if (out != NULL)
        memset(out, 0, sizeof *out);
    return 0;
}

static int unpack(sqlite3_stmt *s, const hash *name, const char *hex, buf *out, err *e)
{
    SCOPED(buf_fini) buf plain = {0};
    buf_init(&plain, ARTIFACT_MAX);
    size_t packed = (size_t)sqlite3_column_bytes(s, 0);
    if (zip_unpack(sqlite3_column_blob(s, 0), packed, &plain, e) < 0)
        return err_wrap(e, "artifact %s", hex);
    hash found = hash_of(plain.data, plain.size);
    if (!hash_equal(&found, name))
        return err_set(e, ERR_PROTOCOL, "artifact %s is damaged: its bytes have another hash", hex);
    if (buf_add(out, plain.data, plain.size) < 0)
        return err_set(e, ERR_LIMIT, "artifact %s: %zu bytes are more than the caller takes", hex,
                       plain.size);
    return 0;
}

int artifact_get(store_tx *tx, const hash *name, buf *out, err *e)
{
    char hex[HASH_HEX];
    hash_hex(name, hex);
    SCOPED(db_reset)
    sqlite3_stmt *s = db_prepare(tx, "SELECT data FROM artifact WHERE hash = ?1", e);
    if (s == NULL)
        return -1;
    db_hash(s, 1, name);
    int got = db_step(tx, s, e);
    if (got == 0)
        return err_set(e, ERR_NOT_FOUND, "there is no artifact %s", hex);
    if (got > 0 && sqlite3_column_bytes(s, 0) == 0)
        return err_set(e, ERR_NOT_FOUND, "the text %.12s was redacted", hex);
    return got < 0 ? -1 : unpack(s, name, hex, out, e);
}
