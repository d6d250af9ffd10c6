/* folder - a throw-away suite on disk
 *
 * Purpose:   a folder under /tmp with one good problem, whose files a test then breaks.
 * Ownership: folder_create gives the root's path; folder_destroy removes the tree and frees it.
 * Threads:   one owner.
 * Errors:    abort: a test that cannot write /tmp has nothing to say.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_UNIT_SUITES_FOLDER_H
#define CE_TESTS_UNIT_SUITES_FOLDER_H

#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

#define FOLDER_YAML                   \
    "id: twice\n"                     \
    "title: Twice a vector\n"         \
    "category: elementwise\n"         \
    "dims: {n: [0, 1000]}\n"          \
    "inputs:\n"                       \
    "  x: {dtype: f32, shape: [n]}\n" \
    "outputs:\n"                      \
    "  y: {dtype: f32, shape: [n]}\n" \
    "reduction: 1\n"                  \
    "values: [normal]\n"              \
    "shapes: [{n: 0}, {n: 7}]\n"      \
    "benchmark: {n: 1000}\n"
#define FOLDER_PLAN \
    "{\"kernels\":[{\"entry\":\"twice\",\"grid\":[1],\"block\":[32],\"args\":[\"x\",\"y\"]}]}\n"
#define FOLDER_SUITE "id: small\nversion: \"1\"\ntitle: A small suite\nproblems: [twice]\n"

static inline void folder_write(const char *root, const char *name, const void *data, size_t size)
{
    SCOPED(scoped_free) char *path = file_join(root, name);
    SCOPED(scoped_free) char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));
    if (file_mkdirs(parent, NULL) < 0 || file_write(path, data, size, NULL) < 0)
        abort();
}

static inline void folder_text(const char *root, const char *name, const char *text)
{
    folder_write(root, name, text, strlen(text));
}

static inline char *folder_create(void)
{
    char *root = xstrdup("/tmp/ce-suites-XXXXXX");
    if (mkdtemp(root) == NULL)
        abort();
    folder_text(root, "small/suite.yaml", FOLDER_SUITE);
    folder_text(root, "small/twice/problem.yaml", FOLDER_YAML);
    folder_text(root, "small/twice/prompt.md", "Double x.\n");
    folder_text(root, "small/twice/reference.py", "def reference(x):\n    return x + x\n");
    folder_text(root, "small/twice/gold.cu", "// twice\n");
    folder_text(root, "small/twice/gold.json", FOLDER_PLAN);
    return root;
}

static inline void folder_destroy(char **root)
{
    if (*root != NULL && file_remove_tree(*root, NULL) < 0)
        abort();
    free(*root);
    *root = NULL;
}

#endif
