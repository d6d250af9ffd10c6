# SPDX-License-Identifier: MIT
"""A function has at most 60 lines and a .c file 800: past that a noun was not found yet."""
import shutil
import subprocess
import sys

import tree

FUNCTION_MAX, FILE_MAX = 60, 800


def long_functions(names):
    command = ["ctags", "--languages=C", "--kinds-C=f", "--fields=ne", "--sort=no", "-f", "-", "-L",
               "-"]
    out = subprocess.run(command, input="\n".join(names), cwd=tree.ROOT, check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    for row in out.splitlines():
        if row.startswith("!"):
            continue
        columns = row.split("\t")
        if columns[0].isupper():  # a macro that makes functions, which ctags takes for one
            continue
        fields = dict(c.split(":", 1) for c in columns[3:] if ":" in c)
        if "line" in fields and "end" in fields:
            size = int(fields["end"]) - int(fields["line"]) + 1
            if size > FUNCTION_MAX:
                yield f"{columns[1]}:{fields['line']}: {columns[0]} has {size} lines, the limit is {FUNCTION_MAX}"


def main():
    if shutil.which("ctags") is None:
        print("universal-ctags is not installed")
        sys.exit(77)
    names = [n for n in tree.tracked() if n.endswith(".c") and not n.startswith("tests/")]
    complaints = list(long_functions(names))
    for name in names:
        lines = tree.text(name).count("\n")
        if lines > FILE_MAX:
            complaints.append(f"{name}: {lines} lines, the limit is {FILE_MAX}")
    tree.finish(complaints, len(names))


main()
