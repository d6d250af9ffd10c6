# SPDX-License-Identifier: MIT
"""Pages that programs print from their tables are committed as printed."""
import difflib
import os
import subprocess

import tree

PAGES = ("protocol", "cli")


def main():
    program = os.path.join(os.environ["CE_BIN"], "ce-coord")
    complaints = []
    for page in PAGES:
        name = f"docs/{page}.md"
        printed = subprocess.run([program, "docs", page], check=True, stdout=subprocess.PIPE,
                                 text=True).stdout
        committed = tree.text(name) if (tree.ROOT / name).exists() else ""
        if printed != committed:
            complaints.append(f"{name} is not current: ce-coord docs {page} > {name}")
            complaints += list(difflib.unified_diff(committed.splitlines(), printed.splitlines(),
                                                    name, "printed", lineterm="", n=0))[:20]
    tree.finish(complaints, len(PAGES))


main()
