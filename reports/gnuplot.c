/* gnuplot - draws data by a template
 *
 * gnuplot reads two files: the data, handed over as an unnamed file on descriptor 3, and the template.
 *
 * SPDX-License-Identifier: MIT */
#include "reports/gnuplot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/subproc.h"
#include "common/xalloc.h"

enum { DEADLINE_MS = 60000, LOG_MAX = 16 * 1024, DATA_FD = 3 };

/* ---- data ---- */

void gnuplot_text(buf *out, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        bool plain = c >= 0x80 || (c >= ' ' && c < 0x7f && strchr("\"'`@\\$", c) == NULL);
        buf_add(out, plain ? p : "_", 1);
    }
}

void gnuplot_block(buf *out, const char *name, const buf *rows, const char *outside)
{
    buf_printf(out, "$%s << EOD\n%s%sEOD\n", name, buf_text(rows), outside);
}

/* ---- the child ---- */

static char *template_path(const char *name, err *e)
{
    SCOPED(scoped_free) char *self = file_self_dir(e);
    if (self == NULL)
        return NULL;
    SCOPED(scoped_free) char *installed = xasprintf("%s/../share/ce/gp/%s.gp", self, name);
    SCOPED(scoped_free) char *source = xasprintf(CE_SOURCE_DIR "/reports/gp/%s.gp", name);
    if (file_exists(installed))
        return TAKE(installed);
    if (file_exists(source))
        return TAKE(source);
    err_set(e, ERR_NOT_FOUND, "%s is missing from the installation", installed);
    return NULL;
}

/* A memory file that gnuplot opens as /dev/fd/3. */
static int data_file(const buf *data, err *e)
{
    SCOPED(scoped_close) int fd = memfd_create("plot", MFD_CLOEXEC);
    if (fd < 0)
        return err_errno(e, errno, "memory file");
    for (size_t done = 0; done < data->size;) {
        ssize_t n = write(fd, data->data + done, data->size - done);
        if (n < 0)
            return err_errno(e, errno, "memory file");
        done += (size_t)n;
    }
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_errno(e, errno, "memory file");
    int given = fd;
    fd = -1;
    return given;
}

/* A template draws PNG where the variable `png` is there. */
static int run_gnuplot(const char *template, int data, bool png, buf *picture, err *e)
{
    SCOPED(buf_fini) buf log = {0};
    buf_init(&log, LOG_MAX);
    const char *const argv[] = {"gnuplot",   "-d",     "-e", png ? "png = 1" : "",
                                "/dev/fd/3", template, NULL};
    const subproc_fd fds[] = {{data, DATA_FD}};
    subproc_options options = {.argv = argv, .fds = fds, .fd_count = 1};
    int status = 0;
    err why = {0};
    if (subproc_run(&options, DEADLINE_MS, picture, &log, &status, &why) < 0) {
        if (why.code == ERR_NOT_FOUND)
            return err_set(e, ERR_UNAVAILABLE, "gnuplot is not installed");
        return err_set(e, why.code, "%s", why.text);
    }
    if (status != 0 || !str_starts(buf_text(picture), png ? "\x89PNG" : "<?xml"))
        return err_set(e, ERR_INTERNAL, "gnuplot failed: %.160s", buf_text(&log));
    return 0;
}

/* For a reader in the dark every colour is turned around and its hue turned back; for one who sees no
 * picture there are words. */
static void dress(const buf *drawn, const char *alt, buf *svg)
{
    static const char style[] =
        "<style>@media (prefers-color-scheme: dark){svg{filter:invert(1) hue-rotate(180deg)}}"
        "</style>\n";
    const char *text = buf_text(drawn);
    const char *root = strstr(text, "<svg");
    const char *end = root != NULL ? strchr(root, '>') : NULL;
    size_t head = end != NULL ? (size_t)(end + 1 - text) : 0;
    buf_add(svg, text, head);
    if (end != NULL)
        buf_printf(svg, "\n<title>%s</title>\n%s", alt, style);
    buf_puts(svg, text + head);
}

int gnuplot_draw(const gnuplot_job *job, buf *picture, err *e)
{
    SCOPED(scoped_free) char *template = template_path(job->template, e);
    if (template == NULL)
        return -1;
    SCOPED(scoped_close) int fd = data_file(job->data, e);
    if (fd < 0)
        return -1;
    SCOPED(buf_fini) buf drawn = {0};
    buf_init(&drawn, GNUPLOT_SVG_MAX);
    if (run_gnuplot(template, fd, job->png, &drawn, e) < 0)
        return -1;
    if (job->png)
        return buf_add(picture, drawn.data, drawn.size);
    dress(&drawn, job->alt, picture);
    return 0;
}
