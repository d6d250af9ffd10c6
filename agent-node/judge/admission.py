# SPDX-License-Identifier: MIT
"""admission - how much does passing a KernelBench problem prove?

On the problem's own inputs, candidates that compute nothing are compared with the reference:

  zeros            0 everywhere
  constant         the median of the reference on other inputs and parameters, everywhere
  copy             the first float input with as many elements as the output
  other inputs     the reference on inputs of another seed, with the same parameters
  other parameters the reference on the same inputs with every parameter changed
  part             the reference on one hundredth of the data (losses only)

One that passes at KernelBench's tolerance makes the problem degenerate at it: it is kept and run, and
counted apart. `refused` says which of those that pass fail ce-correct-1 all the same."""

import time

import torch

import compare
import kernelbench
import oracle
from fault import JudgeError, first_line, is_gpu_fault, is_out_of_memory
from problem import Case

TOLERANCES = (1e-4, 1e-2)
CPU_ELEMENTS_MAX = 1 << 16
SEEDS = (0x5EED01, 0x5EED02)
SALT = None
TIMED = 3
MEDIAN_SAMPLES = 100000
PART = 100


def start(device):
    """A judge on the device, in this process."""
    import judge
    return judge.Judge(device, None, "/tmp")


def admit(judge, row):
    """What is known of the problem: {"status", "degenerate", …}."""
    known = {"status": "admitted", "reason": None, "degenerate": [], "torch": torch.__version__,
             "device": torch.cuda.get_device_name(judge.device) if judge.cuda else "cpu",
             "tf32": bool(torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32)}
    started = time.monotonic()
    why = cannot(judge, row)
    if why:
        known.update(status="not runnable here", reason=why)
        return known
    try:
        known.update(_Trial(judge, row).run())
    except JudgeError as fault:
        known.update(status="not admitted", reason=fault.text)
    except Exception as fault:
        if is_gpu_fault(fault) and not is_out_of_memory(fault):
            raise
        known.update(status="not admitted", reason="%s: %s" % (type(fault).__name__, first_line(fault)))
    judge._forget()
    judge.problems.clear()
    judge.problem = None
    judge.truths.clear()
    if judge.cuda:
        torch.cuda.empty_cache()
    known["seconds"] = round(time.monotonic() - started, 2)
    return known


def cannot(judge, row):
    """Why this device cannot run it, or None."""
    largest = max(kernelbench._product(tensor["shape"]) for tensor in
                  row["contract"]["inputs"] + row["contract"]["outputs"])
    if not judge.cuda:
        return "a tensor has %d elements, more than is tried on a CPU" % largest if largest > CPU_ELEMENTS_MAX else None
    total = torch.cuda.get_device_properties(judge.device).total_memory
    needs = row["bytes"]["needs"]
    return "not runnable here (needs %.1f GiB)" % (needs / 2 ** 30) if needs > total else None


def case_of(contract):
    """A contract without dims, evaluated."""
    tensors = contract["inputs"] + contract["outputs"]
    return {"label": "its fixed shape", "reduction": int(contract["reduction"]), "ranges": {},
            "sizes": {tensor["name"]: tensor["shape"] for tensor in tensors}}


class _Trial:
    def __init__(self, judge, row):
        self.judge = judge
        self.row = row
        judge.open({"contract": row["contract"], "reference": row["reference"], "reference_file": row["file"]})
        self.problem = judge.problem
        self.case = Case(case_of(row["contract"]))
        if judge.cuda:
            torch.cuda.reset_peak_memory_stats()

    def run(self):
        inputs = self.problem.empty(self.case)
        self.fill(inputs, kernelbench.OWN, SEEDS[0])
        first = self.call(inputs)
        oracle.check_outputs(self.problem, self.case, [first], "", None)
        self.finite = bool(torch.isfinite(first.float()).all()) if first.numel() <= 1 << 28 else True
        passing, worst = {}, {}
        for name, make in self.candidates(inputs, first):
            answer = make()
            if answer is None:
                continue
            closes = {tolerance: compare.kernelbench_close(first, answer, tolerance) for tolerance in TOLERANCES}
            worst[name] = closes[TOLERANCES[0]]["max_difference"]
            passing[name] = [tolerance for tolerance in TOLERANCES if closes[tolerance]["close"]]
            del answer
        degenerate = [name for name, passed in passing.items() if TOLERANCES[0] in passed]
        row = {"degenerate": degenerate, "loose": [n for n, p in passing.items() if TOLERANCES[1] in p],
               "max_difference": worst, "finite": self.finite, "signed": self.problem.module.signed,
               "eager_ms": self.eager(inputs)}
        row["refused"] = [name for name in degenerate if self.refused(name)]
        if self.judge.cuda:
            row["peak_bytes"] = torch.cuda.max_memory_allocated()
        return row

    def fill(self, inputs, family, seed):
        self.problem.fill(self.case, family, seed, 0, inputs)

    def call(self, inputs):
        with torch.no_grad():
            return self.problem.call(inputs)[0]

    def eager(self, inputs):
        """The median of a few calls, ms; no claim beyond the order of magnitude."""
        times = []
        for _ in range(TIMED):
            if self.judge.cuda:
                torch.cuda.synchronize()
            started = time.perf_counter()
            self.call(inputs)
            if self.judge.cuda:
                torch.cuda.synchronize()
            times.append((time.perf_counter() - started) * 1e3)
        return sorted(times)[len(times) // 2]

    # ---- candidates ----

    def candidates(self, inputs, first):
        return (("zeros", lambda: torch.zeros_like(first)),
                ("constant", lambda: self.constant(first)),
                ("copy", lambda: self.copy(inputs, first)),
                ("other inputs", lambda: self.other_inputs(inputs)),
                ("other parameters", lambda: self.other_parameters(inputs)),
                ("part", lambda: self.part(inputs, first)))

    def constant(self, first):
        other = self.problem.empty(self.case)
        self.fill(other, kernelbench.OWN, SEEDS[1])
        flat = self.call(other).reshape(-1)
        step = max(1, flat.numel() // MEDIAN_SAMPLES)
        return torch.full_like(first, flat[::step].float().median().to(first.dtype).item())

    @staticmethod
    def copy(inputs, first):
        for value in inputs:
            if value.is_floating_point() and value.numel() == first.numel():
                return value.reshape(first.shape).to(first.dtype)
        return None

    def forwarded(self):
        """Which inputs forward's own arguments and draws are; the rest are parameters and buffers."""
        layout = self.problem.module.layout
        names = {name for _, name, _ in layout.arguments} | {name for _, _, _, name in layout.draws}
        return [tensor.name in names for tensor in self.problem.inputs]

    def mixed(self, inputs, family, take):
        """The reference with some inputs of another draw."""
        other = self.problem.empty(self.case)
        self.fill(other, family, SEEDS[1] if family == kernelbench.OWN else SEEDS[0])
        return self.call([theirs if wanted else mine for mine, theirs, wanted in zip(inputs, other, take)])

    def other_inputs(self, inputs):
        return self.mixed(inputs, kernelbench.OWN, self.forwarded())

    def other_parameters(self, inputs):
        if kernelbench.REWEIGHTED not in self.problem.families:
            return None
        return self.mixed(inputs, kernelbench.REWEIGHTED, [not own for own in self.forwarded()])

    def part(self, inputs, first):
        """One hundredth of the batch, where the output is one number."""
        tensors = [value for value in inputs if value.dim()]
        if first.numel() != 1 or not tensors or len({len(value) for value in tensors}) != 1:
            return None
        count = max(1, len(tensors[0]) // PART)
        return self.call([value[:count] if value.dim() else value for value in inputs])

    # ---- ce-correct-1 ----

    def refused(self, name):
        """Whether our check refuses this candidate on some family."""
        for family in self.problem.families:
            self.judge._draw(self.case, SEEDS[0], family, 1)
            inputs = self.judge.staging.inputs[0]
            first = self.call(inputs)
            answer = dict(self.candidates(inputs, first))[name]()
            del first
            if answer is None:
                continue
            verdict = compare.judge(self.problem, self.case, family, [answer.contiguous()], self.judge.truth(0),
                                    inputs, SALT)
            if not verdict["equal"]:
                return True
        return False
