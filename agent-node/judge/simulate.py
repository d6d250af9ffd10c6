# SPDX-License-Identifier: MIT
"""simulate - half precision on a CPU that lacks the operators.

A function mode runs each operator on half-precision arguments in fp32 and rounds what comes out to
the type the operator would have returned. Data movement and conversions run as they are: they are
exact or are the rounding itself. What it computes is stored as `r: simulated`."""

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map

HALVES = (torch.float16, torch.bfloat16)

# Views, copies, conversions, questions about a tensor: right as they are, and views must stay views.
NATIVE = frozenset("""
__get__ __set__ __getitem__ __setitem__ __len__ __bool__ __int__ __index__ __iter__ __hash__ __repr__
__float__ __format__ __contains__ __reversed__ item tolist size stride dim ndimension numel nelement
element_size storage_offset is_floating_point is_contiguous is_complex is_signed is_same_size
data_ptr storage untyped_storage get_device requires_grad_ reshape reshape_as view view_as transpose
transpose_ swapaxes swapdims permute movedim moveaxis t t_ squeeze squeeze_ unsqueeze unsqueeze_ expand
expand_as broadcast_to broadcast_tensors contiguous clone detach detach_ to type type_as float half
bfloat16 double int long short char byte bool cpu cuda narrow narrow_copy select split
tensor_split chunk unbind flatten unflatten ravel diagonal copy_ fill_ zero_ empty zeros ones full
empty_like zeros_like ones_like full_like new_empty new_zeros new_ones new_full new_tensor
rand randn randint arange linspace eye tensor as_tensor result_type promote_types
can_cast is_tensor is_nonzero
""".split())


def round_floats(value, dtype):
    """Rounds the fp32 tensors of an operator's result; the rest passes."""

    def fix(leaf):
        if isinstance(leaf, torch.Tensor) and leaf.dtype == torch.float32:
            return leaf.to(dtype)
        return leaf

    return map_result(fix, value)


def map_result(fix, value):
    """tree_map that keeps torch.return_types (values, indices)."""
    if isinstance(value, tuple) and type(value).__module__ == "torch.return_types":
        return type(value)([map_result(fix, item) for item in value])
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(map_result(fix, item) for item in value)
    return fix(value)


def widen(leaf):
    if isinstance(leaf, torch.Tensor) and leaf.dtype in HALVES:
        return leaf.to(torch.float32)
    return leaf


def asked_dtype(args, kwargs):
    """A dtype the caller names wins over promotion."""
    if isinstance(kwargs.get("dtype"), torch.dtype):
        return kwargs["dtype"]
    for leaf in tree_flatten(list(args))[0]:
        if isinstance(leaf, torch.dtype):
            return leaf
    return None


def promoted(tensors):
    """The floating type that type promotion gives: tensors with dimensions outvote 0-d ones."""
    floats = [t for t in tensors if t.dtype.is_floating_point]
    ranked = [t for t in floats if t.dim() > 0] or floats
    result = ranked[0].dtype
    for tensor in ranked[1:]:
        result = torch.promote_types(result, tensor.dtype)
    return result


class HalfMode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        leaves = tree_flatten([list(args), kwargs])[0]
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if name in NATIVE or not any(t.dtype in HALVES for t in tensors):
            return func(*args, **kwargs)
        asked = asked_dtype(args, kwargs)
        dtype = asked if asked is not None else promoted(tensors)
        wide_args = tree_map(widen, list(args))
        wide_kwargs = tree_map(widen, {k: v for k, v in kwargs.items() if k != "out"})
        if asked in HALVES:
            wide_args = [torch.float32 if leaf in HALVES else leaf for leaf in wide_args]
            wide_kwargs = {k: torch.float32 if k == "dtype" else v for k, v in wide_kwargs.items()}
        result = func(*wide_args, **wide_kwargs)
        if dtype in HALVES:
            result = round_floats(result, dtype)
        return self._store(name, args, kwargs, result)

    @staticmethod
    def _store(name, args, kwargs, result):
        """In-place operators and out= wrote to a widened copy: carry it back."""
        target = kwargs.get("out")
        if target is None and name.endswith("_") and not name.endswith("__"):
            target = args[0]
        if target is None and name.startswith("__i") and name.endswith("__"):
            target = args[0]
        if isinstance(target, torch.Tensor) and isinstance(result, torch.Tensor):
            return target.copy_(result)
        return result


def run(problem, inputs):
    """The reference in its own dtype on a CPU."""
    with HalfMode():
        return problem.call(inputs)
