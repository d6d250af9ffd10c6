/* checkout - what is known of the code that a program was built from
 *
 * SPDX-License-Identifier: MIT */
#include "reports/checkout.h"

#include <string.h>

#include "common/subproc.h"

enum { DEADLINE_MS = 60000, TEXT_MAX = 64 * 1024 * 1024, WORDS_MAX = 16 * 1024, WORDS = 4 };

static int git(const char *folder, const char *const words[WORDS], const char *const *environment,
               buf *out, err *e)
{
    buf told = {0};
    buf_init(&told, WORDS_MAX);
    const char *argv[3 + WORDS + 1] = {"git", "-C", folder};
    for (size_t i = 0; i < WORDS && words[i] != NULL; i++)
        argv[3 + i] = words[i];
    const subproc_options options = {.argv = argv, .env = environment};
    int status = 0;
    err why = {0};
    int rc = subproc_run(&options, DEADLINE_MS, out, &told, &status, &why);
    if (rc < 0 && why.code == ERR_NOT_FOUND)
        err_set(e, ERR_UNAVAILABLE, "git is not installed");
    else if (rc < 0)
        err_set(e, why.code, "%s", why.text);
    else if (status != 0)
        rc = err_set(e, ERR_CONFIG, "git says of %s: %.*s", folder,
                     (int)strcspn(buf_text(&told), "\n"), buf_text(&told));
    buf_fini(&told);
    return rc;
}

int checkout_read(const char *folder, const char *const *environment, checkout *out, err *e)
{
    static const char *const commit[WORDS] = {"rev-parse", "HEAD"};
    static const char *const status[WORDS] = {"status", "--porcelain"};
    static const char *const diff[WORDS] = {"diff", "--no-color", "--no-ext-diff", "HEAD"};
    buf_init(&out->commit, WORDS_MAX);
    buf_init(&out->status, TEXT_MAX);
    buf_init(&out->diff, TEXT_MAX);
    if (git(folder, commit, environment, &out->commit, e) < 0 ||
        git(folder, status, environment, &out->status, e) < 0 ||
        git(folder, diff, environment, &out->diff, e) < 0)
        return -1;
    if (out->commit.size > 0)
        out->commit.data[strcspn(out->commit.data, "\n")] = '\0';
    return 0;
}

void checkout_fini(checkout *self)
{
    buf_fini(&self->commit);
    buf_fini(&self->status);
    buf_fini(&self->diff);
}
