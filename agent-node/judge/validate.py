# SPDX-License-Identifier: MIT
"""validate - is a problem fit to judge by? Checks of the reference and the contract, no kernel needed.

  contract  the reference keeps the contract's promises at every shape
  stable    as a candidate, the reference passes 100 seeds, dealt over shapes and families
  inputs    every input changes some output
  varied    every output takes more than one value
  families  every family leaves something finite to compare
  floor     the benchmark moves enough memory to be timed

Each check is a row {name, ok, text}; a check that raises is one that failed."""

import torch

import oracle
import values
from problem import Case, JudgeError

SEEDS = 100
TRIES = 8  # draws that may show that an input matters
SALT = 0x5EED
BANDWIDTH = 4.8e12  # bytes a second, H200
FLOOR_MIN_MS = 0.001
FLOOR_MAX_MS = 100.0


def deal(cases, families, number):
    """(case, family) of a seed: every pair comes up once there are enough seeds."""
    rounds, place = divmod(number, len(cases))
    return cases[place], families[(place + rounds) % len(families)]


class _Seen:
    """What the draws have shown so far."""

    def __init__(self, problem):
        self.problem = problem
        self.single = [set() for _ in problem.outputs]
        self.varied = [False for _ in problem.outputs]
        self.finite = set()

    def note(self, family, outputs):
        for i, value in enumerate(outputs):
            if value.numel() == 0:
                continue
            flat = value.reshape(-1)
            if bool((flat != flat[0]).any()):
                self.varied[i] = True
            self.single[i].add(repr(flat[0].item()))
            if not flat.dtype.is_floating_point or bool(torch.isfinite(flat).any()):
                self.finite.add(family)

    def constant(self):
        return [tensor.name for tensor, varied, single
                in zip(self.problem.outputs, self.varied, self.single)
                if not varied and len(single) < 2]


def contract(judge, cases):
    for case in cases:
        judge._contract_case(judge.problem, case)
    return "%d shapes" % len(cases)


def stable(judge, cases, seen):
    problem = judge.problem
    for number in range(SEEDS):
        case, family = deal(cases, problem.families, number)
        judge._draw(case, number + 1, family, 1)
        truth = judge.truth(0)
        answer = [value.contiguous() for value in truth.reference]
        verdict = judge.verdict(0, answer, SALT + number)
        if not verdict["equal"]:
            raise JudgeError("config", "seed %d, %s, family %s: the reference fails its own check: %s"
                             % (number + 1, case.label, family, verdict["text"]))
        seen.note(family, truth.oracle)
    return "%d seeds" % SEEDS


def matters(judge, cases, index):
    """Whether another draw of one input changes an output."""
    problem = judge.problem
    tensor = problem.inputs[index]
    for number in range(TRIES * len(problem.families)):
        case, family = deal(cases, problem.families, number)
        if case.has_empty(problem.inputs) or case.has_empty(problem.outputs):
            continue
        judge._draw(case, number + 1, family, 1)
        inputs = list(judge.staging.inputs[0])
        before = oracle.upcast(problem, inputs)
        inputs[index] = values.draw(tensor, case.sizes[tensor.name], family, SEEDS + number, 0,
                                    judge.device, bounds=case.ranges.get(tensor.name))
        if any(not same(a, b) for a, b in zip(before, oracle.upcast(problem, inputs))):
            return True
    return False


def same(a, b):
    if a.shape != b.shape:
        return False
    if a.dtype.is_floating_point:
        return bool(((a == b) | (torch.isnan(a) & torch.isnan(b))).all())
    return bool((a == b).all())


def inputs(judge, cases):
    idle = [tensor.name for i, tensor in enumerate(judge.problem.inputs)
            if not matters(judge, cases, i)]
    if idle:
        raise JudgeError("config", "no output depends on input %s" % ", ".join(idle))
    return "%d inputs" % len(judge.problem.inputs)


def varied(judge, seen):
    names = seen.constant()
    if names:
        raise JudgeError("config", "output %s is the same whatever the inputs" % ", ".join(names))
    return "%d outputs" % len(judge.problem.outputs)


def families(judge, cases, seen):
    lost = [name for name in judge.problem.families if name not in seen.finite]
    if lost:
        raise JudgeError("config", "on family %s no output is finite: nothing can be compared"
                         % ", ".join(lost))
    return ", ".join(judge.problem.families)


def floor(judge, benchmark):
    problem = judge.problem
    moved = sum(benchmark.elements(tensor) * tensor.item_size
                for tensor in problem.inputs + problem.outputs)
    ms = moved / BANDWIDTH * 1e3
    text = "%.1f MB at %s: at least %.4f ms on an H200" % (moved / 1e6, benchmark.label, ms)
    if not FLOOR_MIN_MS <= ms <= FLOOR_MAX_MS:
        raise JudgeError("config", "%s; a benchmark's floor must be %g to %g ms"
                         % (text, FLOOR_MIN_MS, FLOOR_MAX_MS))
    return {"text": text, "ms": ms}


def row(name, check):
    try:
        said = check()
        return dict({"name": name, "ok": True}, **(said if isinstance(said, dict) else {"text": said}))
    except JudgeError as fault:
        if fault.code != "config":
            raise
        return {"name": name, "ok": False, "text": fault.text}


def run(judge, request, elements_max):
    """The reply of the request `validate`. Shapes beyond elements_max are left out."""
    problem = judge.problem
    every = [Case(case) for case in request["cases"]]
    tensors = problem.inputs + problem.outputs
    cases = [case for case in every
             if elements_max is None or case.largest(tensors) <= elements_max]
    seen = _Seen(problem)
    rows = [row("contract", lambda: contract(judge, cases)),
            row("stable", lambda: stable(judge, cases, seen))]
    if all(one["ok"] for one in rows):
        rows += [row("inputs", lambda: inputs(judge, cases)),
                 row("varied", lambda: varied(judge, seen)),
                 row("families", lambda: families(judge, cases, seen))]
    rows.append(row("floor", lambda: floor(judge, every[-1])))
    return {"checks": rows}
