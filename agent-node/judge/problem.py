# SPDX-License-Identifier: MIT
"""problem - a contract and its reference, ready to be called.

The contract's sizes arrive evaluated (a Case), so nothing here knows expressions. What a reference
does wrong is a JudgeError of code "config" that names file and line."""

import hashlib
import linecache
import struct
import sys
import traceback
import types

import torch

import kernelbench
import values
from fault import JudgeError, first_line, is_gpu_fault, is_out_of_memory  # noqa: F401
from fault import DTYPE_NAMES, DTYPES, ITEM_SIZES  # noqa: F401

class Tensor:
    """A tensor of the contract."""

    def __init__(self, row):
        self.name = row["name"]
        self.dtype_name = row["dtype"]
        self.dtype = DTYPES[row["dtype"]]
        self.item_size = ITEM_SIZES[row["dtype"]]
        self.is_float = self.dtype.is_floating_point
        self.ascending = row.get("order") == "sorted"
        self.families = row.get("families", ())


class Case:
    """One shape of the contract, evaluated: sizes of every tensor and the reduction length."""

    def __init__(self, row):
        self.label = row["label"]
        self.sizes = {name: tuple(size) for name, size in row["sizes"].items()}
        self.ranges = row.get("ranges", {})
        self.reduction = max(1, row["reduction"])

    def elements(self, tensor):
        count = 1
        for size in self.sizes[tensor.name]:
            count *= size
        return count

    def largest(self, tensors):
        return max((self.elements(tensor) for tensor in tensors), default=0)

    def has_empty(self, tensors):
        return any(self.elements(tensor) == 0 for tensor in tensors)


def scalar_value(row):
    """A scalar as the kernel sees it: f32 values are rounded to f32 on both sides."""
    if row["dtype"] in ("i32", "i64"):
        return int(row["value"])
    if row["dtype"] == "f32":
        return struct.unpack("f", struct.pack("f", row["value"]))[0]
    return float(row["value"])


class Problem:
    def __init__(self, contract, text, file, device=None):
        self.name = contract["problem"]
        self.inputs = [Tensor(row) for row in contract["inputs"]]
        self.outputs = [Tensor(row) for row in contract["outputs"]]
        self.scalars = {row["name"]: scalar_value(row) for row in contract.get("scalars", [])}
        self.families = contract["values"]
        self.order_free = contract.get("order_free", False)
        self.file = file
        self.key = hashlib.sha256(repr((contract, text, file)).encode()).hexdigest()
        self.device = device or torch.device("cpu")
        self.module = None  # a kernelbench.Bound: draws its own values
        self.function = self._load(text)

    def _load(self, text):
        module = types.ModuleType("ce_reference_" + self.key[:16])
        module.__file__ = self.file
        # torch.compile and tracebacks read the source through linecache: it may exist nowhere else.
        linecache.cache[self.file] = (len(text), None, text.splitlines(True), self.file)
        sys.modules[module.__name__] = module
        kernelbench.supply()
        try:
            exec(compile(text, self.file, "exec"), module.__dict__)
        except SyntaxError as fault:
            raise JudgeError("config", "%s:%s: %s" % (self.file, fault.lineno, fault.msg))
        except Exception as fault:
            raise JudgeError("config", "%s: loading raised %s: %s"
                             % (self.where(fault), type(fault).__name__, first_line(fault)))
        function = module.__dict__.get("reference", module.__dict__.get("REFERENCE"))
        if function is None and kernelbench.is_module(module.__dict__):
            function = self.module = kernelbench.Bound(module.__dict__, self.device)
        strange = [name for name in self.families if name in kernelbench.FAMILIES]
        if strange and self.module is None:
            raise JudgeError("config", "%s:1: the value family %s needs a Model with get_inputs"
                             % (self.file, strange[0]))
        if not callable(function):
            raise JudgeError("config", "%s:1: there is no function `reference`" % self.file)
        return function

    def fill(self, case, family, seed, slot, tensors):
        """Input values into the given tensors, in the contract's order."""
        if self.module is not None:
            named = {tensor.name: out for tensor, out in zip(self.inputs, tensors)}
            self.module.fill(named, family, values.stream_seed(seed, slot, self.name, family), self.call_on)
            return
        for tensor, out in zip(self.inputs, tensors):
            values.draw(tensor, case.sizes[tensor.name], family, seed, slot, self.device, out,
                        case.ranges.get(tensor.name))

    def empty(self, case):
        """Tensors for the inputs, not filled."""
        return [torch.empty(case.sizes[tensor.name], dtype=tensor.dtype, device=self.device)
                for tensor in self.inputs]

    def is_unbiased(self, family):
        """Whether every float input is drawn with mean zero."""
        if self.module is not None and self.module.signed is False:
            return False
        return values.is_unbiased(self.inputs, family)

    def call_on(self, named):
        return self.call([named[tensor.name] for tensor in self.inputs])

    def close(self):
        sys.modules.pop("ce_reference_" + self.key[:16], None)

    def where(self, fault=None):
        """file:line of the innermost frame inside the reference, else of its definition."""
        for frame in reversed(traceback.extract_tb(fault.__traceback__) if fault else []):
            if frame.filename == self.file:
                return "%s:%d" % (self.file, frame.lineno)
        code = getattr(getattr(self, "function", None), "__code__", None)
        return "%s:%d" % (self.file, code.co_firstlineno if code else 1)

    def bind(self, inputs):
        named = {tensor.name: value for tensor, value in zip(self.inputs, inputs)}
        named.update(self.scalars)
        return named

    def call(self, inputs):
        """The reference's outputs as a list, one a contract output. GPU faults pass through."""
        try:
            result = self.function(**self.bind(inputs))
        except Exception as fault:
            if is_gpu_fault(fault):
                raise
            raise JudgeError("config", "%s: reference raised %s: %s"
                             % (self.where(fault), type(fault).__name__, first_line(fault)))
        return self.outputs_of(result)

    def outputs_of(self, result):
        values = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(values) != len(self.outputs):
            raise JudgeError("config", "%s: reference returned %d outputs, the contract says %d"
                             % (self.where(), len(values), len(self.outputs)))
        for tensor, value in zip(self.outputs, values):
            if not isinstance(value, torch.Tensor):
                raise JudgeError("config", "%s: output %s is a %s, not a tensor"
                                 % (self.where(), tensor.name, type(value).__name__))
        return values

    def compiled(self, **options):
        """A function of the input tensors alone, through torch.compile when options are given."""
        if self.module is not None and options:
            return torch.compile(self.module.traceable([tensor.name for tensor in self.inputs], self.scalars), **options)
        names = [tensor.name for tensor in self.inputs]
        function, scalars = self.function, self.scalars

        def run(*tensors):
            return function(**dict(zip(names, tensors)), **scalars)

        return torch.compile(run, **options) if options else run
