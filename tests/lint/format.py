# SPDX-License-Identifier: MIT
"""clang-format has nothing to change."""
import shutil
import subprocess
import sys

import tree


def main():
    if shutil.which("clang-format") is None:
        print("clang-format is not installed")
        sys.exit(77)
    names = [n for n in tree.tracked() if n.endswith((".c", ".h"))]
    bad = []
    for start in range(0, len(names), 40):
        batch = names[start:start + 40]
        done = subprocess.run(["clang-format", "--dry-run", "-Werror", *batch], cwd=tree.ROOT,
                              stderr=subprocess.PIPE, text=True)
        bad += [line for line in done.stderr.splitlines() if "error:" in line]
        if done.returncode != 0 and not bad:
            bad.append(done.stderr)
    tree.finish(bad, len(names))


main()
