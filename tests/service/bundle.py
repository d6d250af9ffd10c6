# SPDX-License-Identifier: MIT
"""The relocatable folder works where it was not made, with nothing of this host but the C library."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 32 * 1024 * 1024
PROGRAMS = ("ce-coord", "ce-node", "ce-runner", "ce-compiler")
SHARED = ("judge/judge.py", "suites/internal/suite.yaml", "gp")
FROM_HOST = re.compile(
    r"(linux-vdso|ld-linux-x86-64|libc|libm|libpthread|libdl|librt|libresolv|libutil|libgcc_s)\.so")


def run(*command):
    done = subprocess.run(command, env={}, cwd="/", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def strangers(path, home):
    """Libraries that come from elsewhere than the bundle."""
    for line in run("/usr/bin/ldd", str(path))[1].splitlines():
        words = line.split()
        if FROM_HOST.match(os.path.basename(words[0])) or words[0] == "statically":
            continue
        if "=>" not in words or not words[2].startswith(str(home)):
            yield line.strip()


def check(home):
    complaints = []
    for name in PROGRAMS:
        program = home / "bin" / name
        complaints += [f"{name}: {line}" for line in strangers(program, home)]
        if name in ("ce-coord", "ce-node"):
            status, said = run(str(program), "--version")
            if status != 0 or not re.search(r"\d+\.\d+", said):
                complaints.append(f"{name} --version: status {status}: {said}")
    status, said = run(str(home / "bin/ce-coord"), "suite", "list")
    if status != 0 or "internal" not in said:
        complaints.append(f"ce-coord suite list: status {status}: {said}")
    complaints += [f"share/ce/{name} is missing" for name in SHARED
                   if not (home / "share/ce" / name).exists()]
    size = sum(p.lstat().st_size for p in home.rglob("*") if not p.is_dir())
    print(f"{size / 2**20:.1f} MiB, the limit is {LIMIT / 2**20:.0f} MiB")
    if size > LIMIT:
        complaints.append("the bundle is too big")
    return complaints


def main():
    with tempfile.TemporaryDirectory(prefix="ce-bundle-") as folder:
        made, moved = pathlib.Path(folder, "made"), pathlib.Path(folder, "elsewhere/moved")
        subprocess.run(["cmake", "--install", os.environ["CE_BUILD"], "--prefix", str(made),
                        "--component", "runtime", "--strip"], check=True,
                       stdout=subprocess.DEVNULL)
        moved.parent.mkdir()
        shutil.move(made, moved)
        complaints = check(moved)
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)


main()
