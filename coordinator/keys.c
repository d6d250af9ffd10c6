/* keys - the secrets of this environment, so that they can be kept out of what is published
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/keys.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

enum { KEY_MAX = 64 * 1024 };

struct keys {
    char **values; /* NULL-ended */
    size_t count;
};

static void add(keys *self, const char *value)
{
    SCOPED(scoped_free) char *text = xstrdup(value);
    text[strcspn(text, "\r\n")] = '\0';
    if (text[0] == '\0')
        return;
    self->values = xreallocarray(self->values, self->count + 2, sizeof *self->values);
    self->values[self->count++] = TAKE(text);
    self->values[self->count] = NULL;
}

static void add_folder(keys *self, const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        SCOPED(scoped_free) char *path = file_join(folder, entry->d_name);
        SCOPED(buf_fini) buf text = {0};
        buf_init(&text, KEY_MAX);
        if (entry->d_name[0] != '.' && file_read(path, &text, NULL) == 0)
            add(self, buf_text(&text));
    }
    if (dir != NULL)
        closedir(dir);
}

static void add_variable(keys *self, const char *variable)
{
    static const char *const endings[] = {"_KEY", "_TOKEN", "_SECRET", "_PASSWORD", NULL};
    const char *equals = strchr(variable, '=');
    if (equals == NULL)
        return;
    SCOPED(scoped_free) char *name = xstrndup(variable, (size_t)(equals - variable));
    if (strcmp(name, "CE_CREDENTIALS") == 0 || strcmp(name, "CREDENTIALS_DIRECTORY") == 0)
        add_folder(self, equals + 1);
    for (const char *const *at = endings; *at != NULL; at++)
        if (str_ends(name, *at))
            add(self, equals + 1);
}

keys *keys_create(const char *const *environment)
{
    keys *self = xcalloc(1, sizeof *self);
    self->values = xcalloc(1, sizeof *self->values);
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
        add_variable(self, environment[i]);
    return self;
}

void keys_destroy(keys **self)
{
    if (*self == NULL)
        return;
    for (size_t i = 0; i < (*self)->count; i++) {
        explicit_bzero((*self)->values[i], strlen((*self)->values[i]));
        free((*self)->values[i]);
    }
    free((*self)->values);
    free(*self);
    *self = NULL;
}

const char *const *keys_values(const keys *self)
{
    return (const char *const *)self->values;
}
