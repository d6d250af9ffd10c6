# SPDX-License-Identifier: MIT
"""values - input values by family and seed, drawn on the device.

A draw is named by (seed, slot, input, family): the same name gives the same values on the same kind
of device, another slot or input gives others. Families:

  normal    N(0, 1); integers: rounded N(0, 100) inside the type
  uniform   [-1, 1); integers: the type's range, at most -128 … 127
  positive  [2^-10, 1]; integers: 1 … 100
  constant  one value for the whole tensor, ±[0.5, 2); integers: one of ±1 … 100
  zeros     +0 and -0 mixed; integers: 0
  ties      few distinct values, so that almost every value has equals
  integers  small whole numbers -4 … 4 (0 … 4 unsigned): sums are exact

bool draws are fair coins, but for zeros (all false) and constant (all equal)."""

import hashlib

import torch

FAMILIES = ("normal", "uniform", "positive", "constant", "zeros", "ties", "integers")
# Rounding errors average out only where the inputs have no bias.
ZERO_MEAN = ("normal", "uniform", "integers")
TIES = (-1.0, 0.0, 0.5, 1.0)
RANGES = {
    torch.int8: (-128, 127),
    torch.uint8: (0, 255),
    torch.int32: (-(1 << 31), (1 << 31) - 1),
    torch.int64: (-(1 << 63), (1 << 63) - 1),
}


def stream_seed(seed, slot, name, family):
    text = "%d/%d/%s/%s" % (seed, slot, name, family)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def draw(tensor, shape, family, seed, slot, device, out=None):
    """Values for one input, into `out` (a tensor of the contract's dtype) or a fresh tensor."""
    if out is None:
        out = torch.empty(shape, dtype=tensor.dtype, device=device)
    if out.numel() == 0:
        return out
    generator = torch.Generator(device=device)
    generator.manual_seed(stream_seed(seed, slot, tensor.name, family))
    source = _Source(tuple(shape), device, generator)
    if tensor.dtype == torch.bool:
        out.copy_(_bools(source, family))
    elif tensor.is_float:
        wide = torch.float64 if tensor.dtype == torch.float64 else torch.float32
        out.copy_(_floats(source, family, wide))
    else:
        out.copy_(_integers(source, family, *RANGES[tensor.dtype]))
    return out


class _Source:
    """Random tensors of one shape from one generator."""

    def __init__(self, shape, device, generator):
        self.shape = shape
        self.device = device
        self.generator = generator

    def normal(self, dtype):
        return torch.randn(self.shape, dtype=dtype, device=self.device, generator=self.generator)

    def uniform(self, dtype):
        return torch.rand(self.shape, dtype=dtype, device=self.device, generator=self.generator)

    def whole(self, low, high):
        """low … high, both included."""
        return torch.randint(low, high + 1, self.shape, device=self.device,
                             generator=self.generator)

    def one(self, low, high):
        return torch.randint(low, high + 1, (), device=self.device, generator=self.generator)

    def same(self, value, dtype):
        return torch.full(self.shape, value, dtype=dtype, device=self.device)


def _floats(source, family, dtype):
    if family == "normal":
        return source.normal(dtype)
    if family == "uniform":
        return source.uniform(dtype).mul_(2).sub_(1)
    if family == "positive":
        return source.uniform(dtype).mul_(1 - 2.0 ** -10).add_(2.0 ** -10)
    if family == "constant":
        magnitude = 0.5 + int(source.one(0, 1535)) / 1024.0
        return source.same(-magnitude if int(source.one(0, 1)) else magnitude, dtype)
    if family == "zeros":
        return source.whole(0, 1).to(dtype).sub_(0.5).mul_(0.0)
    if family == "ties":
        table = torch.tensor(TIES, dtype=dtype, device=source.device)
        return table[source.whole(0, len(TIES) - 1)]
    return source.whole(-4, 4).to(dtype)


def _integers(source, family, low, high):
    if family == "normal":
        return source.normal(torch.float32).mul_(100).round_().clamp_(max(low, -1e9), min(high, 1e9))
    if family == "uniform":
        return source.whole(max(low, -128), min(high, 127 if low < 0 else 255))
    if family == "positive":
        return source.whole(1, min(high, 100))
    if family == "constant":
        value = int(source.one(1, 100))
        negative = low < 0 and int(source.one(0, 1)) == 1
        return source.same(-value if negative else value, torch.int64)
    if family == "zeros":
        return source.same(0, torch.int64)
    if family == "ties":
        return source.whole(0, 3)
    return source.whole(max(low, -4), 4)


def _bools(source, family):
    if family == "zeros":
        return source.same(0, torch.int64)
    if family == "constant":
        return source.same(int(source.one(0, 1)), torch.int64)
    return source.whole(0, 1)
