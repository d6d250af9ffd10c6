/* rules - thresholds of the gate, from a file
 *
 * SPDX-License-Identifier: MIT */
#include "reports/rules.h"

#include "common/json.h"
#include "common/scoped.h"
#include "common/yaml.h"

static const char *const keys[] = {"relative", "noise_factor", "noise_unknown", "floor_ms",
                                   "shift",    "canary",       "pass_alpha",    NULL};
static const size_t offsets[] = {
    offsetof(gate_rules, relative),      offsetof(gate_rules, noise_factor),
    offsetof(gate_rules, noise_unknown), offsetof(gate_rules, floor_ms),
    offsetof(gate_rules, shift),         offsetof(gate_rules, canary),
    offsetof(gate_rules, pass_alpha)};

static int read_one(const json_cursor *root, size_t i, gate_rules *out, err *e)
{
    json_cursor at;
    double value;
    if (!json_maybe(root, keys[i], &at))
        return 0;
    if (json_want_real(&at, &value, e) < 0)
        return -1;
    if (!(value >= 0))
        return json_fail(&at, e, "want a number that is not negative");
    *(double *)(void *)((char *)out + offsets[i]) = value;
    return 0;
}

int rules_load(const char *path, gate_rules *out, err *e)
{
    *out = gate_defaults;
    SCOPED(json_doc_destroy) json_doc *doc = yaml_load(path, e);
    if (doc == NULL)
        return -1;
    const json_cursor root = json_root(doc);
    if (json_only_keys(&root, keys, e) < 0)
        return -1;
    for (size_t i = 0; keys[i] != NULL; i++)
        if (read_one(&root, i, out, e) < 0)
            return -1;
    return 0;
}
