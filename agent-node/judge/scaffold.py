# SPDX-License-Identifier: MIT
"""scaffold - a problem's contract from a PyTorch function: `ce-coord suite new` runs this.

Its argument is a JSON object:

  {"from": "file.py:function" or "module:function",
   "inputs": [{"name": "x", "dtype": "f16", "sizes": ["rows", 3]}, …],
   "dims": {"rows": 4096, …}}                    sizes at the benchmark shape

and it writes one to stdout: {"ok": true, …the contract…} or {"ok": false, "text": "what is wrong"}. Output
sizes are found by calling the function at two sets of small sizes. Standard library and torch only."""

import importlib
import importlib.util
import inspect
import itertools
import json
import os
import sys
import traceback

import torch

import simulate
import values
from problem import DTYPE_NAMES, Tensor, first_line

# Two sets of sizes, all different and prime: what a size of an output is made of can be read off them.
PROBES = ((5, 7, 11, 13, 17, 19, 23, 29), (31, 37, 41, 43, 47, 53, 59, 61))
# Sizes that the shapes of the contract are made of.
SMALL = (1, 2, 3, 7, 17, 31, 33, 127, 129, 257, 1000, 1024, 1025, 4097)
ELEMENTS_MAX = 65536  # of most shapes: the emulator leaves larger ones out
SHAPES = 14
DIM_MAX = 8192


class Fault(Exception):
    """What the author can mend, in one sentence."""


# ---- the function ----

def load(where):
    place, _, name = where.rpartition(":")
    try:
        if place.endswith(".py"):
            spec = importlib.util.spec_from_file_location("ce_new", place)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            sys.path.insert(0, os.getcwd())
            module = importlib.import_module(place)
    except Exception as fault:
        raise Fault("--from %s: loading raised %s: %s" % (where, type(fault).__name__, first_line(fault)))
    function = getattr(module, name, None)
    if function is None:
        raise Fault("--from %s: there is no %s in %s" % (where, name, place))
    if not inspect.isfunction(function):
        raise Fault("--from %s: %s is a %s, not a function" % (where, name, type(function).__name__))
    return function, inspect.getsourcefile(module)


def text_of(function, file):
    with open(file, encoding="utf-8") as source:
        text = source.read()
    return text if function.__name__ == "reference" else text.rstrip("\n") + "\n\n\nREFERENCE = %s\n" % function.__name__


def scalars_of(function, names):
    """Parameters that are no inputs: numbers with a default."""
    rows = []
    parameters = inspect.signature(function).parameters
    for name in names:
        if name not in parameters:
            raise Fault("--shape %s: %s has no parameter %s (it has: %s)"
                        % (name, function.__name__, name, ", ".join(parameters)))
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise Fault("%s takes *%s: give every input a name" % (function.__name__, name))
        if name in names:
            continue
        value = parameter.default
        if value is parameter.empty:
            raise Fault("parameter %s has neither a --shape nor a default: say --shape %s=…" % (name, name))
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Fault("parameter %s has the default %r: a scalar is a number" % (name, value))
        rows.append({"name": name, "dtype": "i64" if isinstance(value, int) else "f32", "value": value})
    return rows


# ---- calling it ----

class Subject:
    def __init__(self, request):
        self.function, file = load(request["from"])
        self.reference = text_of(self.function, file)
        self.inputs = [(Tensor({"name": row["name"], "dtype": row["dtype"]}), row["sizes"])
                       for row in request["inputs"]]
        named = [size for _, sizes in self.inputs for size in sizes if isinstance(size, str)]
        self.dims = list(dict.fromkeys(named))  # in the order of appearance
        self.scalars = scalars_of(self.function, [tensor.name for tensor, _ in self.inputs])

    def draw(self, sizes, family="normal", wide=False):
        named = {}
        for tensor, shape in self.inputs:
            real = [sizes.get(size, size) for size in shape]
            value = values.draw(tensor, real, family, 1, 0, torch.device("cpu"))
            named[tensor.name] = value.double() if wide and tensor.is_float else value
        return named

    def call(self, named):
        named = dict(named, **{row["name"]: row["value"] for row in self.scalars})
        with torch.no_grad(), simulate.HalfMode():
            result = self.function(**named)
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        for value in outputs:
            if not isinstance(value, torch.Tensor):
                raise Fault("%s returns a %s, not a tensor" % (self.function.__name__, type(value).__name__))
        return outputs

    def tell(self, sizes, fault):
        line = next((frame.lineno for frame in reversed(traceback.extract_tb(fault.__traceback__))
                     if frame.name == self.function.__name__), 0)
        shapes = ", ".join("%s%s" % (tensor.name, [sizes.get(s, s) for s in shape]) for tensor, shape in self.inputs)
        return Fault("%s raised %s in line %d with %s: %s" % (self.function.__name__, type(fault).__name__, line,
                                                             shapes, first_line(fault)))

    def probe(self, sizes):
        try:
            return self.call(self.draw(sizes))
        except Fault:
            raise
        except Exception as fault:
            raise self.tell(sizes, fault)


# ---- what it returns ----

def expression(first, second, dims, probes):
    """What of the dims gives this size in both probes: a constant, a dim, a product of two."""
    if first == second:
        return first
    for name in dims:
        if (first, second) == (probes[0][name], probes[1][name]):
            return name
    for a, b in itertools.combinations(dims, 2):
        if (first, second) == tuple(probe[a] * probe[b] for probe in probes):
            return "%s * %s" % (a, b)
    return None


def outputs_of(subject):
    probes = [dict(zip(subject.dims, sizes)) for sizes in PROBES]
    first, second = (subject.probe(probe) for probe in probes)
    if len(first) != len(second):
        raise Fault("%s returns %d tensors at one size and %d at another"
                    % (subject.function.__name__, len(first), len(second)))
    rows = []
    for i, (a, b) in enumerate(zip(first, second)):
        name = "y" if len(first) == 1 else "y%d" % i
        if a.dtype not in DTYPE_NAMES or a.dtype != b.dtype:
            raise Fault("output %d has dtype %s, which no contract knows" % (i, a.dtype))
        if a.dim() != b.dim():
            raise Fault("output %d has rank %d at one size and %d at another" % (i, a.dim(), b.dim()))
        sizes = [expression(p, q, subject.dims, probes) for p, q in zip(a.shape, b.shape)]
        if None in sizes:
            raise Fault("output %d has shape %s at %s: dimension %d is no dim, constant or product of two dims"
                        % (i, list(a.shape), probes[0], sizes.index(None)))
        rows.append({"name": name, "dtype": DTYPE_NAMES[a.dtype], "sizes": sizes})
    taken = [tensor.name for tensor, _ in subject.inputs] + subject.dims + [s["name"] for s in subject.scalars]
    for row in rows:
        while row["name"] in taken:
            row["name"] += "_out"
    return rows


def reduction_of(subject, outputs):
    """The dims that are gone in the first output."""
    kept = " ".join(str(size) for size in outputs[0]["sizes"])
    gone = [name for name in subject.dims if name not in kept.replace("*", " ").split()]
    return " * ".join(gone) if gone else "1"


# ---- families and shapes ----

def families_of(subject):
    """The families whose values the function is defined for: something finite comes out."""
    sizes = dict(zip(subject.dims, PROBES[0]))
    good = []
    for family in values.FAMILIES:
        try:
            outputs = subject.call(subject.draw(sizes, family, wide=True))
        except Exception:
            continue
        if all(not value.dtype.is_floating_point or bool(torch.isfinite(value).any()) for value in outputs):
            good.append(family)
    if "normal" not in good:
        raise Fault("%s gives nothing finite on normal values: the checks need them" % subject.function.__name__)
    return good


def takes_zero(subject):
    sizes = dict(zip(subject.dims, PROBES[0]))
    sizes[subject.dims[0]] = 0
    try:
        subject.call(subject.draw(sizes))
    except Exception:
        return False
    return True


def largest(subject, sizes):
    most = 1
    for _, shape in subject.inputs:
        count = 1
        for size in shape:
            count *= sizes.get(size, size)
        most = max(most, count)
    return most


def shapes_of(subject, zero):
    rows = []
    if zero:
        rows.append(dict(zip(subject.dims, [0] + [129] * len(subject.dims))))
    for number in range(4 * len(SMALL)):
        sizes = {name: SMALL[(number * (2 * place + 1) + 5 * place) % len(SMALL)]
                 for place, name in enumerate(subject.dims)}
        if largest(subject, sizes) <= ELEMENTS_MAX and sizes not in rows and len(rows) < SHAPES:
            rows.append(sizes)
    return rows


def describe(request):
    subject = Subject(request)
    if not subject.dims:
        raise Fault("no dimension has a name: write --shape x=rows:4096,cols:4096")
    outputs = outputs_of(subject)
    zero = takes_zero(subject)
    return {"reference": subject.reference, "scalars": subject.scalars, "outputs": outputs,
            "reduction": reduction_of(subject, outputs), "values": families_of(subject),
            "elementwise": all(row["sizes"] == subject.inputs[0][1] for row in outputs),
            "dims": {name: [0 if zero and place == 0 else 1, max(DIM_MAX, 2 * request["dims"][name])]
                     for place, name in enumerate(subject.dims)},
            "shapes": shapes_of(subject, zero)}


def main():
    out = os.dup(1)
    os.dup2(2, 1)  # what the function prints is no answer
    request = json.loads(sys.argv[1])
    try:
        reply = dict(describe(request), ok=True)
    except Fault as fault:
        reply = {"ok": False, "text": str(fault)}
    with os.fdopen(out, "w") as channel:
        json.dump(reply, channel)


if __name__ == "__main__":
    main()
