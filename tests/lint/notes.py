# SPDX-License-Identifier: MIT
"""A note to do something later names its issue: TODO(#12)."""
import re

import tree

NOTE = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))")


def comments_of(name):
    if name.endswith((".c", ".h", ".def", ".cu")):
        yield from tree.comments(name)
    elif name.endswith((".py", ".sh", ".cmake", ".txt", ".yaml", ".gp")) or name.startswith("scripts/"):
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            if "#" in line:
                yield number, line[line.index("#"):]


def main():
    complaints, checked = [], 0
    for name in tree.tracked():
        if name.startswith("tests/lint/"):
            continue
        for line, comment in comments_of(name):
            checked += 1
            for match in NOTE.finditer(comment):
                complaints.append(f"{name}:{line}: {match.group(1)} without an issue")
    tree.finish(complaints, checked)


main()
