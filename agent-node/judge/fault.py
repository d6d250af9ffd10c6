# SPDX-License-Identifier: MIT
"""fault - what goes wrong in the judge, and the names of dtypes that its messages use."""

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


def first_line(text):
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return lines[0][:300] if lines else ""


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
