/* curve - key pairs of the encrypted transport, and the files that hold them
 *
 * SPDX-License-Identifier: MIT */
#include "wire/curve.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include "common/hash.h"
#include "common/json.h"
#include "common/scoped.h"

enum { Z85_TEXT = 41, FILE_MODE = 0600, OTHERS = 077 };

/* ---- keys ---- */

int curve_new(curve_pair *out, err *e)
{
    char open[Z85_TEXT], secret[Z85_TEXT];
    if (zmq_curve_keypair(open, secret) < 0)
        return err_set(e, ERR_SYSTEM, "cannot make keys: this libzmq was built without CURVE");
    zmq_z85_decode(out->open.bytes, open);
    zmq_z85_decode(out->secret.bytes, secret);
    explicit_bzero(secret, sizeof(secret));
    return 0;
}

void curve_wipe(curve_pair *self)
{
    explicit_bzero(self, sizeof(*self));
}

bool curve_equal(const curve_key *a, const curve_key *b)
{
    return memcmp(a->bytes, b->bytes, CURVE_KEY) == 0;
}

void curve_text(const curve_key *self, char out[CURVE_TEXT])
{
    hash digits;
    memcpy(digits.bytes, self->bytes, CURVE_KEY);
    hash_hex(&digits, out);
}

void curve_brief(const curve_key *self, char out[CURVE_BRIEF])
{
    char whole[CURVE_TEXT];
    curve_text(self, whole);
    memcpy(out, whole, CURVE_BRIEF - 1);
    out[CURVE_BRIEF - 1] = '\0';
}

bool curve_parse(const char *text, curve_key *out)
{
    hash digits;
    if (!hash_parse(text, &digits))
        return false;
    memcpy(out->bytes, digits.bytes, CURVE_KEY);
    return true;
}

bool curve_is_name(const char *text)
{
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
            return false;
    }
    return size > 0 && size < CURVE_NAME;
}

/* ---- files ---- */

static char *dump(const curve_file *file)
{
    char text[CURVE_TEXT];
    SCOPED(json_destroy) json *root = json_new_object();
    json_set_str(root, "name", file->name);
    curve_text(&file->pair.open, text);
    json_set_str(root, "public", text);
    curve_text(&file->pair.secret, text);
    json_set_str(root, "secret", text);
    explicit_bzero(text, sizeof(text));
    curve_text(&file->coordinator, text);
    json_set_str(root, "coordinator", text);
    return json_dump_pretty(root);
}

static int put(int fd, const char *text, const char *path, err *e)
{
    for (size_t left = strlen(text); left > 0;) {
        ssize_t n = write(fd, text, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, errno, "write %s", path);
        text += n;
        left -= (size_t)n;
    }
    return fsync(fd) < 0 ? err_errno(e, errno, "write %s", path) : 0;
}

int curve_save(const char *path, const curve_file *file, err *e)
{
    SCOPED(scoped_close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (fd < 0 && errno == EEXIST)
        return err_set(e, ERR_CONFLICT, "%s exists already: a key is never overwritten", path);
    if (fd < 0)
        return err_errno(e, errno, "write %s", path);
    SCOPED(scoped_free) char *text = dump(file);
    int rc = put(fd, text, path, e);
    explicit_bzero(text, strlen(text));
    if (rc < 0)
        unlink(path);
    return rc;
}

/* A secret that others can read is none: say so instead of using it. */
static int check_mode(const char *path, err *e)
{
    struct stat found;
    if (stat(path, &found) < 0)
        return err_errno(e, errno, "read the key file %s", path);
    if (found.st_mode & OTHERS)
        return err_set(e, ERR_DENIED, "%s can be read by others (mode %04o): chmod 600 %s", path,
                       (unsigned)(found.st_mode & 07777), path);
    return 0;
}

static int want_key(const json_cursor *root, const char *name, curve_key *out, err *e)
{
    json_cursor at;
    const char *text;
    if (json_member(root, name, &at, e) < 0 || json_want_str(&at, &text, e) < 0)
        return -1;
    return curve_parse(text, out) ? 0 : json_fail(&at, e, "a key has 64 hex digits");
}

int curve_load(const char *path, curve_file *out, err *e)
{
    static const char *const keys[] = {"name", "public", "secret", "coordinator", NULL};
    json_cursor at;
    const char *name;
    curve_file got = {.name = ""};
    if (check_mode(path, e) < 0)
        return -1;
    SCOPED(json_doc_destroy) json_doc *doc = json_load(path, e);
    if (doc == NULL)
        return -1;
    json_cursor root = json_root(doc);
    if (json_only_keys(&root, keys, e) < 0 || json_member(&root, "name", &at, e) < 0 ||
        json_want_str(&at, &name, e) < 0)
        return -1;
    if (!curve_is_name(name))
        return json_fail(&at, e, "a key's name has at most 48 letters, digits, - and _");
    memccpy(got.name, name, 0, sizeof(got.name) - 1);
    if (want_key(&root, "public", &got.pair.open, e) < 0 ||
        want_key(&root, "secret", &got.pair.secret, e) < 0 ||
        want_key(&root, "coordinator", &got.coordinator, e) < 0)
        return -1;
    *out = got;
    curve_wipe(&got.pair);
    return 0;
}
