# SPDX-License-Identifier: MIT
"""What every lint looks at: the tracked files, and C source without comments and literals."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def tracked():
    """Paths relative to the root, sorted. A release archive has no git: then every file counts."""
    try:
        out = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        names = [name for name in out.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()]
        names = [n for n in names if n.split("/")[0] not in ("build", "bundle", ".git", "ce-runs")]
    return sorted(name for name in names if (ROOT / name).is_file())


def text(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def _blank(match):
    token = match.group(0)
    if token[0] in "\"'":
        return token[0] + " " * (len(token) - 2) + token[0]
    return re.sub(r"[^\n]", " ", token)


def code(name):
    """The file with comments and literals blanked: lines and columns stay."""
    return _TOKEN.sub(_blank, text(name))


def comments(name):
    """(line, text) of each comment."""
    source = text(name)
    for match in _TOKEN.finditer(source):
        if match.group(0)[0] == "/":
            yield source.count("\n", 0, match.start()) + 1, match.group(0)


def finish(complaints, checked):
    """Prints what is wrong and exits: 1 when anything is, 2 when nothing was looked at."""
    for complaint in complaints:
        print(complaint)
    print(f"{checked} checked, {len(complaints)} wrong")
    if checked == 0:
        sys.exit(2)
    sys.exit(1 if complaints else 0)
