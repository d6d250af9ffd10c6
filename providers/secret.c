/* secret - API keys, by name
 *
 * SPDX-License-Identifier: MIT */
#include "providers/secret.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"

static int keep(const char *name, const char *text, secret *out, err *e)
{
    size_t size = strlen(text);
    while (size > 0 && isspace((unsigned char)text[size - 1])) {
        size--;
    }
    if (size >= SECRET_MAX) {
        return err_set(e, ERR_CONFIG, "%s is longer than %d characters", name, SECRET_MAX - 1);
    }
    for (size_t i = 0; i < size; i++) {
        if (text[i] <= ' ' || text[i] > '~') {
            return err_set(e, ERR_CONFIG, "%s holds a blank or a character that no key has", name);
        }
    }
    memcpy(out->value, text, size);
    out->value[size] = '\0';
    return 0;
}

static int read_file(const char *folder, const char *name, secret *out, err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    SCOPED(buf_fini) buf content;
    buf_init(&content, (size_t)SECRET_MAX * 2);
    if (!file_exists(path)) {
        return 0;
    }
    int rc = file_read(path, &content, e);
    rc = rc == 0 ? keep(name, buf_text(&content), out, e) : -1;
    if (content.data != NULL) {
        explicit_bzero(content.data, content.size);
    }
    return rc;
}

int secret_read(const char *name, secret *out, err *e)
{
    const char *value = getenv(name);
    const char *folder = getenv("CE_CREDENTIALS");
    out->value[0] = '\0';
    if (value != NULL && value[0] != '\0') {
        return keep(name, value, out, e);
    }
    folder = folder != NULL && folder[0] != '\0' ? folder : getenv("CREDENTIALS_DIRECTORY");
    return folder != NULL && folder[0] != '\0' ? read_file(folder, name, out, e) : 0;
}

void secret_fini(secret *self)
{
    explicit_bzero(self->value, sizeof(self->value));
}

void secret_hide(const secret *self, char *text)
{
    static const char mask[] = "[key]";
    size_t size = strlen(self->value);
    if (size == 0) {
        return;
    }
    for (char *at = strstr(text, self->value); at != NULL; at = strstr(at, self->value)) {
        size_t kept = size < sizeof(mask) - 1 ? size : sizeof(mask) - 1;
        memcpy(at, mask, kept);
        memmove(at + kept, at + size, strlen(at + size) + 1);
        at += kept;
    }
}
