# SPDX-License-Identifier: MIT
"""Who may include whom, and which file owns which foreign library."""
import re

import tree

CODEC = ("wire/message.h", "wire/messages.def", "wire/frame.h", "wire/pipe.h", "wire/schema.h",
         "wire/record.h", "wire/spec.h")
TIMING = "agent-node/runner/timing/"

# The longest matching folder decides. An entry ending in / allows a folder, else one file.
LAYERS = {
    "common/": ("common/",),
    "wire/": ("common/", "wire/"),
    "suites/": ("common/", "suites/"),
    "providers/": ("common/", "providers/"),
    "store/": ("common/", "store/"),
    "reports/": ("common/", "store/", "reports/"),
    "dashboards/": ("common/", "store/", "reports/", "dashboards/"),
    "coordinator/": ("common/", "wire/", "suites/", "store/", "reports/", "dashboards/",
                     "coordinator/", "providers/catalog.h", "providers/price.h"),
    "agent-node/": ("common/", "wire/", "suites/", "providers/", "agent-node/"),
    "agent-node/ptx/": ("common/", "agent-node/ptx/"),
    "agent-node/emulator/": ("common/", "agent-node/ptx/", "agent-node/emulator/"),
    "agent-node/compiler/": ("common/", "agent-node/ptx/", "agent-node/compiler/") + CODEC,
    "agent-node/runner/": ("common/", "suites/contract.h", "suites/plan.h",
                           "agent-node/runner/") + CODEC,
    TIMING: (TIMING,),  # also loaded by the judge, alone
}
# What one file may do beyond its folder.
EXTRA = {
    "agent-node/runner/gpu_emu.c": ("agent-node/emulator/",),
    TIMING + "cuda_api.c": ("agent-node/runner/gpu_syms.def",),
    TIMING + "cuda_api.h": ("agent-node/runner/gpu_syms.def",),
}
# The node's own sources see its children through clients, never through their insides.
NODE_FORBIDDEN = ("agent-node/compiler/", "agent-node/runner/", "agent-node/emulator/",
                  "agent-node/ptx/")
# … but for what both sides of a socketpair must agree on.
NODE_ALLOWED = ("agent-node/runner/buffers.h", "agent-node/runner/verdict.h",
                TIMING + "ce_timing.h")

# A library's header: where it may be included.
FOREIGN = {
    r"jansson\.h": ("common/json.c",),
    r"yaml\.h": ("common/yaml.c",),
    r"msgpack.*": ("common/pack.c",),
    r"zstd.*\.h": ("common/zip.c",),
    r"sodium.*": ("common/hash.c",),
    r"zmq.*\.h": ("wire/sock.c", "wire/loop.c", "wire/curve.c", "wire/zap.c"),
    r"sqlite3.*\.h": ("store/",),
    r"curl/.*": ("providers/",),
    r"cuda.*\.h": ("agent-node/runner/gpu_cuda.c", TIMING),
    r"nvrtc\.h": ("agent-node/compiler/",),
    r"cupti.*\.h": (TIMING,),
    r"nvml\.h": (),
    r"microhttpd\.h": ("dashboards/",),
    r"cmocka\.h": (),
}

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]+([\"<])([^\">\n]+)[\">]", re.MULTILINE)


def within(name, places):
    return any(name == p or (p.endswith("/") and name.startswith(p)) for p in places)


def layer_of(name):
    folders = [f for f in LAYERS if name.startswith(f)]
    return max(folders, key=len) if folders else None


def check_own(name, wanted):
    folder = layer_of(name)
    if "/" not in wanted:
        return f'write "{name.rsplit("/", 1)[0]}/{wanted}": includes start at the root'
    if not within(wanted, LAYERS[folder] + EXTRA.get(name, ())):
        return f"{folder} may not include {wanted}"
    if (folder == "agent-node/" and within(wanted, NODE_FORBIDDEN)
            and not within(wanted, NODE_ALLOWED)):
        return f"the node may not include {wanted}: it belongs to a child process"
    return None


def check_foreign(name, wanted):
    for pattern, places in FOREIGN.items():
        if re.fullmatch(pattern, wanted) and not within(name, places):
            return f"<{wanted}> belongs to {' or '.join(places) or 'tests only'}"
    return None


def main():
    complaints, checked = [], 0
    for name in tree.tracked():
        if not name.endswith((".c", ".h")) or layer_of(name) is None:
            continue
        checked += 1
        source = tree.text(name)
        for match in INCLUDE.finditer(source):
            check = check_own if match.group(1) == '"' else check_foreign
            complaint = check(name, match.group(2))
            if complaint:
                line = source.count("\n", 0, match.start()) + 1
                complaints.append(f"{name}:{line}: {complaint}")
    tree.finish(complaints, checked)


main()
