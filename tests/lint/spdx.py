# SPDX-License-Identifier: MIT
"""Every source file says its licence near its top."""
import tree

SUFFIXES = (".c", ".h", ".def", ".py", ".sh", ".cmake", ".sql", ".gp", "CMakeLists.txt")
LINE = "SPDX-License-Identifier: MIT"
WITHIN = 40  # lines: header comments are long


def is_source(name):
    return name.endswith(SUFFIXES) or name.startswith(("scripts/", ".ci/"))


def main():
    complaints, checked = [], 0
    for name in tree.tracked():
        if not is_source(name) or name.startswith(("tests/data/", "tests/fuzz/corpus/", "docs/evidence/")):
            continue
        checked += 1
        if LINE not in "\n".join(tree.text(name).splitlines()[:WITHIN]):
            complaints.append(f"{name}:1: no line “{LINE}”")
    tree.finish(complaints, checked)


main()
