#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""naive_timing - the speedups that a common harness would report for the suite's own kernels on this card.

  naive_timing.py --bin BIN --suites DIR --out DIR [--gold gold.json] [--only a,b]

Needs a python3 with PyTorch and CUDA. Both sides are timed as common harnesses do: ten calls to warm up, then the
mean of 100 calls, each between two events on the current stream, on the same inputs, nothing flushed between. The
baselines are eager, torch.compile default and reduce-overhead. --gold is what gold_timing.py wrote for this card;
beside each naive speedup then stands that of ce-timing-1, with interval and verdict. A naive speedup is false when
it is above that interval by more than 5 %, or claims a gain of 5 % where the verdict is not `faster`.

Writes naive.json and naive.md. Exit 0; 77 without a GPU."""

import argparse
import ctypes
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import time

PROBLEMS = ("silu_fp16", "gelu_erf_fp32", "hardswish_bf16", "sigmoid_mul_fp16", "vector_add_fp32", "softmax_lastdim_fp16",
            "rms_norm_fp16", "max_lastdim_fp16", "argmax_fp32", "cumsum_lastdim_fp32")
MODES = ("eager", "default", "reduce-overhead")
WARM, CALLS = 10, 100
CLAIM = 1.05
CTYPES = {"i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64,
          "f32": ctypes.c_float, "f64": ctypes.c_double}


# ---- problems and plans

def show(arguments, name):
    return json.loads(subprocess.check_output([os.path.join(arguments.bin, "ce-coord"), "suite", "show", name, "--json",
                                               "--suites", arguments.suites]))


def ceil_div(a, b):
    return -(-a // b)


def value_of(text, names):
    """An expression of a plan or contract; `? :` is not needed by the kernels here."""
    python = re.sub(r"!(?!=)", " not ", str(text).replace("&&", " and ").replace("||", " or ")).replace("/", "//")
    return int(eval(python, {"__builtins__": {}, "ceil_div": ceil_div, "min": min, "max": max}, names))


def draw(torch, tensor, names, device):
    shape = [value_of(text, names) for text in tensor["shape"]]
    dtypes = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "i32": torch.int32, "i64": torch.int64}
    dtype = dtypes[tensor["dtype"]]
    if dtype.is_floating_point:
        return torch.randn(shape, device=device, dtype=torch.float32).to(dtype)
    return torch.zeros(shape, device=device, dtype=dtype)


# ---- the candidate

class Compiler:
    """NVRTC, wherever PyTorch or the toolkit has it."""

    def __init__(self, torch):
        site = os.path.dirname(os.path.dirname(torch.__file__))
        places = ["/usr/local/cuda*/lib64/libnvrtc.so*", site + "/nvidia/*/lib/libnvrtc.so*",
                  "/usr/lib/x86_64-linux-gnu/libnvrtc.so*"]
        found = [path for place in places for path in sorted(glob.glob(place)) if "builtins" not in path]
        self.lib = ctypes.CDLL(found[0] if found else "libnvrtc.so")
        heads = glob.glob("/usr/local/cuda*/include") + glob.glob(site + "/nvidia/*/include")
        self.includes = [path for path in heads if os.path.exists(os.path.join(path, "cuda_fp16.h"))][:1]
        self.includes += glob.glob(self.includes[0] + "/cccl") if self.includes else []

    def cubin(self, source, arch):
        program = ctypes.c_void_p()
        self.lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"gold.cu", 0, None, None)
        options = ["--gpu-architecture=" + arch, "-std=c++17", "-default-device"] + ["-I" + p for p in self.includes]
        array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        failed = self.lib.nvrtcCompileProgram(program, len(options), array)
        size = ctypes.c_size_t()
        if failed:
            self.lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            self.lib.nvrtcGetProgramLog(program, log)
            raise RuntimeError(log.value.decode(errors="replace")[:400])
        self.lib.nvrtcGetCUBINSize(program, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        self.lib.nvrtcGetCUBIN(program, code)
        return code.raw


class Candidate:
    """A gold kernel's plan as prepared launches on torch's current stream."""

    def __init__(self, torch, compiler, folder, contract, tensors, names):
        with open(os.path.join(folder, "gold.cu")) as file:
            source = file.read()
        with open(os.path.join(folder, "gold.json")) as file:
            plan = json.load(file)
        major, minor = torch.cuda.get_device_capability()
        code = compiler.cubin(source, "sm_%d%d%s" % (major, minor, "a" if major >= 9 else ""))
        self.cuda, module = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        self.must(self.cuda.cuModuleLoadData(ctypes.byref(module), code), "load")
        names = dict(names, sm_count=torch.cuda.get_device_properties(0).multi_processor_count, on_emu=0,
                     cc=major * 10 + minor)
        kernels = next((v["kernels"] for v in plan.get("variants", []) if value_of(v["when"], names)), plan["kernels"])
        dtypes = {"f32": torch.float32, "i32": torch.int32, "i64": torch.int64}
        memory = dict(tensors)
        for row in plan.get("scratch", []):
            memory[row["name"]] = torch.empty(value_of(row["count"], names), dtype=dtypes[row["dtype"]], device="cuda")
        self.keep = [memory]
        scalars = {row["name"]: row["value"] for row in contract["scalars"]}
        self.stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.launches = [self.prepare(module, kernel, memory, names, scalars) for kernel in kernels]

    def must(self, code, what):
        if code:
            raise RuntimeError("%s: CUDA error %d" % (what, code))

    def prepare(self, module, kernel, memory, names, scalars):
        function = ctypes.c_void_p()
        self.must(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, kernel["entry"].encode()), "entry")
        grid = ([value_of(text, names) for text in kernel["grid"]] + [1, 1])[:3]
        block = ([value_of(text, names) for text in kernel["block"]] + [1, 1])[:3]
        shared = value_of(kernel.get("shared", "0"), names)
        if shared > 48 * 1024:
            self.must(self.cuda.cuFuncSetAttribute(function, 8, shared), "shared memory")
        values = []
        for arg in kernel["args"]:
            if isinstance(arg, str):
                values.append(ctypes.c_void_p(memory[arg].data_ptr()))
            else:
                (kind, text), = arg.items()
                real = kind in ("f32", "f64")
                number = scalars[text] if text in scalars else float(text) if real else value_of(text, names)
                values.append(CTYPES[kind](number))
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        self.keep.append((values, pointers))
        return (function, *grid, *block, shared, self.stream, pointers, None)

    def __call__(self):
        for launch in self.launches:
            self.must(self.cuda.cuLaunchKernel(*launch), "launch")


# ---- timing as common harnesses do

def mean_ms(torch, call):
    for _ in range(WARM):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(CALLS):
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        call()
        last.record()
        torch.cuda.synchronize()
        times.append(first.elapsed_time(last))
    return statistics.fmean(times)


def close(torch, got, wanted):
    return all(torch.allclose(g.double(), w.double(), rtol=3e-2, atol=3e-2, equal_nan=True) for g, w in zip(got, wanted))


def baselines(torch, function, inputs):
    result = {}
    for mode in MODES:
        try:
            torch._dynamo.reset()
            call = function if mode == "eager" else torch.compile(function, mode=mode, dynamic=False)
            result[mode] = mean_ms(torch, lambda: call(*inputs))
        except Exception as fault:
            result[mode] = None
            print("%s: %s: %s" % (mode, type(fault).__name__, str(fault)[:200]), file=sys.stderr)
    return result


def measure(torch, compiler, arguments, name):
    shown = show(arguments, name)
    contract = shown["contract"]
    names = dict(contract["benchmark"])
    scope = {}
    exec(compile(shown["reference"], name, "exec"), scope)
    reference = scope.get("reference", scope.get("REFERENCE"))
    scalars = {row["name"]: row["value"] for row in contract["scalars"]}
    inputs = [draw(torch, tensor, names, "cuda") for tensor in contract["inputs"]]
    input_names = [tensor["name"] for tensor in contract["inputs"]]
    outputs = {t["name"]: draw(torch, t, names, "cuda") for t in contract["outputs"]}

    def function(*values):
        return reference(**dict(zip(input_names, values)), **scalars)

    folder = os.path.join(arguments.suites, "internal", name)
    candidate = Candidate(torch, compiler, folder, contract, {**dict(zip(input_names, inputs)), **outputs}, names)
    candidate()
    wanted = function(*inputs)
    wanted = list(wanted) if isinstance(wanted, (tuple, list)) else [wanted]
    right = close(torch, list(outputs.values()), wanted)
    times = baselines(torch, function, inputs)
    return {"problem": name, "candidate_ms": mean_ms(torch, candidate), "right": right, "baselines": times}


# ---- the table

def judge(row, gold):
    compiled = [row["baselines"][mode] for mode in MODES[1:] if row["baselines"][mode] is not None]
    everything = [ms for ms in row["baselines"].values() if ms is not None]
    row["naive_eager"] = row["baselines"]["eager"] / row["candidate_ms"] if row["baselines"]["eager"] else None
    row["naive_compiled"] = min(compiled) / row["candidate_ms"] if compiled else None
    row["naive_best"] = min(everything) / row["candidate_ms"] if everything else None
    row["ce"] = gold
    for key in ("naive_eager", "naive_compiled", "naive_best"):
        row[key + "_false"] = is_false(row[key], gold)
    return row


def is_false(naive, gold):
    if naive is None or gold is None or gold.get("ci_high") is None:
        return None
    return naive > CLAIM * gold["ci_high"] or (naive > CLAIM and gold["verdict"] != "faster")


def cell(value, form="%.4f"):
    return "–" if value is None else form % value


def claim(row, key):
    mark = {None: "", True: " **false**", False: ""}[row[key + "_false"]]
    return cell(row[key], "%.2f") + mark


def table(rows):
    lines = ["| problem | eager ms | compile ms | reduce-overhead ms | kernel ms | naive: over eager | over the best compiled mode | over the best of all | ce-timing-1 | verdict |",
             "|---|--:|--:|--:|--:|--:|--:|--:|---|---|"]
    for row in rows:
        if "error" in row:
            lines.append("| %s | %s |" % (row["problem"], row["error"].replace("|", "/")))
            continue
        gold = row["ce"]
        ce = "–" if not gold or gold.get("speedup") is None else "%.3f [%.3f, %.3f]" % (
            gold["speedup"], gold["ci_low"], gold["ci_high"])
        lines.append("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |" % (
            row["problem"], *[cell(row["baselines"][mode]) for mode in MODES], cell(row["candidate_ms"]),
            claim(row, "naive_eager"), claim(row, "naive_compiled"), claim(row, "naive_best"), ce,
            gold["verdict"] if gold else "–"))
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--suites", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--gold")
    parser.add_argument("--only")
    arguments = parser.parse_args()
    import torch
    if not torch.cuda.is_available():
        print("no GPU")
        return 77
    os.makedirs(arguments.out, exist_ok=True)
    gold = {}
    if arguments.gold:
        with open(arguments.gold) as file:
            gold = {row["problem"]: row for row in json.load(file)["rows"]}
    compiler, rows, start = Compiler(torch), [], time.monotonic()
    for name in arguments.only.split(",") if arguments.only else PROBLEMS:
        try:
            rows.append(judge(measure(torch, compiler, arguments, name), gold.get(name)))
        except Exception as fault:
            rows.append({"problem": name, "error": "%s: %s" % (type(fault).__name__, str(fault)[:300])})
        print(table(rows)[-1], flush=True)
    good = [row for row in rows if "error" not in row]
    summary = {key: sum(row[key + "_false"] is True for row in good)
               for key in ("naive_eager", "naive_compiled", "naive_best")}
    lines = table(rows) + ["", "False speedups of %d: %d over eager, %d over the best compiled mode, %d over the best of "
                           "all. Kernels with the right result: %d. PyTorch %s, %s, %.0f s." % (
                               len(good), summary["naive_eager"], summary["naive_compiled"], summary["naive_best"],
                               sum(row["right"] for row in good), torch.__version__,
                               torch.cuda.get_device_name(0), time.monotonic() - start)]
    with open(os.path.join(arguments.out, "naive.json"), "w") as file:
        json.dump({"rows": rows, "false": summary}, file, indent=1)
    with open(os.path.join(arguments.out, "naive.md"), "w") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(lines[-1:]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
