#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""side_by_side - KernelBench's own evaluation and ours, on the same kernels and card, one after the other.

usage: side_by_side.py BIN_DIR CHECKOUT OUT_DIR [--seconds N] [--device cuda|fake]

CHECKOUT is KernelBench's repository: `KernelBench/` (the problems) and `src/kernelbench/` (its evaluation; it wants
pydantic, python-dotenv, tqdm, openai and litellm, of which the last two may be empty modules: nothing is asked of a
model). Needs nvcc and a python3 with PyTorch and CUDA.

Five kernels that are right (our gold kernels, each with at most 1 GiB of inputs) and two that are not:
 1. ours twice: the first run compiles the baselines, the second finds them in the database;
 2. KernelBench's eval_kernel_against_ref as its eval_from_generations.py calls it (a process a kernel, 5 trials of
    correctness, 100 of time), first with nothing built, then with its extensions found built;
 3. the kernels that are not right: TF32 in an fp32 product, and zeros for a problem whose answer is 0.
What a step found is written when it ends: OUT_DIR/side_by_side.json, and .md, which a run that is cut leaves too.
Ends after --seconds (default 570). Exit: 0 all steps, 3 not all, 77 without a GPU."""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TRIALS, TIMED = 5, 100  # what eval_from_generations.py takes

# Problem: lines of ModelNew's constructor, and what of it the kernel gets, in the order of the contract's inputs.
HONEST = {
    "1/88": ("", ""),
    "1/12": ("", ""),
    "1/1": ("", ""),
    "2/76": ("self.gemm = nn.Linear(args[0], args[1], bias=False); self.bias = nn.Parameter(torch.randn(args[2]))",
             ", self.gemm.weight, self.bias"),
    "2/99": ("self.linear = nn.Linear(args[0], args[1])", ", self.linear.weight, self.linear.bias"),
}
FALSE = {
    "1/1": ("tf32", "", ""),
    "2/80": ("zeros", "self.gemm = nn.Linear(args[0], args[1])", ", self.gemm.weight, self.gemm.bias"),
}
MODEL = '''import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#undef INFINITY
{source}
{launcher}
"""
module = load_inline(name="{name}", cpp_sources="{declared};", cuda_sources=source, functions=["run"],
                     extra_cuda_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, *args):
        super().__init__()
        {construct}

    def forward(self, *inputs):
        return module.run(*inputs{more})
'''


# ---- the same kernel for both

def value_of(text, sms):
    names = {"ceil_div": lambda a, b: -(-a // b), "min": min, "max": max, "sm_count": sms}
    return int(eval(str(text).replace("/", "//"), {"__builtins__": {}}, names))


def checkout_rows(binary, checkout, suites, ids):
    told = subprocess.run([os.path.join(binary, "ce-node"), "checkout", checkout, "--only", ",".join(ids), "--suites",
                           suites], capture_output=True, text=True, timeout=300, check=True).stdout
    return [json.loads(line) for line in told.splitlines()[1:]]


def launcher(contract, plan, sms):
    """C++ that does what the launch plan says, and its declaration."""
    tensors = [row["name"] for row in contract["inputs"]]
    out = contract["outputs"][0]
    declared = "torch::Tensor run(%s)" % ", ".join("torch::Tensor " + name for name in tensors)
    lines = [declared, "{", "    auto %s = torch::empty({%s}, %s.options());"
             % (out["name"], ", ".join(str(n) for n in out["shape"]), tensors[0])]
    lines += ["    auto %s = torch::empty({%s}, %s.options());" % (row["name"], row["count"], tensors[0])
              for row in plan.get("scratch", [])]
    for kernel in plan["kernels"]:
        grid, block = (", ".join(str(value_of(n, sms)) for n in kernel[key]) for key in ("grid", "block"))
        words = [arg + ".data_ptr<float>()" if isinstance(arg, str) else str(value_of(*arg.values(), sms))
                 for arg in kernel["args"]]
        lines.append("    %s<<<dim3(%s), dim3(%s)>>>(%s);" % (kernel["entry"], grid, block, ", ".join(words)))
    return "\n".join(lines + ["    return %s;" % out["name"], "}"]), declared


def write_model(arguments, row, suites, name, construct, more):
    """The kernel of a problem in `suites` as KernelBench wants it: a file with ModelNew."""
    place = os.path.join(suites, "kernelbench/gold", row["hash"][:16])
    text, declared = launcher(row["contract"], json.loads(read(place, "gold.json")), arguments.sms)
    path = os.path.join(arguments.out, "%s_%s.py" % (name, row["id"]))
    with open(path, "w") as file:
        file.write(MODEL.format(source=read(place, "gold.cu"), launcher=text, declared=declared, more=more,
                                construct=construct or "pass", name="side_%s_%s" % (name, row["id"])))
    return path


def read(*parts):
    with open(os.path.join(*parts)) as file:
        return file.read()


# ---- the two evaluations

def finish(words, limit, **how):
    """What it printed, and its exit code; killed with all its group when the time is up."""
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                             **how)
    try:
        said = child.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        said = child.communicate()[0] + "\ncut: the time was up"
    return said, child.returncode


def ours(arguments, suites, ids, name, limit):
    """A run of gold kernels of `suites`: seconds, and a row a problem."""
    out = os.path.join(arguments.out, name)
    started = time.monotonic()
    said, code = finish([os.path.join(arguments.bin, "ce-coord"), "eval", "--suite", "kernelbench", "--root",
                          arguments.checkout, "--suites", suites, "--only", ",".join(ids), "--model-id", "gold", "--yes",
                          "--device", arguments.device, "--db", os.path.join(arguments.out, "side.db"), "--out", out],
                         limit)
    seconds = time.monotonic() - started
    if not os.path.exists(os.path.join(out, "results.json")):
        return {"seconds": seconds, "exit": code, "failed": said[-2000:], "tasks": {}}
    tasks = json.loads(read(out, "results.json"))["tasks"]
    keys = ("outcome", "reason", "verdict", "verdict_reason", "speedup", "ci_low", "ci_high", "baseline_mode",
            "baseline_ms", "candidate_ms", "device_ms", "wall_ms", "text")
    return {"seconds": seconds, "exit": code,
            "tasks": {task["problem"]: {key: task.get(key) for key in keys} for task in tasks}}


def theirs(arguments, row, model, build, limit):
    started = time.monotonic()
    said, code = finish([sys.executable, os.path.abspath(__file__), "--one", arguments.checkout, row["file"], model, build],
                         limit, env=dict(os.environ, TORCH_CUDA_ARCH_LIST=arguments.arch))
    found = [line for line in said.splitlines() if line.startswith("FOUND ")]
    result = json.loads(found[-1][6:]) if found else {"failed": said[-2000:]}
    return dict(result, seconds=time.monotonic() - started, exit=code)


def one(checkout, reference, model, build):
    """In a process of its own: KernelBench's evaluation of one kernel."""
    sys.path.insert(0, os.path.join(checkout, "src"))
    import torch
    from kernelbench.eval import eval_kernel_against_ref
    result = eval_kernel_against_ref(read(reference), read(model), measure_performance=True, num_correct_trials=TRIALS,
                                     num_perf_trials=TIMED, build_dir=build, device=torch.device("cuda:0"),
                                     backend="cuda", precision=torch.float32)
    print("FOUND " + json.dumps({
        "compiled": result.compiled, "correct": result.correctness, "ms": result.runtime,
        "reference_ms": getattr(result, "ref_runtime", None),
        "said": {str(k): str(v)[:300] for k, v in result.metadata.items()}}))


# ---- what came of it

def number(value, form="%.2f"):
    return form % value if isinstance(value, (int, float)) else "–"


def their_speedup(row):
    ok = row and row.get("correct") and row.get("ms") and row["ms"] > 0 and row.get("reference_ms")
    return row["reference_ms"] / row["ms"] if ok else None


def our_words(task):
    if task is None:
        return "not run"
    if task["outcome"] != "ok":
        return task["outcome"] + (" (%s)" % task["reason"] if task["reason"] else "")
    return "ok, %s %s [%s, %s] against %s" % (task["verdict"], number(task["speedup"], "%.3f"), number(task["ci_low"], "%.3f"),
                                              number(task["ci_high"], "%.3f"), task["baseline_mode"])


def their_words(row):
    if row is None:
        return "not run"
    if "failed" in row:
        return "failed"
    words = "correct" if row["correct"] else "wrong" if row["compiled"] else "did not compile"
    speedup = their_speedup(row)
    return words + (", %.2f× eager" % speedup if speedup else "") + \
        (", marked excessive" if "excessive_speedup" in row["said"] else "")


def task_of(found, step, problem):
    return found.get(step, {}).get("tasks", {}).get("l" + problem.replace("/", "_"))


def page(found):
    warm, cold, built = found.get("ours", {}), found.get("theirs", {}), found.get("theirs_built", {})
    lines = ["# The same kernels, KernelBench's own evaluation and ours", "",
             "| problem | KernelBench, nothing built: s | extension built: s | it says | ours: s (device s) | ours says |",
             "|---|---|---|---|---|---|"]
    for problem in HONEST:
        task = task_of(found, "ours", problem)
        lines.append("| %s | %s | %s | %s | %s (%s) | %s |" % (
            problem, number(cold.get(problem, {}).get("seconds"), "%.1f"), number(built.get(problem, {}).get("seconds"), "%.1f"),
            their_words(built.get(problem) or cold.get(problem)), number(task and task["wall_ms"] / 1e3, "%.1f"),
            number(task and (task["device_ms"] or 0) / 1e3, "%.1f"), our_words(task)))
    lines.append("")
    if warm.get("seconds") and len(cold) == len(HONEST):
        for label, rows in (("nothing built", cold), ("extensions built", built)):
            total = sum(row["seconds"] for row in rows.values())
            if len(rows) == len(HONEST):
                lines.append("KernelBench, %s: %.1f s for %d kernels; ours, baselines in the database, start and report "
                             "included: %.1f s; **%.1f times as many kernels an hour**." % (
                                 label, total, len(rows), warm["seconds"], total / warm["seconds"]))
    if found.get("ours_first"):
        lines.append("Our first run, which compiled the baselines, took %.1f s." % found["ours_first"]["seconds"])
    lines += ["", "| kernel that is not right | KernelBench says | ours says |", "|---|---|---|"]
    for problem, (name, _, _) in FALSE.items():
        lines.append("| %s: %s | %s | %s |" % (problem, name, their_words(found.get("false_theirs", {}).get(problem)),
                                               our_words(task_of(found, "false_ours", problem))))
    return "\n".join(lines) + "\n"


class Steps:
    """What was found so far; written after each step, so that a cut run loses one at most."""

    def __init__(self, arguments):
        self.out, self.end, self.found, self.complete = arguments.out, time.monotonic() + arguments.seconds, {}, True

    def left(self):
        return self.end - time.monotonic()

    def take(self, step, work, *more):
        if self.left() < 5:
            self.complete = False
            return
        result = work(*more, self.left())
        self.complete = self.complete and "failed" not in result
        if isinstance(step, tuple):
            self.found.setdefault(step[0], {})[step[1]] = result
        else:
            self.found[step] = result
        with open(os.path.join(self.out, "side_by_side.json"), "w") as file:
            json.dump(self.found, file, indent=1)
        with open(os.path.join(self.out, "side_by_side.md"), "w") as file:
            file.write(page(self.found))
        print("%s: %.1f s%s" % (step, result["seconds"], "; failed: " + result["failed"] if "failed" in result else ""),
              flush=True)


def false_suites(out, suites, rows):
    """A copy of `suites` in which the gold kernels are those that are not right."""
    copy = os.path.join(out, "suites")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(suites, copy, ignore=shutil.ignore_patterns("gold", "internal", "adversarial"))
    for row in rows:
        folder = os.path.join(copy, "kernelbench/gold", row["hash"][:16])
        os.makedirs(folder)
        name = FALSE["%d/%d" % (row["level"], row["number"])][0]
        for end in ("cu", "json"):
            shutil.copy(os.path.join(HERE, "side_by_side", name + "." + end), os.path.join(folder, "gold." + end))
    return copy


def compare(arguments):
    suites = arguments.suites
    rows = {"%d/%d" % (r["level"], r["number"]): r
            for r in checkout_rows(arguments.bin, arguments.checkout, suites, list({**HONEST, **FALSE}))}
    wrong = false_suites(arguments.out, suites, [rows[p] for p in FALSE])
    honest = {problem: write_model(arguments, rows[problem], suites, "gold", *words) for problem, words in HONEST.items()}
    false = {problem: write_model(arguments, rows[problem], wrong, *words) for problem, words in FALSE.items()}
    steps, build = Steps(arguments), os.path.join(arguments.out, "extensions")
    shutil.rmtree(build, ignore_errors=True)
    for step in ("ours_first", "ours"):
        steps.take(step, lambda limit, name=step: ours(arguments, suites, list(HONEST), name, limit))
    if arguments.device == "cuda":
        for step in ("theirs", "theirs_built"):
            for problem in HONEST:
                steps.take((step, problem), theirs, arguments, rows[problem], honest[problem], build)
    steps.take("false_ours", lambda limit: ours(arguments, wrong, list(FALSE), "false_ours", limit))
    if arguments.device == "cuda":
        for problem in FALSE:
            steps.take(("false_theirs", problem), theirs, arguments, rows[problem], false[problem], build)
    print(page(steps.found))
    return 0 if steps.complete else 3


def main():
    if sys.argv[1:2] == ["--one"]:
        return one(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bin", "checkout", "out"):
        parser.add_argument(name)
    parser.add_argument("--seconds", type=float, default=570)
    parser.add_argument("--device", choices=("cuda", "fake"), default="cuda")
    parser.add_argument("--suites", default=os.path.join(HERE, "../../suites"))
    arguments = parser.parse_args()
    for name in ("bin", "checkout", "out", "suites"):
        setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    probe = json.loads(subprocess.check_output([os.path.join(arguments.bin, "ce-runner"), "--probe"]))
    if arguments.device == "cuda" and not probe["devices"]:
        print("skipped: " + probe["reason"])
        return 77
    card = probe["devices"][0] if probe["devices"] else {}
    arguments.sms = card.get("sm_count", 132)
    arguments.arch = "%d.%d" % (card.get("cc", 90) // 10, card.get("cc", 90) % 10)
    os.makedirs(arguments.out, exist_ok=True)
    return compare(arguments)


if __name__ == "__main__":
    sys.exit(main())
