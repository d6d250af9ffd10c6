# SPDX-License-Identifier: MIT
"""compare - is an answer right? (protocol ce-correct-1: docs/measurement.md, class check and error budget)

y is the candidate's output, o the fp64 oracle, r the reference in the task dtype, g the magnitude of
the terms, K the reduction length. First failure names the class:

  unwritten   the sentinel is left
  class       NaN or Inf where the oracle has none, or the other way round
  element     |y-o| > u|o| + L*u_acc*g + m*E + tiny, with L = 4 sqrt(K) on inputs without bias, else K,
              E = max|r-o| over the row
  precision   RMSE(y,o) > m*RMSE(r,o) + u_acc*sqrt(K)*s for the whole tensor, on inputs without bias;
              a row may take 4 u_acc*sqrt(K)*s, for it is the worst of many
  exact       integers and bools differ; sums of whole numbers differ

A report has counts, places and ratios, never an expected value."""

import math

import torch

import cause
import sentinel
import values

UNIT = {"f16": 2.0 ** -11, "bf16": 2.0 ** -8, "f32": 2.0 ** -24, "f64": 2.0 ** -53}
# f16 subnormals are never flushed; those of the others may be.
TINY = {"f16": 2.0 ** -24, "bf16": 2.0 ** -126, "f32": 2.0 ** -126, "f64": 2.0 ** -1022}
# From here on rounding to nearest gives infinity.
OVERFLOW = {"f16": 65520.0, "bf16": (2.0 - 2.0 ** -8) * 2.0 ** 127,
            "f32": (2.0 - 2.0 ** -24) * 2.0 ** 127, "f64": math.inf}
LAMBDA = 4.0
SMALL = 1000          # elements below which the RMSE of r is itself uncertain
GATED_MIN = 32        # a shorter row has no RMSE worth the name, and is left to the element bound
CHUNK = 1 << 24       # elements worked on at once
MODULE_ROW = 1024     # elements that a slice of a module's output has at least
CAUSE_MAX = 1 << 27   # elements of an output whose pattern of failure is looked at
KERNELBENCH_TOLERANCE = 1e-4


class Budget:
    """The constants of one output at one shape."""

    row_least = rows = 1

    def __init__(self, tensor, reduction, unbiased):
        self.unit = UNIT[tensor.dtype_name]
        self.unit_acc = 2.0 ** -53 if tensor.dtype_name == "f64" else 2.0 ** -24
        self.tiny = TINY[tensor.dtype_name]
        self.overflow = OVERFLOW[tensor.dtype_name]
        self.half = tensor.dtype_name in ("f16", "bf16")
        self.root = math.sqrt(reduction)
        self.unbiased = unbiased
        self.reduction_factor = LAMBDA * self.root if self.unbiased else float(reduction)
        self.reduction_factor = max(self.reduction_factor, LAMBDA)

    def multiple(self, count):
        return 8.0 if count < SMALL else 3.0 if self.half else 2.0


class Finding:
    """What is wrong with one output. bad is the mask of wrong elements (flat), or None."""

    def __init__(self, kind, bad, worst, numbers):
        self.kind = kind
        self.bad = bad
        self.worst = worst
        self.numbers = numbers


def rows_of(values, rank, least=1):
    """Slices: rows along the last dimension, or the whole tensor where there is none; with `least`, as many
    rows in one as hold so many elements."""
    if rank >= 2 and values.shape[-1] < least:
        count = values.numel() // values.shape[-1]
        together = next((n for n in range(-(-least // values.shape[-1]), count + 1) if count % n == 0), count)
        return values.reshape(-1, together * values.shape[-1])
    return values.reshape(-1, values.shape[-1]) if rank >= 2 else values.reshape(1, -1)


def check(tensor, y, truth, salt, row_least=1):
    """A Finding, or None and the numbers of a right answer. truth is (o, r, g, K, exact, unbiased)."""
    o, r, g, reduction, exact, unbiased = truth
    if y.numel() == 0:
        return None, {}
    left = sentinel.unwritten(tensor, y, salt).reshape(-1)
    if not tensor.is_float:
        return check_exact(tensor, y, o, r, left)
    count = int(left.sum())
    if count:
        return Finding("unwritten", left, int(left.to(torch.uint8).argmax()), {}), {}
    if exact:
        bad = (y.double() != o).reshape(-1)
        if bool(bad.any()):
            return Finding("exact", bad, int(bad.to(torch.uint8).argmax()), {}), {}
    budget = Budget(tensor, reduction, unbiased)
    budget.row_least = row_least
    return check_float(tensor, y, (o, r, g), budget)


def check_exact(tensor, y, o, r, left):
    """Integers, bools, indices. Where the reference's own precision changes the choice, both count."""
    if tensor.dtype == torch.bool:
        y, o, r = sentinel.shadow(y, 1), o.to(torch.uint8), r.to(torch.uint8)
    bad = ((y != o) & (y != r)).reshape(-1)
    if not bool(bad.any()):
        return None, {"wrong": 0}
    missing = bad & left
    if bool(missing.any()):
        return Finding("unwritten", missing, int(missing.to(torch.uint8).argmax()), {}), {}
    return Finding("exact", bad, int(bad.to(torch.uint8).argmax()), {}), {}


class _Sums:
    """Squared errors, whole tensor."""

    def __init__(self):
        self.y = self.r = self.o = self.g = 0.0
        self.count = 0

    def add(self, parts, count):
        self.y += float(parts[0].sum())
        self.r += float(parts[1].sum())
        self.o += float(parts[2].sum())
        self.g += float(parts[3].sum())
        self.count += int(count.sum())


def check_float(tensor, y, truth, budget):
    rank = y.dim()
    o, r, g = (None if part is None else rows_of(part, rank, budget.row_least) for part in truth)
    y = rows_of(y, rank, budget.row_least)
    budget.rows, length = y.shape
    step = max(1, CHUNK // max(1, length))
    classes, elements, slices = [], [], []
    sums, worst = _Sums(), (-1.0, 0)
    for first in range(0, y.shape[0], step):
        part = _chunk(y[first:first + step], o[first:first + step], r[first:first + step],
                      (o if g is None else g)[first:first + step].abs(), budget)
        classes.append(part.class_bad)
        elements.append(part.element_bad)
        slices.append(part.gate(budget))
        sums.add(part.squares, part.counts)
        ratio, index = part.worst()
        if ratio > worst[0]:
            worst = (ratio, first * length + index)
    numbers = {"error_over_bound": worst[0] if math.isfinite(worst[0]) else None}
    class_bad = torch.cat(classes).reshape(-1)
    if bool(class_bad.any()):
        numbers["class_wrong"] = int(class_bad.sum())
        bad = class_bad | torch.cat(elements).reshape(-1)
        return Finding("class", bad, int(class_bad.to(torch.uint8).argmax()), numbers), numbers
    element_bad = torch.cat(elements).reshape(-1)
    if bool(element_bad.any()):
        return Finding("element", element_bad, worst[1], numbers), numbers
    return check_gate(torch.cat(slices), sums, (length, worst[1], numbers), budget)


class _chunk:
    """Errors of some rows."""

    def __init__(self, y, o, r, g, budget):
        y, r = y.double(), r.double()
        g = torch.where(torch.isfinite(g), g, o.abs())
        y_finite, o_finite, r_finite = torch.isfinite(y), torch.isfinite(o), torch.isfinite(r)
        off = torch.where(r_finite & o_finite, (r - o).abs(), torch.zeros_like(o))
        bound = o.abs() * budget.unit + g * (budget.reduction_factor * budget.unit_acc)
        bound += off.amax(dim=1, keepdim=True) * budget.multiple(y.shape[1]) + budget.tiny
        error = (y - o).abs()
        self.class_bad = self._class(y, o, bound, budget)
        usable = y_finite & o_finite
        self.element_bad = usable & (error > bound)
        self.ratio = torch.where(usable, error / bound, torch.zeros_like(error))
        both = usable & r_finite
        zero = torch.zeros_like(o)
        self.counts = both.sum(dim=1)
        self.squares = [torch.where(both, part * part, zero).sum(dim=1)
                        for part in (error, off, o, g)]

    @staticmethod
    def _class(y, o, bound, budget):
        """Elements of the wrong class: NaN, ±Inf, finite. Near the overflow limit both are right."""
        o_nan, y_nan = torch.isnan(o), torch.isnan(y)
        slack = torch.where(torch.isfinite(bound), bound, torch.zeros_like(bound))
        surely = torch.isinf(o) | (o.abs() - slack >= budget.overflow)
        maybe = torch.isinf(o) | (o.abs() + slack >= budget.overflow)
        same_sign = torch.sign(y) == torch.sign(o)
        y_inf = torch.isinf(y)
        wrong_inf = y_inf & ~(maybe & same_sign)
        wrong_finite = ~y_inf & ~y_nan & surely
        return (o_nan != y_nan) | (~o_nan & ~y_nan & (wrong_inf | wrong_finite))

    def worst(self):
        flat = self.ratio.reshape(-1)
        index = int(flat.argmax())
        return float(flat[index]), index

    def gate(self, budget):
        """RMSE(y,o) over its budget, per row; 0 where the row is too short or the rule is off."""
        length = self.ratio.shape[1]
        if not budget.unbiased or length < GATED_MIN:
            return torch.zeros_like(self.squares[0])
        y, r, o, g = (torch.sqrt(part / self.counts.clamp(min=1)) for part in self.squares)
        return y / allowed_rmse(length, r, o, torch.maximum(o, g / budget.root), budget, budget.rows > 1)


def allowed_rmse(count, r, o, scale, budget, worst_of_many=False):
    """Rule b. Few elements have no mean to speak of: there the output's rounding and the tail of the
    distribution (LAMBDA) are allowed too. The worst of many rows lies in that tail as well: the errors of a
    running sum are themselves a walk, so that the RMS of a row has few degrees of freedom however long it is."""
    few = count < GATED_MIN
    spread = budget.unit_acc * budget.root * scale * (LAMBDA if few or worst_of_many else 1.0)
    return budget.multiple(count) * r + spread + (budget.unit * o if few else 0.0) + budget.tiny


def check_gate(per_row, sums, place, budget):
    length, worst, numbers = place
    row = int(per_row.argmax())
    numbers["row_rmse_over_budget"] = float(per_row[row])
    if budget.unbiased and sums.count:
        y, r, o, g = (math.sqrt(part / sums.count) for part in (sums.y, sums.r, sums.o, sums.g))
        allowed = allowed_rmse(sums.count, r, o, max(o, g / budget.root), budget)
        numbers["rmse_over_budget"] = y / allowed
    rows_wrong = int((per_row > 1.0).sum())
    if 0 < rows_wrong < per_row.numel():
        numbers["rows_wrong"] = rows_wrong
        return Finding("precision", None, row * length, numbers), numbers
    if rows_wrong or numbers.get("rmse_over_budget", 0.0) > 1.0:
        return Finding("precision", None, worst, numbers), numbers
    return None, numbers


def place_text(index, shape):
    """[3, 7] of a flat index."""
    place = []
    for size in reversed(shape):
        place.append(index % size)
        index //= size
    return "[%s]" % ", ".join(str(i) for i in reversed(place))


def sentence(tensor, finding, total, shape, label):
    head = "output %s (%s, %s)" % (tensor.name, tensor.dtype_name, label or "no dims")
    where = place_text(finding.worst, shape)
    if finding.kind == "precision":
        rows = finding.numbers.get("rows_wrong")
        over = max(finding.numbers.get("rmse_over_budget", 0.0),
                   finding.numbers["row_rmse_over_budget"])
        part = "%d rows, first %s" % (rows, where) if rows else "the whole tensor"
        return "%s: precision lost in %s: RMS error %.3g times the budget" % (head, part, over)
    count = int(finding.bad.sum())
    what = {
        "unwritten": "%d of %d elements were never written, first %s",
        "class": "%d of %d elements wrong, some of them NaN or Inf where that is wrong (or finite "
                 "where it should not be), first %s",
        "element": "%d of %d elements outside the error bound, worst %s",
        "exact": "%d of %d elements differ (must be exact), first %s",
    }[finding.kind] % (count, total, where)
    return "%s: %s" % (head, what)


def kernelbench_close(r, y, tolerance=KERNELBENCH_TOLERANCE):
    """What KernelBench's own check says: both in fp32, absolute and relative tolerance alike."""
    if r.shape != y.shape:
        return {"close": False, "tolerance": tolerance, "max_difference": None}
    close, worst = True, 0.0
    for a, b in zip(r.reshape(-1).split(CHUNK), y.reshape(-1).split(CHUNK)):
        a, b = a.float(), b.float()
        close = close and bool(torch.allclose(a, b, atol=tolerance, rtol=tolerance))
        worst = max(worst, float((a - b).abs().max()) if a.numel() else 0.0)
    return {"close": close, "tolerance": tolerance, "max_difference": worst}


ORDER = ("unwritten", "class", "exact", "element", "precision")


def judge(problem, case, family, answer, truth, inputs, salt):
    """The reply of the request `compare`: the first failure in ORDER over all outputs."""
    rows, failures = [], []
    unbiased = problem.is_unbiased(family)
    row_least = MODULE_ROW if problem.module is not None else 1
    for i, tensor in enumerate(problem.outputs):
        o, r, g = truth.oracle[i], truth.reference[i], truth.gamma[i]
        y = answer[i]
        finding, numbers = check(tensor, y, (o, r, g, case.reduction, truth.exact[i], unbiased),
                                 salt, row_least)
        row = {"name": tensor.name, "dtype": tensor.dtype_name, "shape": list(y.shape),
               "elements": y.numel(), "equal": finding is None}
        row.update(numbers)
        if finding is not None:
            row.update(kind=finding.kind, worst=finding.worst,
                       wrong=None if finding.bad is None else int(finding.bad.sum()))
            text = sentence(tensor, finding, y.numel(), y.shape, case.label)
            reason = (cause.likely(problem, tensor, (y, o, r), finding, inputs)
                      if y.numel() <= CAUSE_MAX else None)
            if reason:
                row["likely_cause"] = reason
                text += "; likely cause: " + reason
            failures.append((ORDER.index(finding.kind), i, finding.kind, text))
        if problem.module is not None and family == "own":
            row["kernelbench"] = kernelbench_close(r, y)
        rows.append(row)
    report = {"protocol": "ce-correct-1", "shape": case.label, "family": family,
              "reduction": case.reduction, "outputs": rows}
    if not failures:
        return {"equal": True, "detail": "", "text": "", "report": report}
    _, _, kind, text = min(failures)
    return {"equal": False, "detail": kind, "text": text, "report": report}
