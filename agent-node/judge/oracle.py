# SPDX-License-Identifier: MIT
"""oracle - what the answer is, and how much a kernel may differ from it.

For given inputs: o, the reference upcast to fp64; r, the reference in its own dtype (simulated on a
CPU); g (gamma), the magnitude of the terms, from the upcast reference on absolute inputs. Contract
sizes make r and o comparable element by element."""

import contextlib

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

import simulate
from problem import JudgeError, is_gpu_fault

LOW = (torch.float16, torch.bfloat16, torch.float32)
EXACT_MAX = 2.0 ** 24  # whole numbers up to here add up without rounding in fp32
MODULE_GAMMA_MAX = 1 << 16  # outputs of a module beyond this have |o| for their terms
NARROWING = frozenset(("float", "half", "bfloat16"))


def raise_dtype(leaf):
    return torch.float64 if isinstance(leaf, torch.dtype) and leaf in LOW else leaf


def raise_tensor(leaf):
    if isinstance(leaf, torch.Tensor) and leaf.dtype in LOW:
        return leaf.to(torch.float64)
    return leaf


class UpcastMode(TorchFunctionMode):
    """Every floating tensor is fp64; a conversion inside the reference cannot lower it."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "__get__":
            return func(*args, **kwargs)
        if name in NARROWING and args and isinstance(args[0], torch.Tensor):
            return args[0].to(torch.float64)
        args = tree_map(raise_tensor, tree_map(raise_dtype, list(args)))
        kwargs = tree_map(raise_tensor, tree_map(raise_dtype, kwargs))
        return simulate.map_result(raise_tensor, func(*args, **kwargs))


@contextlib.contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def upcast(problem, inputs):
    """o: outputs in fp64 (floats); integers and bools as the reference gives them."""
    wide = [raise_tensor(value) for value in inputs]
    # Some operators write to their input: the staging copy must stay as it is.
    wide = [w.clone() if w is value else w for w, value in zip(wide, inputs)]
    with default_dtype(torch.float64), UpcastMode():
        values = problem.call(wide)
    return [raise_tensor(value) for value in values]


def native(problem, inputs, simulated):
    """r: outputs in the task dtype."""
    if problem.module is not None and not simulated:
        return pure(problem, inputs)
    copies = [value.clone() for value in inputs]
    return simulate.run(problem, copies) if simulated else problem.call(copies)


def pure(problem, inputs):
    """r without copies of inputs that may fill half a card: that none is written to is checked."""
    before = [value._version for value in inputs]
    result = problem.call(inputs)
    changed = [tensor.name for tensor, value, version in zip(problem.inputs, inputs, before)
               if value._version != version]
    if changed:
        raise JudgeError("config", "%s: the reference writes to its input %s" % (problem.where(), changed[0]))
    return result


def magnitude(problem, inputs, outputs):
    """g: per output max(|o|, |oracle(|x|)|), for floats. Where absolute inputs are outside the
    reference's domain, |o| alone."""
    if problem.module is not None and any(o.numel() > MODULE_GAMMA_MAX for o in outputs):
        return [None for _ in outputs]  # |o| is meant
    floors = [o.abs() if t.is_float else None for t, o in zip(problem.outputs, outputs)]
    try:
        wide = upcast(problem, [v.abs() if v.dtype.is_floating_point else v for v in inputs])
    except JudgeError:
        return floors
    except Exception as fault:
        if is_gpu_fault(fault):
            raise
        return floors
    result = []
    for floor, value in zip(floors, wide):
        if floor is None or value.shape != floor.shape:
            result.append(floor)
            continue
        value = value.abs_().nan_to_num_(0.0, 0.0, 0.0)
        result.append(torch.maximum(floor, value))
    return result


class Truth:
    """o, r and g of one set of inputs, and which outputs are sums of whole numbers."""

    def __init__(self, problem, case, inputs, simulated, whole=False):
        """whole: the inputs are whole numbers, so that sums of them can be asked for exactly."""
        self.oracle = upcast(problem, inputs)
        self.reference = native(problem, inputs, simulated)
        check_outputs(problem, case, self.oracle, "in fp64", None)
        check_outputs(problem, case, self.reference, "", None)
        self.gamma = magnitude(problem, inputs, self.oracle)
        self.exact = [whole and tensor.is_float and is_whole(o, r, g) for tensor, o, r, g
                      in zip(problem.outputs, self.oracle, self.reference, self.gamma)]
        if any(self.exact):
            linear = linear_outputs(problem, inputs, self.oracle)
            self.exact = [exact and fits for exact, fits in zip(self.exact, linear)]

    def bytes(self):
        return sum(part.numel() * part.element_size()
                   for part in self.oracle + self.reference + self.gamma if part is not None)


def is_whole(o, r, g):
    """Whole numbers that the reference itself gets exactly, and small enough for any order of additions."""
    return (o.numel() > 0 and bool((r.double() == o).all()) and bool((o == o.round()).all())
            and float(g.max()) <= EXACT_MAX)


def linear_outputs(problem, inputs, o):
    """Per output: is it a sum with whole coefficients? For each float input alone, f(x) + f(-x) = 2 f(0),
    and one more in its first element changes f by a whole number, for some input not 0. A mean has no
    whole coefficients, a norm is not odd, a softmax of one element does not change."""
    answer, moved = [True] * len(o), [False] * len(o)
    for i, x in enumerate(inputs):
        if not x.dtype.is_floating_point or x.numel() == 0:
            continue
        bumped = x.clone()
        bumped.reshape(-1)[0] += 1
        try:
            zero, minus, more = (upcast(problem, inputs[:i] + [value] + inputs[i + 1:])
                                 for value in (torch.zeros_like(x), -x, bumped))
        except JudgeError:
            return [False] * len(o)
        for k, value in enumerate(o):
            step = more[k] - value
            answer[k] &= bool((value + minus[k] == 2 * zero[k]).all() & (step == step.round()).all())
            moved[k] |= bool((step != 0).any())
    return [fits and moves for fits, moves in zip(answer, moved)]


def check_outputs(problem, case, values, how, dtypes):
    """Shapes, and dtypes when asked, against the contract."""
    for tensor, value in zip(problem.outputs, values):
        wanted = case.sizes[tensor.name]
        if tuple(value.shape) != wanted:
            raise JudgeError("config", "%s: output %s%s has shape %s, the contract says %s (%s)"
                             % (problem.where(), tensor.name, " " + how if how else "",
                                list(value.shape), list(wanted), case.label))
        if dtypes and value.dtype != tensor.dtype:
            raise JudgeError("config", "%s: output %s has dtype %s, the contract says %s (%s)"
                             % (problem.where(), tensor.name, dtypes.get(value.dtype, value.dtype),
                                tensor.dtype_name, case.label))
        if value.dtype.is_floating_point != tensor.is_float:
            raise JudgeError("config", "%s: output %s%s is %s, the contract says %s (%s)"
                             % (problem.where(), tensor.name, " " + how if how else "",
                                value.dtype, tensor.dtype_name, case.label))
