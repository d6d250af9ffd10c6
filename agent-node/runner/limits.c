/* limits - see limits.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/limits.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static int close_between(unsigned first, unsigned last, err *e)
{
    if (first > last || close_range(first, last, 0) == 0)
        return 0;
    return err_errno(e, errno, "close descriptors");
}

int limits_apply(int fd, err *e)
{
    const struct rlimit none = {0, 0};
    unsigned keep = (unsigned)fd;
    pid_t parent = getppid();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return err_errno(e, errno, "ask for a death signal");
    if (getppid() != parent)
        raise(SIGKILL);
    if (setrlimit(RLIMIT_CORE, &none) < 0)
        return err_errno(e, errno, "forbid core files");
    if (keep > 3 && close_between(3, keep - 1, e) < 0)
        return -1;
    return close_between(keep < 3 ? 3 : keep + 1, ~0u, e);
}
