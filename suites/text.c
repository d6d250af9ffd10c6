/* text - one text file of a problem's folder
 *
 * SPDX-License-Identifier: MIT */
#include "suites/text.h"

#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"

int text_read(const char *folder, const char *name, char **out, err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    SCOPED(buf_fini) buf text;
    buf_init(&text, SUITE_FILE_MAX);
    if (file_read(path, &text, e) < 0)
        return -1;
    if (str_trim(str_of(buf_text(&text))).size == 0)
        return err_set(e, ERR_CONFIG, "%s: the file is empty", path);
    if (memchr(text.data, '\0', text.size) != NULL)
        return err_set(e, ERR_CONFIG, "%s: the file holds a NUL byte", path);
    if (str_utf8_valid(text.data, text.size) != text.size)
        return err_set(e, ERR_CONFIG, "%s: the file is not UTF-8", path);
    *out = buf_take(&text);
    return 0;
}
