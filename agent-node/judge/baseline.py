# SPDX-License-Identifier: MIT
"""baseline - how fast PyTorch itself is: eager and two torch.compile modes, as CUDA graphs; and two numbers
on the host's clock, which never win: eager, and the mode reduce-overhead, which is a CUDA graph itself.

Each mode is called once (which compiles it), checked, captured once a slot with that slot's inputs
and outputs of its own, timed by ce_timing, and checked again on what the timed graphs left behind.
The winner is the mode with the smallest median. A mode that fails, breaks the graph or is wrong is
recorded with its reason and never wins. With a stored winner only eager and that mode are measured,
and its compiler cache is put back first, so that nothing is compiled or tuned again. A mode's cache
was "hit" only when that is what happened."""

import hashlib
import importlib
import importlib.metadata
import os
import shutil
import statistics
import sys
import threading
import time

import torch

import inductor
import oracle
import pack
from problem import DTYPE_NAMES, JudgeError, first_line, is_gpu_fault, is_out_of_memory
from timing import Timing

EAGER = "eager"
MODES = (EAGER, "default", "max-autotune-no-cudagraphs")
OVERHEAD = "reduce-overhead"
WARM_CALLS = 3  # before a capture, on the capturing stream
WALL_CALLS = 20
POISON = 0xFF


_loading = []  # the thread that loads the compiler's later parts


def warm(cache_dir):
    """Loads the compiler, so that no mode's compile time contains it: its core now, the rest beside
    the first requests. Nothing is compiled there, since compiling changes global state."""
    for name in inductor.CORE:
        try:
            importlib.import_module(name)
        except ImportError:
            return  # each compiled mode will say so
    inductor.use(os.path.join(cache_dir, "shared"))
    thread = threading.Thread(target=inductor.load, daemon=True)
    thread.start()
    _loading.append(thread)


def triton_version():
    """Of the installed package; an empty string where there is none."""
    for name in ("triton", "pytorch-triton"):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


def _await_warm():
    while _loading:
        _loading.pop().join()


class ModeFailed(Exception):
    """This mode has no time; the text says why."""


def _ready():
    if not hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph"):
        raise JudgeError("unavailable", "baselines need a torch whose CUDAGraph has raw_cuda_graph "
                         "(2.8 or later), this is %s" % torch.__version__)
    _await_warm()


def measure(judge, request):
    _ready()
    bench = _Bench(judge, request)
    judge.truth(0)  # before anything can write to the inputs; its failure is not a mode's
    stored = request.get("winner")
    if stored is not None and stored not in MODES:
        raise JudgeError("internal", "unknown baseline mode %s" % stored)
    wanted = MODES if stored is None else [EAGER] + [stored] * (stored != EAGER)
    if stored not in (None, EAGER) and request.get("cache_in"):
        pack.restore(request["cache_in"], bench.folder(stored))
    rows = [bench.row(mode) for mode in wanted]
    timed = [row for row in rows if row["median_ms"] is not None]
    winner = min(timed, key=lambda row: row["median_ms"])["mode"] if timed else None
    if rows[0]["median_ms"] is not None:
        rows.append(bench.wall())
    if stored is None:
        rows.append(bench.overhead())
    hit = any(row["mode"] == stored and row["cache"] == "hit" for row in rows)
    packed = winner not in (None, EAGER) and not hit and bench.keep(winner, request["cache_out"])
    return {"modes": rows, "winner": winner, "cache_hit": hit, "packed": packed}


class Armed:
    """One mode, captured on the inputs that are drawn, timed in turns with a candidate."""

    def __init__(self, judge, mode, chained, settle):
        _ready()
        self.bench = _Bench(judge, {"samples": 0})
        self.function = judge.functions.find(self.bench, mode)
        self.graphs, self.outputs = self.bench.capture(self.function)
        self.bench.poison(self.outputs)
        self.session = self.bench.timing.open(
            [graph.raw_cuda_graph() for graph in self.graphs], self.bench.stream.cuda_stream,
            self.bench.output_bytes(), chained, settle)

    def close(self):
        """What is wrong with what the timed graphs left behind, or None."""
        self.session.close()
        torch.cuda.synchronize()
        wrong = self.bench.wrong(self.outputs, sorted({0, len(self.graphs) - 1}))
        self.drop()
        return wrong

    def drop(self):
        self.graphs, self.outputs = [], []
        torch.cuda.empty_cache()


class Functions:
    """The mode that was built last, so that arming it again compiles nothing."""

    def __init__(self):
        self.key, self.function = None, None

    def find(self, bench, mode):
        key = (bench.root, mode)
        if self.key != key:
            self.key, self.function = None, None
            self.function, _ = bench.build(mode, {})
            self.key = key
        return self.function


class _Bench:
    """One problem at one shape, drawn into staging."""

    def __init__(self, judge, request):
        self.judge = judge
        self.problem = judge.problem
        self.case = judge.drawn[0]
        self.inputs = judge.staging.inputs
        self.samples = request["samples"]
        self.timing = Timing(judge.timing_lib)
        self.stream = torch.cuda.Stream()
        self.watches = {}  # mode → what its compiler did
        key = "%s/%s/%s" % (self.problem.key, self.case.label, torch.__version__)
        self.root = os.path.join(judge.cache_dir, hashlib.sha256(key.encode()).hexdigest()[:32])

    def folder(self, mode):
        return os.path.join(self.root, mode)

    @staticmethod
    def _blank(mode):
        return {"mode": mode, "median_ms": None, "reason": None, "samples": [], "compile_s": None,
                "cache": "none", "compiler": None, "event_floor_ms": None, "warmup_calls": 0}

    def wall(self):
        """Eager on the host's clock, call and wait: a number beside the others, which never wins."""
        row = self._blank_wall(EAGER)
        self._fill_wall(self.problem.compiled(), row)
        return row

    def overhead(self):
        """reduce-overhead on the host's clock: a graph with copies of its inputs, so that it has no GPU
        span like the others'. It never wins either, and is measured only when the modes are."""
        row = self._guarded(OVERHEAD, self._blank_wall(OVERHEAD), self._fill_overhead)
        inductor.forget()  # its graphs and their memory
        return row

    def _blank_wall(self, mode):
        row = self._blank(mode + " (wall)")
        row["wall"] = True
        return row

    def _fill_wall(self, function, row):
        count, samples = len(self.inputs), []
        for i in range(WARM_CALLS + WALL_CALLS):
            torch.compiler.cudagraph_mark_step_begin()
            torch.cuda.synchronize()
            started = time.perf_counter()
            function(*self.inputs[i % count])
            torch.cuda.synchronize()
            samples.append(1e3 * (time.perf_counter() - started))
        row["samples"] = samples[WARM_CALLS:]
        row["median_ms"] = statistics.median(row["samples"])

    def _fill_overhead(self, mode, row):
        function, outputs = self.build(mode, row)
        del outputs
        for _ in range(WARM_CALLS):  # what is checked comes from the graph, not from before it was recorded
            torch.compiler.cudagraph_mark_step_begin()
            outputs = self._call(function, 0)
        self._check(outputs, 0, "its result")
        del outputs
        self._fill_wall(function, row)

    def row(self, mode):
        return self._guarded(mode, self._blank(mode), self._fill)

    def _guarded(self, mode, row, fill):
        """The row, filled or with the reason why it is not."""
        try:
            fill(mode, row)
        except ModeFailed as fault:
            row["reason"] = str(fault)
        except JudgeError as fault:
            if fault.code != "config" or fault.restart:
                raise
            row["reason"] = fault.text
        except Exception as fault:
            if mode == EAGER and is_out_of_memory(fault):
                raise
            row["reason"] = "%s: %s" % (type(fault).__name__, first_line(fault))
            self._survive(fault)
        torch.cuda.empty_cache()
        return row

    def _survive(self, fault):
        """A failed capture or compile leaves a working device; anything worse ends the process."""
        try:
            torch.cuda.synchronize()
            healthy = float(torch.ones(8, device=self.judge.device).sum()) == 8.0
        except Exception:
            healthy = False
        if not healthy:
            raise JudgeError("gpu", "the device failed: %s" % first_line(fault), restart=True)

    def _fill(self, mode, row):
        function, outputs = self.build(mode, row)
        self._check(outputs, 0, "its result")
        del outputs
        graphs, outputs = self.capture(function)
        self.poison(outputs)
        result = self.timing.run([graph.raw_cuda_graph() for graph in graphs],
                                 self.stream.cuda_stream, self.samples, self.output_bytes())
        torch.cuda.synchronize()
        wrong = self.wrong(outputs, sorted({0, len(graphs) - 1}))
        if wrong is not None:
            raise ModeFailed(wrong)
        row.update(samples=result.samples, median_ms=statistics.median(result.samples),
                   event_floor_ms=result.event_floor_ms, warmup_calls=result.warmup_calls)

    def build(self, mode, row):
        """The mode's function and its outputs on slot 0."""
        if mode == EAGER:
            function = self.problem.compiled()
            return function, self._call(function, 0)
        inductor.use(self.folder(mode))
        inductor.forget()
        started = time.monotonic()
        with inductor.Watch() as watch:
            function = self.problem.compiled(mode=mode, dynamic=False, fullgraph=True)
            outputs = self._call(function, 0)
        self.watches[mode] = watch
        row.update(compile_s=time.monotonic() - started, compiler=watch.row(),
                   cache="hit" if watch.served() else "miss")
        return function, outputs

    def _call(self, function, slot):
        outputs = self.problem.outputs_of(function(*self.inputs[slot]))
        torch.cuda.synchronize()
        return outputs

    def _check(self, outputs, slot, what):
        oracle.check_outputs(self.problem, self.case, outputs, "", DTYPE_NAMES)
        verdict = self.judge.verdict(slot, outputs, None)
        if not verdict["equal"]:
            raise ModeFailed("%s is wrong: %s" % (what, verdict["text"]))

    def wrong(self, outputs, slots):
        try:
            for slot in slots:
                self._check(outputs[slot], slot, "the result of its graph")
        except ModeFailed as fault:
            return str(fault)
        return None

    def capture(self, function):
        """One graph a slot. The outputs live in each graph's own pool."""
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            for _ in range(WARM_CALLS):
                function(*self.inputs[0])
        torch.cuda.synchronize()
        graphs, outputs = [], []
        for tensors in self.inputs:
            graph = torch.cuda.CUDAGraph(keep_graph=True)
            with torch.cuda.graph(graph, stream=self.stream, capture_error_mode="thread_local"):
                result = function(*tensors)
            graphs.append(graph)
            outputs.append(self.problem.outputs_of(result))
        torch.cuda.synchronize()
        return graphs, outputs

    def poison(self, outputs):
        """What is checked after timing must come from timing. An output that is an input stays."""
        memory = self.judge.staging.block.bytes
        first, last = memory.data_ptr(), memory.data_ptr() + memory.numel()
        for values in (value for values in outputs for value in values):
            if values.numel() and not first <= values.data_ptr() < last and values.is_contiguous():
                values.view(-1).view(torch.uint8).fill_(POISON)
        torch.cuda.synchronize()

    def output_bytes(self):
        return sum(self.case.elements(t) * t.item_size for t in self.problem.outputs)

    def keep(self, mode, path):
        """Packs what loading the mode needs; False when it does not fit or cannot be told apart."""
        folder = self.folder(mode)
        try:
            if self.watches[mode].graphs_found:  # what was tuned when it was built is not known
                shutil.rmtree(folder)
                self.build(mode, {})
            inductor.use(folder)
            inductor.settle(folder, self.watches[mode])
            return pack.save(folder, path, inductor.needed)
        except Exception as fault:
            self._survive(fault)
            if is_gpu_fault(fault):
                raise
            print("judge: the compiler cache of %s is not kept: %s: %s"
                  % (mode, type(fault).__name__, first_line(fault)), file=sys.stderr)
            shutil.rmtree(folder, ignore_errors=True)
            return False
