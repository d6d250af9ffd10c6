/* host - what a node says of the machine that it runs on
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"

enum { TEXT_MAX = 4 * 1024 * 1024 };

bool host_fact(const char *text, const char *name, char out[HOST_FACT_MAX])
{
    str rest = str_of(text), line;
    size_t size = strlen(name);
    while (str_line(&rest, &line)) {
        const char *colon = memchr(line.data, ':', line.size);
        if (colon == NULL || line.size < size || memcmp(line.data, name, size) != 0)
            continue;
        str before = str_trim((str){line.data, (size_t)(colon - line.data)});
        if (!str_equal(before, name))
            continue;
        str value = str_trim((str){colon + 1, line.size - (size_t)(colon + 1 - line.data)});
        snprintf(out, HOST_FACT_MAX, "%.*s", (int)value.size, value.data);
        return true;
    }
    return false;
}

static bool fact_of_file(const char *path, const char *name, char out[HOST_FACT_MAX])
{
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_MAX);
    return file_read(path, &text, NULL) == 0 && host_fact(buf_text(&text), name, out);
}

static void set_memory(json *out)
{
    char text[HOST_FACT_MAX];
    int64_t kib;
    if (!fact_of_file("/proc/meminfo", "MemTotal", text)) {
        json_set_null(out, "memory_bytes");
        return;
    }
    text[strcspn(text, " ")] = '\0';
    if (str_to_i64(text, &kib))
        json_set_int(out, "memory_bytes", kib * 1024);
    else
        json_set_null(out, "memory_bytes");
}

json *host_json(const char *version)
{
    char cpu[HOST_FACT_MAX];
    struct utsname system;
    json *out = json_new_object();
    bool named = uname(&system) == 0;
    json_set_str(out, "ce", version);
    json_set_str(out, "kernel", named ? system.release : NULL);
    json_set_str(out, "machine", named ? system.machine : NULL);
    json_set_str(out, "cpu", fact_of_file("/proc/cpuinfo", "model name", cpu) ? cpu : NULL);
    json_set_int(out, "cores", sysconf(_SC_NPROCESSORS_ONLN));
    set_memory(out);
    return out;
}
