/* sandbox - what the process may still do once it compiles for strangers
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/compiler/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/str.h"

/* ---- Landlock: the kernel's interface, newer than some distributions' headers ---- */

enum {
    LL_READ_FILE = 1 << 2,
    LL_READ_DIR = 1 << 3,
    LL_ABI1 = (1 << 13) - 1, /* execute … make_sym */
    LL_REFER = 1 << 13,      /* ABI 2 */
    LL_TRUNCATE = 1 << 14,   /* ABI 3 */
    LL_IOCTL_DEV = 1 << 15,  /* ABI 5 */
    LL_TCP = 3,              /* ABI 4: bind, connect */
    LL_SCOPES = 3,           /* ABI 6: abstract sockets, signals */
    LL_CREATE_VERSION = 1,
    LL_RULE_PATH_BENEATH = 1
};

typedef struct ll_ruleset {
    uint64_t fs;
    uint64_t net;
    uint64_t scoped;
} ll_ruleset;

typedef struct __attribute__((packed)) ll_path_beneath {
    uint64_t allowed;
    int32_t parent;
} ll_path_beneath;

static int ll_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LL_CREATE_VERSION);
    return abi < 0 ? 0 : (int)abi;
}

/* handled_by says what a kernel of this ABI can forbid; *size is how much of it that kernel knows. */
static ll_ruleset handled_by(int abi, size_t *size)
{
    ll_ruleset r = {.fs = LL_ABI1};
    if (abi >= 2)
        r.fs |= LL_REFER;
    if (abi >= 3)
        r.fs |= LL_TRUNCATE;
    if (abi >= 4)
        r.net = LL_TCP;
    if (abi >= 5)
        r.fs |= LL_IOCTL_DEV;
    if (abi >= 6)
        r.scoped = LL_SCOPES;
    *size = abi >= 6 ? sizeof r : abi >= 4 ? 2 * sizeof r.fs : sizeof r.fs;
    return r;
}

static int ll_allow(int ruleset, const char *path, err *e)
{
    SCOPED(scoped_close) int fd = open(path, O_PATH | O_CLOEXEC);
    struct stat s;
    if (fd < 0)
        return errno == ENOENT ? 0 : err_errno(e, errno, "%s", path);
    if (fstat(fd, &s) != 0)
        return err_errno(e, errno, "%s", path);
    ll_path_beneath rule = {.allowed = LL_READ_FILE, .parent = fd};
    if (S_ISDIR(s.st_mode))
        rule.allowed |= LL_READ_DIR;
    if (syscall(SYS_landlock_add_rule, ruleset, LL_RULE_PATH_BENEATH, &rule, 0) != 0)
        return err_errno(e, errno, "Landlock rule for %s", path);
    return 0;
}

static int enter_landlock(const sandbox_options *options, err *e)
{
    int abi = ll_abi();
    if (abi == 0)
        return err_set(e, ERR_UNAVAILABLE, "this kernel has no Landlock");
    size_t size = 0;
    ll_ruleset handled = handled_by(abi, &size);
    SCOPED(scoped_close)
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
    if (ruleset < 0)
        return err_errno(e, errno, "Landlock ruleset");
    for (size_t i = 0; i < options->path_count; i++)
        if (ll_allow(ruleset, options->paths[i], e) != 0)
            return -1;
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
        return err_errno(e, errno, "Landlock");
    return 0;
}

/* ---- namespace: a root folder with nothing but the listed paths ---- */

static const char new_root[] = "/tmp";

static int write_text(const char *path, const char *text, err *e)
{
    SCOPED(scoped_close) int fd = open(path, O_WRONLY | O_CLOEXEC);
    size_t size = strlen(text);
    if (fd < 0 || write(fd, text, size) != (ssize_t)size)
        return err_errno(e, errno, "%s", path);
    return 0;
}

static int unshare_all(err *e)
{
    char users[64];
    char groups[64];
    snprintf(users, sizeof users, "0 %u 1", (unsigned)geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) != 0)
        return err_errno(e, errno, "a new user and mount namespace");
    if (write_text("/proc/self/uid_map", users, e) != 0 ||
        write_text("/proc/self/setgroups", "deny", e) != 0 ||
        write_text("/proc/self/gid_map", groups, e) != 0)
        return -1;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return err_errno(e, errno, "a private mount tree");
    return 0;
}

/* make_place makes the parents of a path and the place to mount on: a folder or an empty file. */
static int make_place(char *path, bool folder, err *e)
{
    for (char *at = path + strlen(new_root) + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        int rc = mkdir(path, 0755);
        *at = '/';
        if (rc != 0 && errno != EEXIST)
            return err_errno(e, errno, "%s", path);
    }
    if (folder)
        return mkdir(path, 0755) == 0 || errno == EEXIST ? 0 : err_errno(e, errno, "%s", path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return err_errno(e, errno, "%s", path);
    close(fd);
    return 0;
}

/* remount_read_only keeps the flags that a user namespace may not drop. */
static int remount_read_only(const char *path, err *e)
{
    struct statvfs s;
    unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV;
    if (statvfs(path, &s) != 0)
        return err_errno(e, errno, "%s", path);
    if ((s.f_flag & ST_NOEXEC) != 0)
        flags |= MS_NOEXEC;
    if ((s.f_flag & ST_NOATIME) != 0)
        flags |= MS_NOATIME;
    if ((s.f_flag & ST_NODIRATIME) != 0)
        flags |= MS_NODIRATIME;
    if ((s.f_flag & ST_RELATIME) != 0)
        flags |= MS_RELATIME;
    return mount(NULL, path, NULL, flags, NULL) == 0 ? 0 : err_errno(e, errno, "%s", path);
}

/* bind_path mounts an opened path at the same place below the new root. */
static int bind_path(int fd, const char *path, err *e)
{
    char source[64];
    char target[PATH_MAX];
    struct stat s;
    int size = snprintf(target, sizeof target, "%s%s", new_root, path);
    if (fstat(fd, &s) != 0 || size < 0 || (size_t)size >= sizeof target)
        return err_errno(e, errno, "%s", path);
    snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
    if (make_place(target, S_ISDIR(s.st_mode), e) != 0)
        return -1;
    if (mount(source, target, NULL, MS_BIND, NULL) != 0)
        return err_errno(e, errno, "%s", path);
    return remount_read_only(target, e);
}

static void close_all(int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        scoped_close(&fds[i]);
}

/* fill_root opens every path before the new root hides /tmp, then mounts them. */
static int fill_root(const sandbox_options *options, err *e)
{
    int fds[64];
    size_t count = options->path_count;
    if (count > sizeof fds / sizeof fds[0])
        return err_set(e, ERR_LIMIT, "%zu paths for a sandbox", count);
    for (size_t i = 0; i < count; i++)
        fds[i] = open(options->paths[i], O_PATH | O_CLOEXEC);
    int rc = 0;
    if (mount("tmpfs", new_root, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") != 0)
        rc = err_errno(e, errno, "a new root folder");
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (fds[i] >= 0)
            rc = bind_path(fds[i], options->paths[i], e);
    close_all(fds, count);
    return rc;
}

static int change_root(err *e)
{
    if (chdir(new_root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
        umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
        return err_errno(e, errno, "changing to the new root folder");
    unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV;
    if (mount(NULL, "/", NULL, flags, NULL) != 0)
        return err_errno(e, errno, "a read-only root folder");
    return 0;
}

static int enter_namespace(const sandbox_options *options, err *e)
{
    if (unshare_all(e) != 0 || fill_root(options, e) != 0)
        return -1;
    return change_root(e);
}

/* ---- limits ---- */

static int limit(int resource, rlim_t value, err *e)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0)
        return err_errno(e, errno, "limits");
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < value)
        value = now.rlim_max;
    struct rlimit wanted = {value, value};
    if (setrlimit((__rlimit_resource_t)resource, &wanted) != 0)
        return err_errno(e, errno, "limits");
    return 0;
}

/* address_space is what is mapped now, in bytes; read before files are out of reach. */
static int64_t address_space(void)
{
    char text[128];
    SCOPED(scoped_close) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (size <= 0)
        return 0;
    text[size] = '\0';
    return (int64_t)strtoll(text, NULL, 10) * sysconf(_SC_PAGESIZE);
}

static int set_limits(int64_t memory_bytes, err *e)
{
    if (limit(RLIMIT_CORE, 0, e) != 0 || limit(RLIMIT_FSIZE, 0, e) != 0 ||
        limit(RLIMIT_NPROC, 0, e) != 0)
        return -1;
    return memory_bytes != 0 ? limit(RLIMIT_AS, (rlim_t)memory_bytes, e) : 0;
}

static int drop_privileges(err *e)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_capset, &header, none) != 0)
        return err_errno(e, errno, "dropping privileges");
    return 0;
}

/* ---- public ---- */

int sandbox_enter(sandbox_kind kind, const sandbox_options *options, err *e)
{
    int64_t memory = options->memory_bytes != 0 ? address_space() + options->memory_bytes : 0;
    if (kind == SANDBOX_NAMESPACE && enter_namespace(options, e) != 0)
        return -1;
    if (set_limits(memory, e) != 0 || drop_privileges(e) != 0)
        return -1;
    return kind == SANDBOX_LANDLOCK ? enter_landlock(options, e) : 0;
}

const char *sandbox_name(sandbox_kind kind)
{
    static const char *const names[] = {"none", "landlock", "namespace"};
    return names[kind];
}

/* works tries a kind in a child process. */
static bool works(sandbox_kind kind)
{
    static const char *const paths[] = {"/usr"};
    sandbox_options options = {.paths = paths, .path_count = 1};
    pid_t child = fork();
    if (child == 0)
        _exit(sandbox_enter(kind, &options, NULL) == 0 ? 0 : 1);
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

sandbox_kind sandbox_best(void)
{
    if (works(SANDBOX_LANDLOCK))
        return SANDBOX_LANDLOCK;
    return works(SANDBOX_NAMESPACE) ? SANDBOX_NAMESPACE : SANDBOX_NONE;
}
