# SPDX-License-Identifier: MIT
"""Every figure of the README stands in a file under docs/evidence.

A paragraph or table with figures comes after a comment that names the files, `<!-- figures: FILE … -->`; it holds up to
the next heading or comment. A row of a table must be one row there: its first cell and all of its figures in one line.
A figure is a number that is no part of a name (fp16, H200, ce-timing-1), a link or code.
"""
import re

import tree

NOT_FIGURES = (r"`[^`]*`", r"\]\([^)]*\)", r"<!--.*?-->", r"<img [^>]*>", r"https?://\S+", r"(?:Debian|Ubuntu|CUDA|exit) \d[\d.]*",
               r"^#+ .*$")
FIGURE = re.compile(r"(?<![\w.\-])\d+(?:[.,]\d+)*(?![\w\-])")
SOURCES = re.compile(r"<!-- figures: (.*?) -->")


def figures(text):
    for pattern in NOT_FIGURES:
        text = re.sub(pattern, " ", text, flags=re.MULTILINE)
    return FIGURE.findall(text)


def has(text, figure):
    return re.search(rf"(?<![\w.]){re.escape(figure)}(?![\w]|\.\d)", text)


def row_complaints(line, text):
    cells = [c.strip() for c in line.strip().strip("|").split("|")]
    wanted = figures(line)
    lines = [row for row in text.splitlines() if row.startswith(f"| {cells[0]} ")]
    if not wanted or any(all(has(row, f) for f in wanted) for row in lines):
        return []
    return [f"no row of {cells[0]} has {', '.join(wanted)}"]


def check(page, read):
    """Complaints about a page; read(name) gives the text of a source."""
    complaints, sources, fenced = [], None, False
    for number, line in enumerate(page.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if line.startswith("#"):
            sources = None
        named = SOURCES.search(line)
        if named:
            sources = "\n".join(read(name) for name in named.group(1).split())
        if fenced or not figures(line):
            continue
        if sources is None:
            complaints.append(f"README.md:{number}: figures without a source: {', '.join(figures(line))}")
        elif line.startswith("|"):
            complaints += [f"README.md:{number}: {c}" for c in row_complaints(line, sources)]
        else:
            complaints += [f"README.md:{number}: {f} is not in the source" for f in figures(line)
                           if not has(sources, f)]
    return complaints


def planted():
    """Faults that must be seen."""
    text = "| silu | ok | 1.02 |\n48 of 48 correct\n"
    good = "# T\n<!-- figures: a -->\n48 of 48\n\n| silu | ok | 1.02 |\n"
    cases = ((good, 0), (good.replace("48 of", "47 of"), 1), (good.replace("1.02", "1.20"), 1),
             (good.replace("silu", "gelu"), 1), ("# T\n48 of 48, fp16 on `48`\n", 1), ("# T\nfp16, Debian 12\n", 0))
    return [f"figures.py: {page!r}: {check(page, lambda name: text)}" for page, count in cases
            if len(check(page, lambda name: text)) != count]


def main():
    tree.finish(planted() + check(tree.text("README.md"), tree.text), 1)


main()
