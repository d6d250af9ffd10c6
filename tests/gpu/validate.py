#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`ce-coord suite validate` on a GPU.

usage: validate.py BIN_DIR OUT_DIR [ARGUMENT…]

OUT_DIR gets validation.md, validation.json and the database. A database that is there already is gone on
with, so that a long validation can be made in slices: timeout -s INT 500 validate.py …, again and again.
Exit: that of ce-coord (0: everything as stated; 130: interrupted); 77: no GPU.
"""
import json
import os
import subprocess
import sys


def has_gpu(binary):
    probe = json.loads(subprocess.check_output([os.path.join(binary, "ce-runner"), "--probe"]))
    if not probe["devices"]:
        print("skipped: " + probe["reason"])
    return bool(probe["devices"])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    binary, out, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    if not has_gpu(binary):
        return 77
    os.makedirs(out, exist_ok=True)
    database = os.path.join(out, "validation.db")
    started = os.path.exists(database)
    what = ["--resume", "latest"] if started else ["--device", "cuda"] + arguments
    # exec: a signal of timeout(1) must reach ce-coord
    os.execv(os.path.join(binary, "ce-coord"),
             [os.path.join(binary, "ce-coord"), "suite", "validate", "--db", database, "--out", out] + what)


if __name__ == "__main__":
    sys.exit(main())
