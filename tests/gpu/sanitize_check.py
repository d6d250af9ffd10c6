#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The sanitizer pass on a GPU: kernels with a planted defect that no output shows, and honest ones.

usage: sanitize_check.py BIN_DIR OUT_DIR [--device cuda|emu]

Each goes through the whole pipeline as a row of an adversarial list that asks for the sanitizer. Prints an object:
for each kernel what it came to, and what compute-sanitizer said. Exit: 0: every defect found and the honest ones clean;
3: not so; 4: the tool did not look, its reason is in the object; 77: no GPU. With --device emu the list is only
proved to be well formed: the emulator has findings of its own.
"""
import argparse
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

HEAD = """extern "C" __global__ void k(const float *a, const float *b, float *y, long long n)
{
    __shared__ float s[256];
    long long i = blockIdx.x * 256LL + threadIdx.x;
    float seen = 0.0f;
    (void)s;
"""
# What was seen decides something, however seldom: a load that decides nothing is none in the machine code.
TAIL = """    if (i < n)
        y[i] = __float_as_uint(seen) == 0x7fa5c3e1u ? seen : a[i] + b[i];
}
"""
PLAN = {"kernels": [{"entry": "k", "grid": ["ceil_div(n, 256)"], "block": [256],
                     "args": ["a", "b", "y", {"i64": "n"}]}]}
# What is between head and tail, the outcome, and whether the exit code depends on it.
KERNELS = {
    "planted_read_past_end": ("    if (i == n - 1)\n        seen = a[n];\n", "out_of_bounds", True),
    "planted_uninitialised": ("    if (i < n)\n        seen = y[i];\n", "uninitialised", True),
    "planted_race": ("    s[threadIdx.x] = (float)i;\n    seen = s[(threadIdx.x + 128) % 256];\n", "race", True),
    "planted_half_at_a_barrier": ("    s[threadIdx.x] = (float)i;\n    if (threadIdx.x < 128)\n        __syncthreads();\n"
                                  "    seen = s[threadIdx.x];\n", "race", True),
    "honest_plain": ("", "ok", True),
    "honest_shared": ("    s[threadIdx.x] = (float)i;\n    __syncthreads();\n    seen = s[(threadIdx.x + 128) % 256];\n",
                      "ok", True),
}


def write_suites(source, root):
    """A copy of one problem, and a list of the kernels above."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(source / "internal/vector_add_fp32", root / "internal/vector_add_fp32")
    (root / "internal/suite.yaml").write_text(
        'id: internal\nversion: "0.1"\ntitle: one problem\nproblems:\n  - vector_add_fp32\n')
    kernels = root / "adversarial/kernels"
    kernels.mkdir(parents=True)
    rows = []
    for name, (body, outcome, _) in KERNELS.items():
        (kernels / f"{name}.cu").write_text(HEAD + body + TAIL)
        (kernels / f"{name}.json").write_text(json.dumps(PLAN))
        rows.append(f"- {{problem: vector_add_fp32, name: {name}, sanitizer: true, expect: {outcome}, why: planted}}")
    (root / "adversarial/adversarial.yaml").write_text("\n".join(rows) + "\n")


def find_suites(binary):
    here = pathlib.Path(__file__).resolve().parents[2] / "suites"
    return next(folder for folder in (binary.parent / "share/ce/suites", here) if folder.is_dir())


def outcomes(database):
    link = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    rows = link.execute("SELECT t.sample, t.outcome, t.detail, t.text, t.verdict, t.sanitizer FROM task t JOIN entrant e "
                        "ON e.id = t.entrant WHERE e.name = 'adversarial' ORDER BY t.sample").fetchall()
    link.close()
    keys = ("outcome", "detail", "text", "verdict", "sanitizer")
    return {name: dict(zip(keys, rows[i][1:])) if i < len(rows) else None for i, name in enumerate(KERNELS)}


def judge(found):
    """Exit code: 4 before 3, as a tool that did not look proves nothing."""
    code = 0
    for name, (_, wanted, counts) in KERNELS.items():
        one = found[name] or {}
        blind = (one.get("sanitizer") or "").startswith("not run")
        clean = wanted != "ok" or one.get("sanitizer") == "clean"
        one["as_stated"] = one.get("outcome") == wanted and clean
        if counts and not one["as_stated"]:
            code = 4 if blind or code == 4 else 3
    return code


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--device", default="cuda", choices=("cuda", "emu"))
    options = parser.parse_args()
    binary = options.binary.resolve()
    if options.device == "cuda":
        probe = json.loads(subprocess.check_output([binary / "ce-runner", "--probe"]))
        if not probe["devices"]:
            print("skipped: " + probe["reason"])
            return 77
    options.out.mkdir(parents=True, exist_ok=True)
    suites, database = options.out.resolve() / "suites", options.out / "sanitize.db"
    write_suites(find_suites(binary), suites)
    database.unlink(missing_ok=True)
    run = subprocess.run([binary / "ce-coord", "suite", "validate", "--adversarial", "--device", options.device, "--suites",
                          suites, "--db", database, "--out", options.out], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if run.returncode not in (0, 3):
        print(run.stdout)
        return 1
    found = outcomes(database)
    code = 0 if options.device == "emu" else judge(found)
    tool = os.environ.get("CE_SANITIZER") or shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    print(json.dumps({"device": options.device, "tool": tool, "kernels": found, "exit": code}, indent=1))
    return code


if __name__ == "__main__":
    sys.exit(main())
