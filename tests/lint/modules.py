# SPDX-License-Identifier: MIT
"""Every module is a .h/.c pair and has a unit test: tests/unit/FOLDER/test_MODULE.c.

A test of several modules that only work together names the others in its first comment, in a line
"Modules: parser body operand"; it counts for modules of the folder that its own folder mirrors.
"""
import fnmatch
import re

import tree

FOLDERS = ("common/", "wire/", "suites/", "providers/", "store/", "reports/", "dashboards/",
           "coordinator/", "agent-node/")

# Without a unit test of their own; everything here is run by service tests.
EXCEPTIONS = {
    "*/main.c": "starts a process",
    "coordinator/cmd_*.c": "a table of options, one call, print",
}
# Without a header of their own: the header that they implement a part of is shared.
SHARED_HEADER = {
    "agent-node/stages/*.c": "agent-node/stages/stage.h",
    "agent-node/runner/gpu_*.c": "agent-node/runner/gpu.h",
    "agent-node/ptx/operand.c": "agent-node/ptx/body.h",
    "agent-node/emulator/decode_*.c": "agent-node/emulator/decode.h",
    "agent-node/emulator/lanes_*.c": "agent-node/emulator/lanes.h",
    "agent-node/emulator/atomic.c": "agent-node/emulator/exec.h",
    "agent-node/emulator/barrier.c": "agent-node/emulator/exec.h",
    "agent-node/emulator/block.c": "agent-node/emulator/exec.h",
    "agent-node/emulator/counters.c": "agent-node/emulator/emulator.h",
    "agent-node/emulator/flow.c": "agent-node/emulator/exec.h",
    "agent-node/emulator/load.c": "agent-node/emulator/exec.h",
    "agent-node/emulator/warp.c": "agent-node/emulator/exec.h",
    "coordinator/cmd_*.c": "coordinator/cmd.h",
    "reports/import_*.c": "reports/import.h",
    "*/main.c": None,
}
MODULES = re.compile(r"Modules:((?:\s+(?:\*\s+)?[a-z0-9_]+)+)")


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, p) for p in patterns)


def tested_by(name):
    """(folder, module) pairs that a test stands for."""
    folder, file = name.split("/")[-2:]
    yield folder, file[len("test_"):-len(".c")]
    first = next(tree.comments(name), (0, ""))[1]
    for match in MODULES.finditer(first):
        for module in match.group(1).replace("*", " ").split():
            yield folder, module


def has_test(name, tested):
    """agent-node/ptx/body.c may be tested in tests/unit/ptx/ or tests/unit/agent-node/."""
    parts = name.split("/")
    return any((folder, parts[-1][:-2]) in tested for folder in parts[:-1])


def main():
    names = set(tree.tracked())
    tested = {pair for n in names if n.startswith("tests/unit/") and "/test_" in n
              and n.endswith(".c") for pair in tested_by(n)}
    complaints, checked = [], 0
    for name in sorted(names):
        if not name.startswith(FOLDERS) or not name.endswith(".c"):
            continue
        checked += 1
        stem = name.rsplit("/", 1)[1][:-2]
        if name[:-2] + ".h" not in names and not matches(name, SHARED_HEADER):
            complaints.append(f"{name}: has no header {stem}.h")
        if not has_test(name, tested) and not matches(name, EXCEPTIONS):
            complaints.append(f"{name}: has no tests/unit/*/test_{stem}.c")
    tree.finish(complaints, checked)


main()
