/* signature - signs a file with an ssh key, and checks it
 *
 * SPDX-License-Identifier: MIT */
#include "reports/signature.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/subproc.h"
#include "common/xalloc.h"

enum { DEADLINE_MS = 60000, WORDS_MAX = 16 * 1024 };

static const char space[] = "ce-evidence";

/* One line of what it said. */
static void first_line(buf *words)
{
    if (words->data != NULL)
        words->data[strcspn(words->data, "\r\n")] = '\0';
}

static int run(const char *const *argv, int input, const char *const *env, err *e)
{
    SCOPED(buf_fini) buf told = {0};
    SCOPED(buf_fini) buf words = {0};
    buf_init(&told, WORDS_MAX);
    buf_init(&words, WORDS_MAX);
    const subproc_fd fds[] = {{input, 0}};
    const subproc_options options = {
        .argv = argv, .env = env, .fds = fds, .fd_count = input >= 0 ? 1 : 0};
    int status = 0;
    err why = {0};
    if (subproc_run(&options, DEADLINE_MS, &told, &words, &status, &why) < 0)
        return why.code == ERR_NOT_FOUND
                   ? err_set(e, ERR_UNAVAILABLE, "ssh-keygen is not installed")
                   : err_set(e, why.code, "%s", why.text);
    first_line(&told);
    first_line(&words);
    if (status != 0)
        return err_set(e, ERR_CONFIG, "ssh-keygen says: %.160s",
                       *buf_text(&words) != '\0' ? buf_text(&words) : buf_text(&told));
    return 0;
}

int signature_make(const char *file, const char *key, const char *const *environment, err *e)
{
    SCOPED(scoped_free) char *old = xasprintf("%s.sig", file);
    if (unlink(old) < 0 && errno != ENOENT)
        return err_errno(e, errno, "%s", old);
    const char *const argv[] = {"ssh-keygen", "-Y", "sign", "-f", key, "-n", space, file, NULL};
    return run(argv, -1, environment, e);
}

int signature_check(const char *file, const signature_ask *ask, err *e)
{
    SCOPED(scoped_free) char *sig = xasprintf("%s.sig", file);
    SCOPED(scoped_close) int input = open(file, O_RDONLY | O_CLOEXEC);
    if (input < 0)
        return err_errno(e, errno, "%s", file);
    const char *const anybody[] = {"ssh-keygen", "-Y", "check-novalidate", "-n", space, "-s",
                                   sig,          NULL};
    const char *const one[] = {"ssh-keygen",  "-Y", "verify", "-f", ask->signers, "-I",
                               ask->identity, "-n", space,    "-s", sig,          NULL};
    return run(ask->signers != NULL ? one : anybody, input, NULL, e);
}
