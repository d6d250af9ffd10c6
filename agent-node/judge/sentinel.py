# SPDX-License-Identifier: MIT
"""sentinel - the patterns a runner fills outputs with before a launch.

Mirrors agent-node/runner/buffers.h: an element that still holds its sentinel was never written."""

import torch

MASK = (1 << 64) - 1
SHADOWS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def mix(salt):
    """The finaliser of splitmix64."""
    z = (salt + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def bits(dtype_name, salt):
    """The bits of one unwritten element."""
    p = mix(salt)
    if dtype_name == "f16":
        return 0x7E00 | (1 + p % 510)
    if dtype_name == "bf16":
        return 0x7FC0 | (1 + p % 62)
    if dtype_name == "f32":
        return 0x7FC00000 | (1 + p % 4194302)
    if dtype_name == "f64":
        return (0x7FF80000 | (1 + p % 524286)) * 0x100000001
    return {"i8": 0xA5, "u8": 0xA5, "bool": 0xA5, "i32": 0xA5A5A5A5,
            "i64": 0xA5A5A5A5A5A5A5A5}[dtype_name]


def shadow(values, item_size):
    """The same memory as integers, so that NaN payloads can be compared."""
    return values.view(SHADOWS[item_size])


def unwritten(tensor, values, salt):
    """Mask of the elements that hold the sentinel; no salt, no sentinel."""
    if salt is None:
        return torch.zeros(values.shape, dtype=torch.bool, device=values.device)
    pattern = bits(tensor.dtype_name, salt)
    width = 8 * tensor.item_size
    if width > 8 and pattern >= 1 << (width - 1):
        pattern -= 1 << width
    return shadow(values, tensor.item_size) == pattern
