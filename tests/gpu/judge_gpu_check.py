#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""First contact of the judge with a GPU: staging, oracle, comparison and baselines.

usage: judge_gpu_check.py [--all] JUDGE_FOLDER LIBCE_TIMING.so [SUITE_FOLDER] [OUT.md]
       (exit 0 all as expected, 1 not, 77 no GPU or no torch)
       --all: only the baselines, but of every problem, each pass in one process

Plays the runner's part: opens the staging memory that the judge process exports, writes answers
into it from this process, and asks for verdicts. Baselines are measured twice, the second time by a
fresh judge process from the packed cache of the first. Run it by the python3 that has PyTorch."""

import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import zlib

try:
    import torch
except ImportError:
    torch = None

HERE = os.path.dirname(os.path.abspath(__file__))
SLOTS = 2
SAMPLES = 60
SALT = 77
SIZE = 4096


class Handle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_ubyte * 64)]


class Foreign:
    """Memory of another process, opened by its IPC handle and seen by torch."""

    def __init__(self, handle_hex, size):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.lib.cuIpcOpenMemHandle_v2.argtypes = [ctypes.POINTER(ctypes.c_uint64), Handle,
                                                   ctypes.c_uint]
        self.lib.cuIpcCloseMemHandle.argtypes = [ctypes.c_uint64]
        torch.zeros(1, device="cuda")
        handle = Handle.from_buffer_copy(bytes.fromhex(handle_hex))
        address = ctypes.c_uint64()
        code = self.lib.cuIpcOpenMemHandle_v2(ctypes.byref(address), handle, 1)
        if code != 0:
            raise RuntimeError("cuIpcOpenMemHandle: %d" % code)
        self.address = address.value
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "version": 3,
                                         "data": (self.address, False), "strides": None}
        self.bytes = torch.as_tensor(self, device="cuda")

    def view(self, span, dtype, shape):
        return self.bytes[span[0]:span[0] + span[1]].view(dtype).view(shape)

    def close(self):
        torch.cuda.synchronize()
        self.bytes = None
        self.lib.cuIpcCloseMemHandle(self.address)


class Judge:
    """The judge process, spoken to as judge_process.c does."""

    def __init__(self, folder, library, cache):
        self.channel, theirs = socket.socketpair()
        self.child = subprocess.Popen(
            ["/bin/bash", "-c", 'exec "$0" -B "$@" 3<&%d' % theirs.fileno(), sys.executable,
             os.path.join(folder, "judge.py"), "cuda:0", library, cache],
            pass_fds=[theirs.fileno()])
        theirs.close()
        self.lines = self.channel.makefile("rb")

    def ask(self, op, **fields):
        self.channel.sendall(json.dumps(dict(fields, id=1, op=op)).encode() + b"\n")
        line = self.lines.readline()
        if not line:
            raise RuntimeError("the judge died with %s" % self.child.wait())
        return json.loads(line)

    def want(self, op, **fields):
        reply = self.ask(op, **fields)
        if not reply["ok"]:
            raise RuntimeError("%s: %s: %s" % (op, reply["code"], reply["text"]))
        return reply

    def close(self):
        self.lines.close()
        self.channel.close()
        self.child.wait(timeout=60)


def problem(inputs, outputs, scalars=(), families=("normal", "zeros", "constant")):
    return {"inputs": inputs, "outputs": outputs, "values": list(families),
            "scalars": [{"name": n, "dtype": t, "value": v} for n, t, v in scalars]}


def rows_cols(dtype, extra=(), scalars=(), out=None, families=("normal", "zeros", "constant")):
    """One matrix in, one matrix (or what `out` says) out; `extra` are vectors of cols."""
    inputs = [("x", dtype, "rc")] + [(name, dtype, "c") for name in extra]
    return problem(inputs, [out or ("y", dtype, "rc")], scalars, families)


PROBLEMS = {
    "silu_fp16": rows_cols("f16"),
    "softmax_lastdim_fp16": rows_cols("f16", families=("normal", "zeros", "ties")),
    "rms_norm_fp16": rows_cols("f16", ["weight"], [("eps", "f32", 1e-5)]),
    "layernorm_bf16": rows_cols("bf16", ["weight", "bias"], [("eps", "f32", 1e-5)]),
    "cumsum_lastdim_fp32": rows_cols("f32", families=("normal", "integers", "positive")),
    "argmax_fp32": rows_cols("f32", out=("y", "i64", "r"), families=("normal", "ties")),
    "sum_reduction_fp32": problem([("x", "f32", "n")], [("y", "f32", "")],
                                  families=("normal", "integers")),
    "vector_add_fp32": problem([("a", "f32", "n"), ("b", "f32", "n")], [("y", "f32", "n")],
                               families=("normal", "integers")),
}
ELEMENTWISE = ("silu_fp16", "vector_add_fp32")
TIMED = ("softmax_lastdim_fp16", "silu_fp16")
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "i64": "int64"}


def sizes_of(form, rows, cols):
    return {"rc": [rows, cols], "r": [rows], "c": [cols], "n": [rows * cols], "": []}[form]


def case(name, rows, cols):
    spec = PROBLEMS[name]
    reduction = 1 if name in ELEMENTWISE else rows * cols if name.startswith("sum") else cols
    return {"label": "rows=%d cols=%d" % (rows, cols), "reduction": reduction,
            "sizes": {row[0]: sizes_of(row[2], rows, cols)
                      for row in spec["inputs"] + spec["outputs"]}}


def contract(name):
    spec = PROBLEMS[name]
    return dict(spec, problem=name,
                inputs=[{"name": n, "dtype": t} for n, t, _ in spec["inputs"]],
                outputs=[{"name": n, "dtype": t} for n, t, _ in spec["outputs"]])


def reference_of(suite, name):
    path = os.path.join(suite, name, "reference.py")
    with open(path) as file:
        text = file.read()
    space = {}
    exec(compile(text, path, "exec"), space)
    return text, path, space["reference"]


class Check:
    def __init__(self, out):
        self.lines, self.failed, self.out = [], 0, out

    def say(self, line):
        self.lines.append(line)
        print(line, flush=True)

    def expect(self, true, line):
        self.failed += 0 if true else 1
        self.say("| %s | %s |" % (line, "ok" if true else "**FAILED**"))

    def end(self):
        self.say("")
        self.say("%d failed" % self.failed if self.failed else "all as expected")
        if self.out:
            with open(self.out, "w") as file:
                file.write("\n".join(self.lines) + "\n")
        return 1 if self.failed else 0


def answers(function, spec, memory, staging, slot, rows, cols):
    """The reference, run here on the inputs of a slot that lie in the judge's memory."""
    named = {}
    count = len(spec["inputs"])
    for i, (name, dtype, form) in enumerate(spec["inputs"]):
        span = staging["inputs"][slot * count + i]
        named[name] = memory.view(span, getattr(torch, DTYPES[dtype]), sizes_of(form, rows, cols))
    named.update({row["name"]: row["value"] for row in spec["scalars"]})
    return function(**named)


def check_compare(check, judge, name, function, rows, cols):
    spec = PROBLEMS[name]
    _, dtype, form = spec["outputs"][0]
    for family in spec["values"]:
        started = time.monotonic()
        staging = judge.want("draw", case=case(name, rows, cols), seed=3, family=family,
                             slots=SLOTS)["staging"]
        drawn = time.monotonic()
        memory = Foreign(staging["handle"], staging["total"])
        out = memory.view(staging["outputs"][0], getattr(torch, DTYPES[dtype]),
                          sizes_of(form, rows, cols))
        right = answers(function, spec, memory, staging, 1, rows, cols)
        out.copy_(right)
        torch.cuda.synchronize()
        before = time.monotonic()
        reply = judge.want("compare", slot=1, salt=SALT)
        seconds = time.monotonic() - before
        row = reply["report"]["outputs"][0]
        check.expect(reply["equal"], "%s %s %s: right answer; draw %.3f s, compare %.3f s, "
                     "error/bound %s, RMSE/budget %s %s" % (
                         name, case(name, rows, cols)["label"], family, drawn - started, seconds,
                         row.get("error_over_bound"), row.get("rmse_over_budget"), reply["text"]))
        flat = out.view(-1)
        flat.copy_(right.reshape(-1))
        flat[-1] = flat[-1] * 3 + 7
        torch.cuda.synchronize()
        reply = judge.want("compare", slot=1, salt=SALT)
        place = str(sizes_last(form, rows, cols)) if form else ""
        check.expect(not reply["equal"] and place in reply["text"],
                     "%s %s: last element off: %s" % (name, family, reply["text"]))
        reply = judge.want("compare", slot=1, salt=SALT)
        check.expect(not reply["equal"], "%s %s: nothing written" % (name, family))
        memory.close()


def sizes_last(form, rows, cols):
    return [size - 1 for size in sizes_of(form, rows, cols)]


def check_baseline(check, judge, name, stored, cache_in, cache_out):
    started = time.monotonic()
    reply = judge.want("baseline", case=case(name, SIZE, SIZE), seed=5, slots=SLOTS,
                       samples=SAMPLES, winner=stored, cache_in=cache_in, cache_out=cache_out)
    reply["seconds"] = time.monotonic() - started
    for row in reply["modes"]:
        work = row["compiler"] or {}
        check.say("| %s | %s | %s | %s | %s | %s | %s | %s |" % (
            name, row["mode"], short(row["median_ms"]), short(row["compile_s"]), row["cache"],
            " ".join("%s %d" % item for item in work.items()), short(row["event_floor_ms"]),
            row["reason"] or ""))
    check.say("| %s | winner %s, cache hit %s, packed %s (%s), %.2f s in all |" % (
        name, reply["winner"], reply["cache_hit"], reply["packed"],
        size_of(cache_out) if reply["packed"] else "no bytes", reply["seconds"]))
    return reply


def short(value):
    return "-" if value is None else "%.4f" % value


def size_of(tar):
    with open(tar, "rb") as file:
        data = file.read()
    return "%d bytes of tar, %d compressed" % (len(data), len(zlib.compress(data)))


def start(folder, library, cache, suite, name):
    judge = Judge(folder, library, cache)
    text, path, _ = reference_of(suite, name)
    judge.want("open", contract=contract(name), reference=text, reference_file=path)
    return judge


def header(check):
    check.say("\n| problem | mode | median ms | compile s | cache | compiler | event floor ms "
              "| reason |")
    check.say("|---|---|---|---|---|---|---|---|")


def check_stored(check, name, first, second):
    """What the second measurement must show, given the first."""
    if first["packed"]:
        check.expect(second["cache_hit"], "%s: a fresh process uses the packed cache" % name)
    else:
        check.expect(first["winner"] == "eager", "%s: the winner's cache is packed" % name)
    eager = first["modes"][0]["median_ms"] / second["modes"][0]["median_ms"]
    check.expect(0.8 < eager < 1.25, "%s: eager in two processes, ratio %.3f" % (name, eager))


def pass_of_all(check, folder, library, suite, base, name_of_pass, known):
    """Every baseline in one judge process; known: name → the reply of an earlier pass."""
    started = time.monotonic()
    judge = Judge(folder, library, os.path.join(base, name_of_pass))
    judge.want("facts")
    check.say("\n%s pass, a judge started in %.1f s" % (name_of_pass, time.monotonic() - started))
    header(check)
    replies = {}
    for name in PROBLEMS:
        tar = os.path.join(base, name + ".tar")
        before = known.get(name, {"winner": None, "packed": False})
        text, path, _ = reference_of(suite, name)
        judge.want("open", contract=contract(name), reference=text, reference_file=path)
        replies[name] = check_baseline(check, judge, name, before["winner"],
                                       tar if before["packed"] else None,
                                       os.path.join(base, "unused.tar") if known else tar)
    judge.close()
    return replies


def all_baselines(check, folder, library, suite, base):
    first = pass_of_all(check, folder, library, suite, base, "first", {})
    second = pass_of_all(check, folder, library, suite, base, "second", first)
    check.say("\n| check | |\n|---|---|")
    for name in PROBLEMS:
        check_stored(check, name, first[name], second[name])
        check.say("| %s: %.2f s, then %.2f s | |" % (name, first[name]["seconds"],
                                                    second[name]["seconds"]))


def baselines(check, folder, library, suite, base):
    header(check)
    for name in TIMED:
        tar = os.path.join(base, name + ".tar")
        judge = start(folder, library, os.path.join(base, "first"), suite, name)
        first = check_baseline(check, judge, name, None, None, tar)
        judge.close()
        check.expect(len(first["modes"]) == 4 and first["modes"][3]["wall"] and all(r["median_ms"] for r in first["modes"]),
                     "%s: every mode has a time" % name)
        judge = start(folder, library, os.path.join(base, "second"), suite, name)
        second = check_baseline(check, judge, name, first["winner"],
                                tar if first["packed"] else None,
                                os.path.join(base, "unused.tar"))
        judge.close()
        check_stored(check, name, first, second)


def check_refusals(check, judge):
    text = "def reference(x):\n    return x if float(x.sum()) > 0 else -x\n"
    judge.want("open", contract=contract("silu_fp16"), reference=text, reference_file="sync.py")
    reply = judge.want("baseline", case=case("silu_fp16", 64, 64), seed=5, slots=2, samples=10,
                       winner=None, cache_in=None, cache_out="/nowhere/x.tar")
    check.expect(reply["winner"] is None and all(row["reason"] for row in reply["modes"]),
                 "a reference that cannot be captured: " +
                 "; ".join(row["reason"] or "?" for row in reply["modes"]))
    reply = judge.ask("draw", case=case("silu_fp16", 1 << 20, 1 << 20), seed=1, family="normal",
                      slots=2)
    check.expect(not reply["ok"] and reply["code"] == "gpu" and reply["restart"],
                 "out of memory: %s" % reply.get("text"))


def main(arguments):
    if torch is None or not torch.cuda.is_available():
        print("skipped: no torch with a CUDA device")
        return 77
    every = arguments[:1] == ["--all"]
    arguments = arguments[every:]
    folder, library = (os.path.abspath(path) for path in arguments[:2])
    suite = os.path.abspath(arguments[2] if len(arguments) > 2
                            else os.path.join(HERE, "..", "..", "suites", "internal"))
    check = Check(arguments[3] if len(arguments) > 3 else None)
    with tempfile.TemporaryDirectory() as base:
        if every:
            all_baselines(check, folder, library, suite, base)
            return check.end()
        started = time.monotonic()
        judge = Judge(folder, library, os.path.join(base, "shared"))
        facts = judge.want("facts")["facts"]
        check.say("facts after %.1f s: %s" % (time.monotonic() - started, json.dumps(facts)))
        check.say("\n| check | |\n|---|---|")
        for name in PROBLEMS:
            text, path, function = reference_of(suite, name)
            judge.want("open", contract=contract(name), reference=text, reference_file=path)
            reply = judge.ask("contract", cases=[case(name, rows, cols) for rows, cols in
                                                 ((0, 128), (1, 1), (33, 257), (SIZE, SIZE))])
            check.expect(reply["ok"], "%s: contract %s" % (name, reply.get("text", "")))
            check_compare(check, judge, name, function, 33, 257)
            check_compare(check, judge, name, function, SIZE, SIZE)
        check_refusals(check, judge)
        judge.close()
        baselines(check, folder, library, suite, base)
    return check.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
