/* yaml - YAML into the JSON model (libyaml inside, nowhere else)
 *
 * Purpose:   one strict subset: a single document, mappings with plain string keys, sequences,
 *            scalars by the YAML 1.2 core schema (true/false, null, ints, floats; quoted = string).
 *            0x1f, 0o17, .inf and .nan are refused rather than read. Anchors, aliases, tags, merge keys
 *            and duplicate keys are refused. At most YAML_SIZE_MAX bytes.
 * Ownership: caller owns the document.
 * Threads:   safe.
 * Errors:    ERR_CONFIG "file:line: …". The document knows the line of every value.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_YAML_H
#define CE_COMMON_YAML_H

#include "common/json.h"

enum { YAML_SIZE_MAX = 4 * 1024 * 1024 };

json_doc *yaml_parse(const char *text, size_t size, const char *origin, err *e);
json_doc *yaml_load(const char *path, err *e);

#endif
