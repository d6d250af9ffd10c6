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

DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i32": torch.int32,
    "i64": torch.int64,
    "bool": torch.bool,
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
ITEM_SIZES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "u8": 1, "i32": 4, "i64": 8, "bool": 1}


class JudgeError(Exception):
    """A failure of the harness or of the suite's files: code is what the client maps to an err."""

    def __init__(self, code, text, restart=False):
        super().__init__(text)
        self.code = code
        self.text = text
        self.restart = restart


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


def first_line(text):
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return lines[0][:300] if lines else ""


class Problem:
    def __init__(self, contract, text, file):
        self.name = contract["problem"]
        self.inputs = [Tensor(row) for row in contract["inputs"]]
        self.outputs = [Tensor(row) for row in contract["outputs"]]
        self.scalars = {row["name"]: scalar_value(row) for row in contract.get("scalars", [])}
        self.families = contract["values"]
        self.order_free = contract.get("order_free", False)
        self.file = file
        self.key = hashlib.sha256(repr((contract, text, file)).encode()).hexdigest()
        self.function = self._load(text)

    def _load(self, text):
        module = types.ModuleType("ce_reference_" + self.key[:16])
        module.__file__ = self.file
        # torch.compile and tracebacks read the source through linecache: it may exist nowhere else.
        linecache.cache[self.file] = (len(text), None, text.splitlines(True), self.file)
        sys.modules[module.__name__] = module
        try:
            exec(compile(text, self.file, "exec"), module.__dict__)
        except SyntaxError as fault:
            raise JudgeError("config", "%s:%s: %s" % (self.file, fault.lineno, fault.msg))
        except Exception as fault:
            raise JudgeError("config", "%s: loading raised %s: %s"
                             % (self.where(fault), type(fault).__name__, first_line(fault)))
        function = module.__dict__.get("reference", module.__dict__.get("REFERENCE"))
        if not callable(function):
            raise JudgeError("config", "%s:1: there is no function `reference`" % self.file)
        return function

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
        names = [tensor.name for tensor in self.inputs]
        function, scalars = self.function, self.scalars

        def run(*tensors):
            return function(**dict(zip(names, tensors)), **scalars)

        return torch.compile(run, **options) if options else run


def is_out_of_memory(fault):
    kind = getattr(torch.cuda, "OutOfMemoryError", None)
    if kind is not None and isinstance(fault, kind):
        return True
    return isinstance(fault, MemoryError) or any(
        words in str(fault) for words in ("out of memory", "allocate memory"))


def is_gpu_fault(fault):
    """Out of memory and CUDA errors: the process is not trusted any more after one."""
    text = str(fault)
    return is_out_of_memory(fault) or (isinstance(fault, RuntimeError) and (
        "CUDA error" in text or "CUDA driver error" in text or "cuDNN error" in text
        or "CUBLAS_STATUS" in text))
