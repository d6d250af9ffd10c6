# SPDX-License-Identifier: MIT
"""values - input values by family and seed, drawn on the device.

A draw is named by (seed, slot, input, family): the same name gives the same values on the same kind
of device, another slot or input gives others. A row is what lies along the last dimension. Floats:

  normal       N(0, 1)
  uniform      [-1, 1)
  positive     [2^-10, 1]
  constant     one value for the whole tensor, ±[0.5, 2)
  zeros        +0 and -0 mixed
  ties         few distinct values, so that almost every value has equals
  integers     small whole numbers -4 … 4: sums are exact
  permuted     all different within a row (as far as the dtype has so many), shuffled
  log_uniform  ±2^-20 … 2^20 by exponent, within the dtype's normal range
  one_hot      a single 1 in each row, else 0
  denormals    below the smallest normal number, both signs
  large        from half the largest number up to it, both signs
  sorted       normal, ascending within a row
  reversed     normal, descending within a row
  specials     normal with NaN and Inf: a row has none, one kind, or all; the first has all
  offset       a row is near one large value: 2^8 … 2^10 (bfloat16: 2^9), either sign, plus N(0, 1), or
               plus that in one element of 64 only (halves: of 1024)

Integers follow the same names: normal is rounded N(0, 100), uniform at most -128 … 127, positive 1 …
100, constant one of ±1 … 100, large the 100 values nearest to the ends of the dtype; denormals and
specials mean normal. With a range in the contract every value lies in it: large takes its ends, sorted,
reversed, permuted, constant, ties, zeros, one_hot keep their form, the rest is uniform in it. bool
draws are fair coins, but for zeros, constant, one_hot, sorted and reversed. An input of `order: sorted`
is sorted within its rows whatever its family."""

import hashlib
import math

import torch

FAMILIES = ("normal", "uniform", "positive", "constant", "zeros", "ties", "integers", "permuted",
            "log_uniform", "one_hot", "denormals", "large", "sorted", "reversed", "specials", "offset")
# A file of KernelBench's format draws for itself (kernelbench.py).
MODULE_FAMILIES = ("own", "signed", "reweighted")
# Rounding errors average out only where the inputs have no bias.
ZERO_MEAN = ("normal", "uniform", "integers", "signed")
TIES = (-1.0, 0.0, 0.5, 1.0)
RANGES = {
    torch.int8: (-128, 127),
    torch.uint8: (0, 255),
    torch.int32: (-(1 << 31), (1 << 31) - 1),
    torch.int64: (-(1 << 63), (1 << 63) - 1),
}
SHADOWS = {torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32,
           torch.float64: torch.int64}
MANTISSA = {torch.float16: 10, torch.bfloat16: 7, torch.float32: 23, torch.float64: 52}
RARE = 64  # one element in so many differs


def stream_seed(seed, slot, name, family):
    text = "%d/%d/%s/%s" % (seed, slot, name, family)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def family_of(tensor, dealt):
    """The family that an input takes when `dealt` is dealt to its shape."""
    if not tensor.families or dealt in tensor.families:
        return dealt
    return "normal" if "normal" in tensor.families else tensor.families[0]


def is_unbiased(tensors, dealt):
    """Whether every float input is drawn with mean zero."""
    return all(family_of(t, dealt) in ZERO_MEAN for t in tensors if t.is_float)


def are_whole(tensors, dealt):
    """Whether every float input is drawn as small whole numbers."""
    return all(family_of(t, dealt) in ("integers", "one_hot") for t in tensors if t.is_float)


def draw(tensor, shape, dealt, seed, slot, device, out=None, bounds=None):
    """Values for one input, into `out` (a tensor of the contract's dtype) or a fresh tensor."""
    if out is None:
        out = torch.empty(shape, dtype=tensor.dtype, device=device)
    if out.numel() == 0:
        return out
    family = family_of(tensor, dealt)
    generator = torch.Generator(device=device)
    generator.manual_seed(stream_seed(seed, slot, tensor.name, family))
    source = _Source(tuple(shape) or (1,), device, generator)
    if tensor.dtype == torch.bool:
        drawn = _bools(source, family)
    elif tensor.is_float:
        drawn = _floats(source, family, tensor.dtype)
    elif bounds is not None:
        drawn = _bounded(source, family, *bounds)
    else:
        drawn = _integers(source, family, *RANGES[tensor.dtype])
    return out.copy_((_along_rows(drawn) if tensor.ascending else drawn).reshape(shape))


class _Source:
    """Random tensors of one shape from one generator."""

    def __init__(self, shape, device, generator):
        self.shape = shape
        self.device = device
        self.generator = generator
        self.length = shape[-1]
        self.heads = shape[:-1] + (1,)  # one value a row

    def normal(self, dtype, shape=None):
        return torch.randn(self.shape if shape is None else shape, dtype=dtype, device=self.device,
                           generator=self.generator)

    def uniform(self, dtype, shape=None):
        return torch.rand(self.shape if shape is None else shape, dtype=dtype, device=self.device,
                          generator=self.generator)

    def whole(self, low, high, shape=None):
        """low … high, both included; high + 1 must fit 64 bits."""
        return torch.randint(low, high + 1, self.shape if shape is None else shape,
                             device=self.device, generator=self.generator)

    def one(self, low, high):
        return torch.randint(low, high + 1, (), device=self.device, generator=self.generator)

    def same(self, value, dtype):
        return torch.full(self.shape, value, dtype=dtype, device=self.device)

    def signs(self, dtype, shape=None):
        return self.whole(0, 1, shape).to(dtype).mul_(2).sub_(1)

    def places(self):
        """Place of each element within its row."""
        return torch.arange(self.length, device=self.device).expand(self.shape)

    def hot(self):
        """True at one place of each row."""
        return self.places() == self.whole(0, self.length - 1, self.heads)

    def ranks(self):
        """A permutation of 0 … length - 1 in each row."""
        return self.uniform(torch.float64).argsort(dim=-1)


def _along_rows(drawn, descending=False):
    return drawn.sort(dim=-1, descending=descending)[0]


# ---- floats ----

def _floats(source, family, dtype):
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    if family == "denormals":
        bits = source.whole(1, (1 << MANTISSA[dtype]) - 1).to(SHADOWS[dtype])
        return bits.view(dtype) * source.signs(dtype)
    if family in _SHAPED:
        return _SHAPED[family](source, dtype, wide)
    return _FLOATS[family](source, wide)


def _constant(source, wide):
    magnitude = 0.5 + int(source.one(0, 1535)) / 1024.0
    return source.same(-magnitude if int(source.one(0, 1)) else magnitude, wide)


def _ties(source, wide):
    return torch.tensor(TIES, dtype=wide, device=source.device)[source.whole(0, len(TIES) - 1)]


def _specials(source, wide):
    """By row: 0 none, 1 NaN, 2 Inf, 3 -Inf, 4 and 5 all of them; the first row always has all. Where a row
    has all, they stand at three places at least, if there are so many."""
    x = source.normal(wide)
    kind = source.whole(0, 5, source.heads)
    kind.reshape(-1)[0] = 4
    step = (source.places() - source.whole(0, source.length - 1, source.heads)) % source.length
    rare = (source.whole(0, RARE - 1) == 0) | (step < torch.where(kind > 3, 3, 1))
    which = torch.where(kind > 3, step % 3 + 1, kind.expand(source.shape))
    for number, value in ((1, math.nan), (2, math.inf), (3, -math.inf)):
        x[rare & (which == number)] = value
    return x


_FLOATS = {
    "normal": lambda s, wide: s.normal(wide),
    "uniform": lambda s, wide: s.uniform(wide).mul_(2).sub_(1),
    "positive": lambda s, wide: s.uniform(wide).mul_(1 - 2.0 ** -10).add_(2.0 ** -10),
    "constant": _constant,
    "zeros": lambda s, wide: s.whole(0, 1).to(wide).sub_(0.5).mul_(0.0),
    "ties": _ties,
    "integers": lambda s, wide: s.whole(-4, 4).to(wide),
    "one_hot": lambda s, wide: s.hot().to(wide),
    "sorted": lambda s, wide: _along_rows(s.normal(wide)),
    "reversed": lambda s, wide: _along_rows(s.normal(wide), True),
    "specials": _specials,
}


def _permuted(source, dtype, wide):
    """Whole steps of a power of two while the dtype tells them apart, else neighbours in its bits."""
    ranks, length = source.ranks(), source.length
    step = 2.0 ** math.ceil(math.log2(8.0 / length)) / 2
    if step >= 2.0 ** (1 - MANTISSA[dtype]):
        return (ranks - length // 2).to(wide) * step
    ends = torch.tensor([4.0], dtype=dtype).view(SHADOWS[dtype])
    bits = (ranks % (2 * int(ends))) - int(ends)
    magnitude = bits.abs().to(SHADOWS[dtype]).view(dtype)
    return torch.where(bits < 0, -magnitude, magnitude)


def _log_uniform(source, dtype, wide):
    info = torch.finfo(dtype)
    low = max(-20.0, math.log2(info.tiny))
    high = min(20.0, math.floor(math.log2(info.max)))
    return torch.exp2(source.uniform(wide) * (high - low) + low) * source.signs(wide)


def _large(source, dtype, wide):
    size = source.uniform(torch.float64).mul_(0.5).add_(0.5) * torch.finfo(dtype).max
    return size * source.signs(torch.float64)


def _offset(source, dtype, wide):
    high = 9.0 if dtype == torch.bfloat16 else 10.0
    base = torch.exp2(source.uniform(wide, source.heads) * (high - 8.0) + 8.0)
    base = base.mul_(source.signs(wide, source.heads)).to(dtype).to(wide)
    # A half's squares add up exactly over hundreds of elements: fewer must differ there to show what cancels.
    every = RARE if dtype == wide else 16 * RARE
    rare = (source.whole(0, every - 1) == 0) | source.hot()
    dense = source.whole(0, 1, source.heads) == 1
    # What rounds to no step of the dtype is no spread.
    least = 2.0 ** (high - MANTISSA[dtype])
    spread = source.normal(wide)
    few = torch.where(rare, spread.sign() * (spread.abs() + least), torch.zeros_like(spread))
    return base + torch.where(dense.expand(source.shape), spread, few)


_SHAPED = {"permuted": _permuted, "log_uniform": _log_uniform, "large": _large, "offset": _offset}


# ---- whole numbers ----

def _integers(source, family, low, high):
    """low and high are the dtype's."""
    if family == "uniform":
        return source.whole(max(low, -128), min(high, 127 if low < 0 else 255))
    if family == "positive":
        return source.whole(1, min(high, 100))
    if family == "constant":
        value = int(source.one(1, 100))
        negative = low < 0 and int(source.one(0, 1)) == 1
        return source.same(-value if negative else value, torch.int64)
    if family == "large":
        near = source.whole(0, 99)
        return torch.where(source.whole(0, 1) == 0, high - near, low + near)
    if family == "log_uniform":
        bits = min(20.0, math.log2(high))
        size = torch.exp2(source.uniform(torch.float64) * bits).floor()
        return size * source.signs(torch.float64) if low < 0 else size
    if family == "permuted":
        count = min(high - low, 1 << 62)
        return source.ranks() % count + max(low, -min(source.length, count) // 2)
    if family == "offset":
        base = source.whole(min(high // 2, 1000), min(high // 2, 1000) + 16, source.heads)
        base = base * source.signs(torch.int64, source.heads) if low < 0 else base
        return base + source.whole(-4, 4)
    if family in ("integers", "zeros", "ties", "one_hot"):
        return _small(source, family, max(low, -4), 4)
    x = source.normal(torch.float32).mul_(100).round_().clamp_(max(low, -1e9), min(high, 1e9))
    return _along_rows(x, family == "reversed") if family in ("sorted", "reversed") else x


def _small(source, family, low, high):
    if family == "zeros":
        return source.same(0, torch.int64)
    if family == "ties":
        return source.whole(0, 3)
    if family == "one_hot":
        return source.hot().to(torch.int64)
    return source.whole(low, high)


def _bounded(source, family, low, high):
    """A range that the contract gives."""
    high = min(high, (1 << 63) - 2)
    if family == "constant":
        return source.same(int(source.one(low, high)), torch.int64)
    if family in ("zeros", "one_hot"):
        base = source.same(min(max(low, 0), high), torch.int64)
        return base if family == "zeros" else torch.where(source.hot(), source.same(high, torch.int64), base)
    if family == "ties":
        return source.whole(low, min(high, low + 3))
    if family == "large":
        return torch.where(source.whole(0, 1) == 0, source.same(low, torch.int64),
                           source.same(high, torch.int64))
    if family == "positive" and high >= 1:
        return source.whole(max(low, 1), high)
    if family == "integers" and low <= 4 and high >= -4:
        return source.whole(max(low, -4), min(high, 4))
    if family == "permuted":
        return source.ranks() % (high - low + 1) + low
    x = source.whole(low, high)
    return _along_rows(x, family == "reversed") if family in ("sorted", "reversed") else x


def _bools(source, family):
    if family == "zeros":
        return source.same(0, torch.int64)
    if family == "constant":
        return source.same(int(source.one(0, 1)), torch.int64)
    if family == "one_hot":
        return source.hot()
    x = source.whole(0, 1)
    return _along_rows(x, family == "reversed") if family in ("sorted", "reversed") else x
