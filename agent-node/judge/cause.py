# SPDX-License-Identifier: MIT
"""cause - what most likely went wrong, from the pattern of a failure.

One phrase for a person or a model that repairs the kernel; it says where and how, never what the
value should have been. Patterns are tried from the most specific to the least."""

import torch

CLOSE = 2.0 ** -7   # relative: near enough to recognise a value that is in the wrong place
STRIDE_MAX = 1 << 20  # elements of an output whose rows are searched for
MOST = 0.95         # share of elements that makes a pattern
DENSE = 0.75        # a region counts as wrong when so many of it are: some wrong values come near


def likely(problem, tensor, values, finding, inputs):
    """values is (y, o, r)."""
    y, o, _ = values
    if finding.kind == "precision":
        return _precision(tensor)
    bad = finding.bad
    context = _Context(problem, tensor, y, o, bad, inputs)
    if finding.kind == "unwritten":
        return _place(context, "written") or "the grid does not cover the whole output"
    for pattern in (_special, _copy, _constant, _scaled, _shifted, _transposed, _strided):
        reason = pattern(context)
        if reason:
            return reason
    reason = _place(context, "right")
    if reason:
        return reason
    return _near(context)


class _Context:
    def __init__(self, problem, tensor, y, o, bad, inputs):
        self.problem = problem
        self.tensor = tensor
        self.shape = tuple(y.shape)
        self.inputs = inputs
        self.bad = bad
        self.y = _double(y).reshape(-1)
        self.o = _double(o).reshape(-1)
        self.count = int(bad.sum())
        self.total = bad.numel()
        self.finite = torch.isfinite(self.y) & torch.isfinite(self.o)

    def close(self, a, b):
        """Share of `a` that is near `b` (both flat)."""
        if a.numel() == 0:
            return 0.0
        scale = b.abs() * CLOSE + 1e-30
        return float(((a - b).abs() <= scale).double().mean())


def _double(values):
    if values.dtype == torch.bool:
        return values.view(torch.uint8).double()
    return values.double()


def _precision(tensor):
    if tensor.dtype_name in ("f16", "bf16"):
        return "too much is computed in half precision: keep sums and intermediates in fp32"
    return "arithmetic below fp32 (TF32, half, fast approximations) or an unstable order of summation"


def _special(c):
    """NaN and Inf in the wrong places."""
    y_nan, o_nan = torch.isnan(c.y) & c.bad, torch.isnan(c.o) & c.bad
    if int((y_nan & ~o_nan).sum()) > c.count // 2:
        return "NaN out of finite inputs: a division by zero, Inf - Inf, or uninitialised memory"
    if int((o_nan & ~y_nan).sum()) > c.count // 2:
        return "NaN is dropped: a comparison such as fmaxf swallows it"
    overflow = torch.isinf(c.o) | (c.o.abs() > _largest(c.tensor))
    if int((overflow & torch.isfinite(c.y) & c.bad).sum()) > c.count // 2:
        return "values are clamped where the result overflows to infinity"
    if int((torch.isinf(c.y) & ~overflow & c.bad).sum()) > c.count // 2:
        return "overflow of an intermediate value: subtract the maximum first, or compute in fp32"
    return None


def _largest(tensor):
    return torch.finfo(tensor.dtype).max if tensor.is_float else float("inf")


def _constant(c):
    wrong = c.y[c.bad]
    if c.count < 2 or not bool((wrong == wrong[0]).all()):
        return None
    if c.count < c.total and _place(c, ""):
        return None
    if float(wrong[0]) == 0.0:
        return "the wrong elements are all zero: the result is not stored, or the sum is not carried on"
    return "the wrong elements all have the same value: an index is not used"


def _copy(c):
    for tensor, value in zip(c.problem.inputs, c.inputs):
        if value.numel() != c.total or c.total < 4:
            continue
        flat = _double(value).reshape(-1)
        if bool((flat != 0).any()) and float((flat == c.y).double().mean()) > MOST:
            return "the output is a copy of input %s" % tensor.name
    return None


def _scaled(c):
    """One factor between what is there and what should be."""
    if not c.tensor.is_float or c.count < 8:
        return None
    use = c.bad & c.finite & (c.o.abs() > 0)
    if int(use.sum()) < c.count * MOST:
        return None
    ratio = c.y[use] / c.o[use]
    middle = float(ratio.median())
    if middle == 0.0 or c.close(ratio, torch.full_like(ratio, middle)) < MOST:
        return None
    if abs(middle + 1.0) < CLOSE:
        return "the sign is wrong"
    if abs(middle - 1.0) < CLOSE * 2:
        return None
    return "a constant factor is wrong or missing (a divisor, a scale, work done twice or half)"


def _shifted(c):
    """The right values one place off, within the flat order or by whole rows."""
    if c.count < 4 or c.total < 8:
        return None
    steps = [("element", 1)]
    if len(c.shape) >= 2 and c.shape[-1] > 1:
        steps.append(("row", c.shape[-1]))
    for noun, step in steps:
        if step * 2 >= c.total:
            continue
        for sign in (step, -step):
            a, b, bad = ((c.y[step:], c.o[:-step], c.bad[step:]) if sign > 0
                         else (c.y[:-step], c.o[step:], c.bad[:-step]))
            if int(bad.sum()) >= 4 and c.close(a[bad], b[bad]) > MOST and _varied(b[bad]):
                return "an index is off by one %s" % noun
    return None


def _varied(values):
    return bool((values != values[0]).any())


def _strided(c):
    """Rows that begin at another distance than the output's."""
    if len(c.shape) < 2 or c.total > STRIDE_MAX or c.shape[-1] < 4:
        return None
    width = c.shape[-1]
    rows = c.total // width
    if rows < 3:
        return None
    y = c.y.reshape(rows, width)
    take = min(width, 16)
    windows = c.o.unfold(0, take, 1)
    hits = ((windows - y[1, :take]).abs() <= windows.abs() * CLOSE + 1e-30).all(dim=1).nonzero()
    for at in hits.reshape(-1).tolist()[:8]:
        second = c.o[2 * at:2 * at + take]
        if at != width and second.numel() == take and c.close(y[2, :take], second) == 1.0 and (
                _varied(second)):
            return "rows are taken %d elements apart and not %d (a wrong stride)" % (at, width)
    return None


def _transposed(c):
    if len(c.shape) != 2 or min(c.shape) < 2 or c.count < 4:
        return None
    turned = c.o.reshape(c.shape).t().reshape(-1)
    if c.close(c.y[c.bad], turned[c.bad]) > MOST and _varied(turned[c.bad]):
        return "rows and columns are swapped"
    return None


def _place(c, verb):
    """Where the wrong elements lie: a tail, a row range, single elements."""
    if c.count == c.total:
        return "no element is %s" % verb if verb == "written" else None
    suffix = " is not %s" % verb if verb else ""
    if c.count == 1:
        return "a single element%s: a boundary case or a race" % suffix
    first = int(c.bad.to(torch.uint8).argmax())
    tail = c.total - first
    if first > 0 and c.count >= DENSE * tail:
        return "the tail%s: the last %d elements (the grid or the loop ends too early)" % (
            suffix, tail)
    if len(c.shape) >= 2 and c.shape[-1] > 0:
        return _rows_and_columns(c, suffix)
    return None


def _rows_and_columns(c, suffix):
    grid = c.bad.reshape(-1, c.shape[-1])
    columns, rows = grid.any(dim=0), grid.any(dim=1)
    width, height = int(columns.sum()), int(rows.sum())
    first = int(columns.to(torch.uint8).argmax())
    if c.count < DENSE * width * height:
        return None
    if width < c.shape[-1] and first + width == c.shape[-1]:
        return "the tail of rows%s: columns from %d on (count of columns not a multiple of the "\
               "block or vector width)" % (suffix, first)
    if width < c.shape[-1] and bool(columns[:width].all()):
        return "the first %d columns of rows%s" % (width, suffix)
    if height < grid.shape[0] and width == c.shape[-1]:
        return "%d whole rows%s, the first is row %d" % (
            height, suffix, int(rows.to(torch.uint8).argmax()))
    return None


def _near(c):
    """Nothing but size to go by."""
    use = c.bad & c.finite
    if not c.tensor.is_float or int(use.sum()) < c.count:
        return None
    relative = (c.y[use] - c.o[use]).abs() / c.o[use].abs().clamp(min=1e-30)
    if float(relative.median()) < 2.0 ** -6:
        return "precision: close, but too many bits are lost (accumulate in fp32, avoid fast math)"
    if float((c.y[use].abs() < c.o[use].abs()).double().mean()) > MOST and c.count > 8:
        return "magnitudes are too small: part of a reduction is missing"
    return None
