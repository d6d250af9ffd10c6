#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""judge - the trusted PyTorch process of a device lane.

Speaks JSON lines on fd 3 (agent-node/judge.h is the other end):

  {"id": 7, "op": "compare", …}  →  {"id": 7, "ok": true, …}
                                 →  {"id": 7, "ok": false, "code": "gpu", "text": "…", "restart": true}

code is one of config, gpu, unavailable, internal. One request at a time; the process ends when the
peer closes. Standard library and torch only."""

import json
import math
import os
import select
import signal
import socket
import sys
import threading
import traceback

# Kernels are compiled in this process: no pool of workers outlives a request.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import torch  # noqa: E402

import baseline  # noqa: E402
import compare  # noqa: E402
import oracle  # noqa: E402
import timing  # noqa: E402
import validate  # noqa: E402
import values  # noqa: E402
from problem import (DTYPE_NAMES, Case, JudgeError, Problem, first_line,  # noqa: E402
                     is_gpu_fault, is_out_of_memory)
from staging import Driver, Staging  # noqa: E402

CPU_ELEMENTS_MAX = 65536  # JUDGE_CPU_ELEMENTS_MAX
PROBLEMS_KEPT = 8
# Truths are kept for the next candidate, which meets the same values: a truth is about 20 bytes an output.
TRUTH_BYTES = {"cuda": 4 << 30, "cpu": 256 << 20}
LINE_MAX = 64 << 20
ATTRIBUTE_SM_COUNT = 16
ATTRIBUTE_L2_BYTES = 38


def driver_text(driver):
    try:
        with open("/sys/module/nvidia/version") as file:
            return file.read().strip()
    except OSError:
        return "CUDA %d" % driver.version()


def uuid_text(properties):
    uuid = getattr(properties, "uuid", None)
    text = str(uuid) if uuid is not None else ""
    return text if not text or text.startswith("GPU-") else "GPU-" + text


class Judge:
    def __init__(self, device_name, timing_lib, cache_dir):
        self.device = torch.device(device_name)
        self.timing_lib = timing_lib
        self.cache_dir = cache_dir
        self.cuda = self.device.type == "cuda"
        self.problems = {}
        self.problem = None
        self.drawn = None
        self.truths = {}  # name of a draw: its truth, oldest use first
        self.armed = None
        self.functions = baseline.Functions()
        self._set_precision()
        self.staging = Staging(self.device)
        if self.cuda:
            self._enter_cuda()

    @staticmethod
    def _set_precision():
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.set_float32_matmul_precision("highest")

    def _enter_cuda(self):
        if not torch.cuda.is_available():
            raise JudgeError("unavailable", "torch %s sees no CUDA device" % torch.__version__)
        if (self.device.index or 0) >= torch.cuda.device_count():
            raise JudgeError("unavailable", "there is no device %s" % self.device)
        Driver.get().enter(self.device)
        baseline.warm(self.cache_dir)

    # ---- facts ----

    def facts(self, request):
        row = {"device": self.device.type, "torch": torch.__version__, "triton": baseline.triton_version(),
               "python": sys.executable,
               "cupti": timing.find_cupti(), "simulated": not self.cuda, "name": "cpu", "uuid": "", "driver": "",
               "sm_count": 0, "l2_bytes": 0, "memory_bytes": 0}
        if self.cuda:
            driver = Driver.get()
            properties = torch.cuda.get_device_properties(self.device)
            row.update(name=properties.name, uuid=uuid_text(properties),
                       driver=driver_text(driver), memory_bytes=properties.total_memory,
                       sm_count=driver.attribute(ATTRIBUTE_SM_COUNT, self.device),
                       l2_bytes=driver.attribute(ATTRIBUTE_L2_BYTES, self.device))
        return {"facts": row}

    # ---- open ----

    def open(self, request):
        fresh = Problem(request["contract"], request["reference"], request["reference_file"],
                        self.device)
        known = self.problems.pop(fresh.key, None)
        self.problem = known or fresh
        self.problems[self.problem.key] = self.problem
        while len(self.problems) > PROBLEMS_KEPT:
            oldest = next(iter(self.problems))
            self.problems.pop(oldest).close()
        self._forget()
        return {}

    def _forget(self):
        self._disarm()
        self.drawn = None
        self.staging.clear()

    def _opened(self):
        if self.problem is None:
            raise JudgeError("internal", "no problem is open")
        return self.problem

    # ---- contract ----

    def contract(self, request):
        problem = self._opened()
        self._forget()
        rows = []
        for case in map(Case, request["cases"]):
            tensors = problem.inputs + problem.outputs
            if not self.cuda and case.largest(tensors) > CPU_ELEMENTS_MAX:
                rows.append({"shape": case.label, "status": "skipped"})
                continue
            rows.append(self._contract_case(problem, case))
        return {"shapes": rows}

    def _contract_case(self, problem, case):
        family = "normal" if "normal" in problem.families else problem.families[0]
        inputs = problem.empty(case)
        problem.fill(case, family, 1, 0, inputs)
        first = oracle.native(problem, inputs, not self.cuda)
        oracle.check_outputs(problem, case, first, "", DTYPE_NAMES)
        again = oracle.native(problem, inputs, not self.cuda)
        exact = oracle.upcast(problem, inputs)
        oracle.check_outputs(problem, case, exact, "in fp64", None)
        for tensor, a, b, o in zip(problem.outputs, first, again, exact):
            if not problem.order_free and not same(a, b):
                raise JudgeError("config", "%s: output %s differs between two runs on the same "
                                 "inputs (%s)" % (problem.where(), tensor.name, case.label))
            if (tensor.is_float and not case.has_empty(problem.inputs)
                    and not bool(torch.isfinite(o).all() & torch.isfinite(a).all())):
                raise JudgeError("config", "%s: output %s is not finite on %s inputs (%s)"
                                 % (problem.where(), tensor.name, family, case.label))
        return {"shape": case.label, "status": "ok", "outputs": [
            {"name": tensor.name, "dtype": tensor.dtype_name, "shape": list(value.shape)}
            for tensor, value in zip(problem.outputs, first)]}

    # ---- validate ----

    def validate(self, request):
        self._opened()
        self._forget()
        return validate.run(self, request, None if self.cuda else CPU_ELEMENTS_MAX)

    # ---- draw, compare ----

    def draw(self, request):
        self._draw(Case(request["case"]), request["seed"], request["family"], request["slots"])
        return {"staging": self.staging.row()}

    def _draw(self, case, seed, family, slots):
        problem = self._opened()
        if family not in values.FAMILIES + values.MODULE_FAMILIES:
            raise JudgeError("config", "%s: there is no value family %s (there are: %s)"
                             % (problem.file, family, ", ".join(values.FAMILIES + values.MODULE_FAMILIES)))
        self._forget()
        self.staging.arrange(problem, case, slots)
        for slot, tensors in enumerate(self.staging.inputs):
            problem.fill(case, family, seed, slot, tensors)
        self.staging.settle()
        self._give_back()
        self.drawn = (case, family)
        self.draw_name = (problem.key, tuple(sorted(case.sizes.items())), family, seed)

    def _give_back(self):
        """What a module left in torch's cache may be half a card: the candidate's process needs it."""
        if self.cuda and self.problem.module is not None:
            torch.cuda.empty_cache()

    def _slim(self):
        """A truth beyond the room for truths is not kept for the next candidate."""
        if sum(kept.bytes() for kept in self.truths.values()) > TRUTH_BYTES[self.device.type]:
            self.truths.clear()
            self._give_back()

    def truth(self, slot):
        name = self.draw_name + (slot,)
        truth = self.truths.pop(name, None) or self._make_truth(slot)
        self.truths[name] = truth
        room = TRUTH_BYTES[self.device.type] - sum(kept.bytes() for kept in self.truths.values())
        while room < 0 and len(self.truths) > 1:
            room += self.truths.pop(next(iter(self.truths))).bytes()
        return truth

    def _make_truth(self, slot):
        """What is kept gives way where memory does not suffice."""
        try:
            return self._truth_of(slot)
        except Exception as fault:
            if not (is_out_of_memory(fault) and self.truths):
                raise
        self.truths.clear()
        if self.cuda:
            torch.cuda.empty_cache()
        return self._truth_of(slot)

    def _truth_of(self, slot):
        case, family = self.drawn
        inputs = self.staging.inputs[slot]
        whole = values.are_whole(self.problem.inputs, family)
        return oracle.Truth(self.problem, case, inputs, not self.cuda, whole)

    def verdict(self, slot, answer, salt):
        case, family = self.drawn
        return compare.judge(self.problem, case, family, answer, self.truth(slot),
                             self.staging.inputs[slot], salt)

    def compare(self, request):
        if self.drawn is None:
            raise JudgeError("internal", "nothing is drawn")
        slot = request["slot"]
        if not 0 <= slot < len(self.staging.inputs):
            raise JudgeError("internal", "there is no slot %d" % slot)
        result = self.verdict(slot, self.staging.outputs, request["salt"])
        self._slim()
        self.staging.wipe()
        return result

    # ---- baseline ----

    def baseline(self, request):
        if not self.cuda:
            raise JudgeError("unavailable", "baselines are measured on a CUDA device only")
        problem = self._opened()
        family = "normal" if "normal" in problem.families else problem.families[0]
        self._draw(Case(request["case"]), request["seed"], family, request["slots"])
        return baseline.measure(self, request)

    # ---- a baseline in turns with a candidate ----

    def _disarm(self):
        armed, self.armed = self.armed, None
        if armed is not None:
            armed.session.close()
            armed.drop()

    def arm(self, request):
        if not self.cuda or self.drawn is None:
            raise JudgeError("unavailable", "a baseline is timed on a CUDA device, after a draw")
        self._disarm()
        self.armed = baseline.Armed(self, request["mode"], request["chained"], request["settle"])
        return {"timing": self.armed.session.armed.row()}

    def block(self, request):
        if self.armed is None:
            raise JudgeError("internal", "nothing is armed")
        return {"timing": self.armed.session.block(request["samples"], request["untimed"]).row()}

    def profile(self, request):
        if self.armed is None:
            raise JudgeError("internal", "nothing is armed")
        return {"spans": self.armed.session.profile(request["samples"],
                                                    request["library"] or timing.find_cupti())}

    def disarm(self, request):
        if self.armed is None:
            raise JudgeError("internal", "nothing is armed")
        armed, self.armed = self.armed, None
        return {"wrong": armed.close()}

    # ---- loop ----

    OPS = {"facts": facts, "open": open, "contract": contract, "validate": validate, "draw": draw,
           "compare": compare, "baseline": baseline, "arm": arm, "block": block, "profile": profile,
           "disarm": disarm}

    def answer(self, request):
        method = self.OPS.get(request.get("op"))
        if method is None:
            raise JudgeError("internal", "unknown request %r" % request.get("op"))
        with torch.no_grad():
            return method(self, request)


def same(a, b):
    """Bit for bit, NaN equal to NaN."""
    if a.dtype.is_floating_point:
        return bool(((a == b) | (torch.isnan(a) & torch.isnan(b))).all())
    return bool((a == b).all())


def failure(fault):
    """The reply of a request that failed."""
    if isinstance(fault, JudgeError):
        return {"ok": False, "code": fault.code, "text": fault.text, "restart": fault.restart}
    if is_gpu_fault(fault):
        what = "out of memory" if is_out_of_memory(fault) else "CUDA failed"
        return {"ok": False, "code": "gpu", "text": "%s: %s" % (what, first_line(fault)),
                "restart": True}
    traceback.print_exc()
    return {"ok": False, "code": "internal", "restart": True,
            "text": "%s: %s" % (type(fault).__name__, first_line(fault))}


def clean(value):
    """JSON knows no NaN and no Inf."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value


def respond(make, request):
    try:
        reply = make(request)
        reply["ok"] = True
    except BaseException as fault:  # a reference may raise SystemExit
        reply = failure(fault)
    reply["id"] = request.get("id")
    return reply


def serve(channel, judge, make_judge):
    """Requests until the peer closes. The first one starts torch's device, so that its failure is a
    reply and not a death."""
    lines = channel.makefile("rb")
    while True:
        line = lines.readline(LINE_MAX)
        if not line:
            return
        request = json.loads(line)

        def run(wanted):
            if not judge:
                judge.append(make_judge())
            return judge[0].answer(wanted)

        reply = respond(run, request)
        channel.sendall(json.dumps(clean(reply), allow_nan=False).encode() + b"\n")


def watch(channel, judge):
    """Ends the process when the peer is gone, also in the middle of a request."""
    poll = select.poll()
    poll.register(channel.fileno(), getattr(select, "POLLRDHUP", 0x2000))
    poll.poll()
    end(judge)


def end(judge):
    """At once: what torch and the driver would tidy up ends with the process anyway."""
    for one in judge:
        one.staging.unlink()
    os._exit(0)


def main(arguments):
    device, timing_lib, cache_dir = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when we end
    os.dup2(2, 1)  # what a reference prints is no protocol
    channel = socket.socket(fileno=3)
    channel.set_inheritable(False)
    judge = []
    threading.Thread(target=watch, args=(channel, judge), daemon=True).start()
    serve(channel, judge, lambda: Judge(device, timing_lib, cache_dir))
    end(judge)


if __name__ == "__main__":
    main(sys.argv[1:])
