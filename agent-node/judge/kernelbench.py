# SPDX-License-Identifier: MIT
"""kernelbench - a file of KernelBench's format as a problem: what it takes, gives and needs.

A file has a class `Model`, `get_inputs()` and `get_init_inputs()`. describe() runs all three with every
tensor on the meta device, so that nothing is computed or stored, and gives the contract: inputs by the
names of forward's parameters, then parameters and buffers by name as further inputs, one output. Numbers
among the inputs become scalars. What forward draws itself (a dropout's mask, a random state) is asked for
as one more input, in the order of drawing.

Bound gives the file's values on a device: the model is built anew from each secret seed, in train mode.

  own         what get_inputs() and the model's own initialisation give
  signed      the same with a random sign on every float input
  reweighted  own inputs, and every parameter changed, those that are constant at first too

Running statistics of batch normalisation are left out: train mode writes them and never reads them."""

import hashlib
import inspect
import random
import re
import sys
import weakref

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten

from fault import DTYPE_NAMES, JudgeError, first_line, is_gpu_fault

OWN, SIGNED, REWEIGHTED = FAMILIES = ("own", "signed", "reweighted")
REDUCTION_MAX = 1024  # honest kernels add in parts: no longer chain is allowed for
NAME_MAX = 63
RESERVED = {"sm_count", "cc", "on_emu", "ceil_div", "min", "max", "next_pow2"}
SCALARS_MAX = 2 ** 53
PACKAGES = "/opt/ce-judge"  # where scripts/deps puts what files import beside torch
FACTORIES = frozenset("""rand randn randint randperm zeros ones empty full arange eye tensor as_tensor
normal bernoulli tril_indices triu_indices empty_strided logspace""".split())
DRAWS = frozenset(("rand", "randn", "rand_like", "randn_like"))


class Late(BaseException):
    """A file took too long: no property of the file, so nothing that catches Exception on the way keeps it."""


class Unsupported(Exception):
    """The file cannot be expressed as a contract; the text says why."""


# ---- the file ----

def is_module(namespace):
    return all(callable(namespace.get(name)) for name in ("Model", "get_inputs", "get_init_inputs"))


def forward_names(namespace):
    parameters = list(inspect.signature(namespace["Model"].forward).parameters.values())[1:]
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


class Names:
    """Names of a contract: letters, digits and _, each once."""

    def __init__(self):
        self.taken = set()

    def make(self, wanted):
        name = re.sub(r"[^0-9A-Za-z_]", "_", wanted)
        if not name or name[0].isdigit():
            name = "t" + name
        if len(name) > NAME_MAX - 4:
            name = name[:NAME_MAX - 13] + "_" + hashlib.sha256(wanted.encode()).hexdigest()[:8]
        if name in RESERVED or name in self.taken:
            number = 2
            while "%s_%d" % (name, number) in self.taken:
                number += 1
            name = "%s_%d" % (name, number)
        self.taken.add(name)
        return name


def build(namespace):
    """The model in train mode, as the file's authors run it."""
    init = namespace["get_init_inputs"]()
    if isinstance(init, dict):
        raise Unsupported("get_init_inputs gives a dict: only positional arguments are known")
    model = namespace["Model"](*init)
    model.train()
    return model


def places_of(model):
    """Where parameters and buffers sit: [(module, dictionary, key, dotted name)], shared ones under the
    name that comes first. Parameters first, then buffers."""
    found = []
    for kind in ("_parameters", "_buffers"):
        for prefix, module in model.named_modules():
            if kind == "_buffers" and isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
                continue
            for key, value in getattr(module, kind).items():
                if value is not None:
                    found.append((module, kind, key, prefix + "." + key if prefix else key))
    return found


# ---- modes ----

class DeviceMode(TorchFunctionMode):
    """Tensors are made on one device, whatever the file leaves out."""

    def __init__(self, device):
        super().__init__()
        self.device = device

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name in FACTORIES and kwargs.get("device") is None and self.place(name):
            if not (name in ("normal", "bernoulli") and _has_tensor(args, kwargs)):
                kwargs["device"] = self.device
        return func(*args, **kwargs)

    def place(self, name):
        return True


def _has_tensor(args, kwargs):
    return any(isinstance(leaf, torch.Tensor) for leaf in tree_flatten([list(args), kwargs])[0])


class DrawMode(TorchFunctionMode):
    """What forward draws is taken from a list of given tensors, or noted down and made by `make`."""

    def __init__(self, given=None):
        super().__init__()
        self.given = list(given) if given is not None else None
        self.noted = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "feature_dropout", "alpha_dropout"):
            return self._dropout(name, func, args, kwargs)
        if name == "scaled_dot_product_attention" and float(kwargs.get("dropout_p", 0.0)) > 0:
            raise Unsupported("forward draws a mask inside attention")
        if name in DRAWS:
            if self.given is not None:
                return self.given.pop(0)
            value = func(*args, **kwargs)
            self.noted.append(("normal" if "randn" in name else "uniform", tuple(value.shape), None))
            return value
        if name in ("randint", "randperm", "bernoulli", "multinomial", "normal"):
            raise Unsupported("forward draws with %s" % name)
        return func(*args, **kwargs)

    def _dropout(self, name, func, args, kwargs):
        bound = dict(zip(("input", "p", "training"), args), **kwargs)
        p, training = float(bound.get("p", 0.5)), bool(bound.get("training", True))
        if p == 0.0 or not training:
            return bound["input"]
        if name != "dropout":
            raise Unsupported("forward draws with %s" % name)
        if self.given is not None:
            return bound["input"] * self.given.pop(0)
        self.noted.append(("mask", tuple(bound["input"].shape), p))
        return bound["input"] * torch.ones(bound["input"].shape, device=bound["input"].device)


class MetaMode(DeviceMode):
    """Shapes only. Counts the live bytes and the longest reduction on the way."""

    def __init__(self):
        super().__init__("meta")
        self.live = self.peak = 0
        self.reduction = 1
        self.counting = False

    def place(self, name):
        return name != "linspace"  # its values are read

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        rule = RULES.get(name)
        result = rule(args, dict(kwargs or {})) if rule else super().__torch_function__(func, types, args, kwargs)
        if self.counting and name not in ("__get__", "__set__", "size", "dim"):
            self._count(result)
            self.reduction = max(self.reduction, reduction_of(name, args, kwargs or {}, result))
        return result

    def _count(self, result):
        for leaf in tree_flatten([result])[0]:
            if isinstance(leaf, torch.Tensor) and leaf._base is None and not isinstance(leaf, torch.nn.Parameter):
                self._hold(leaf)

    def _hold(self, tensor):
        size = tensor.numel() * tensor.element_size()
        if getattr(tensor, "_ce_held", False):
            return
        try:
            tensor._ce_held = True
        except Exception:
            return
        self.live += size
        self.peak = max(self.peak, self.live)
        weakref.finalize(tensor, self._release, size)

    def _release(self, size):
        self.live -= size


def reduction_of(name, args, kwargs, result):
    """How many terms go into one element, for operators that add up many."""
    tensors = [leaf for leaf in tree_flatten([list(args), kwargs])[0] if isinstance(leaf, torch.Tensor)]
    outputs = [leaf for leaf in tree_flatten([result])[0] if isinstance(leaf, torch.Tensor)]
    if not tensors or not outputs:
        return 1
    x = tensors[0]
    if name in ("linear", "matmul", "mm", "bmm", "mv", "__matmul__", "addmm", "baddbmm", "einsum"):
        return max(x.shape[-1], 1) if x.dim() else 1
    if name.startswith("conv") and len(tensors) > 1:
        weight = tensors[1]
        inner = weight.shape[0] if "transpose" in name else weight.shape[1]
        return inner * _product(weight.shape[2:])
    if "scaled_dot_product" in name and len(tensors) > 2:
        return max(x.shape[-1], tensors[1].shape[-2])
    if name in ("cumsum", "cumprod", "softmax", "log_softmax", "logsumexp", "layer_norm", "rms_norm"):
        return x.shape[-1] if x.dim() else 1
    if name in ("batch_norm", "group_norm", "instance_norm"):
        return x.numel() // max(1, x.shape[1])
    if name.endswith("loss") or name in ("sum", "mean", "norm", "prod", "cross_entropy", "kl_div", "var", "std",
                                         "avg_pool1d", "avg_pool2d", "avg_pool3d", "vector_norm",
                                         "adaptive_avg_pool2d", "adaptive_avg_pool3d"):
        return x.numel() // max(1, outputs[0].numel())
    return 1


def _product(sizes):
    count = 1
    for size in sizes:
        count *= size
    return count


# ---- shape rules: operators without a meta kernel in PyTorch 1.13 ----

def _many(value, count):
    value = list(value) if isinstance(value, (tuple, list)) else [value]
    return value * count if len(value) == 1 else value


def _max_pool3d(args, kwargs):
    names = ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
    bound = dict(zip(names, args), **kwargs)
    x, kernel = bound["input"], _many(bound["kernel_size"], 3)
    stride = _many(bound.get("stride") or kernel, 3)
    padding, dilation = _many(bound.get("padding", 0), 3), _many(bound.get("dilation", 1), 3)
    sizes = []
    for i in range(3):
        room = x.shape[x.dim() - 3 + i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1
        steps = -(-room // stride[i]) if bound.get("ceil_mode") else room // stride[i]
        if bound.get("ceil_mode") and steps * stride[i] >= x.shape[x.dim() - 3 + i] + padding[i]:
            steps -= 1
        sizes.append(steps + 1)
    out = x.new_empty(tuple(x.shape[:-3]) + tuple(sizes))
    return (out, out.to(torch.int64)) if bound.get("return_indices") else out


def _attention(args, kwargs):
    bound = dict(zip(("query", "key", "value"), args), **kwargs)
    if float(bound.get("dropout_p", 0.0)) > 0:
        raise Unsupported("forward draws a mask inside attention")
    query, value = bound["query"], bound["value"]
    return query.new_empty(tuple(query.shape[:-1]) + (value.shape[-1],))


def _recurrent(args, kwargs):
    """Thousands of steps, which newer PyTorch would take one by one."""
    x, state = args[0], args[1]
    if kwargs or len(args) != 9 or isinstance(args[2], torch.Tensor):
        raise Unsupported("a recurrent layer on packed sequences")
    first = state[0] if isinstance(state, (tuple, list)) else state
    both = 2 if args[7] else 1
    out = x.new_empty(tuple(x.shape[:-1]) + (both * first.shape[-1],))
    states = tuple(value.new_empty(value.shape) for value in (state if isinstance(state, (tuple, list)) else [state]))
    return (out,) + states


RULES = {"lstm": _recurrent, "gru": _recurrent, "rnn_tanh": _recurrent, "rnn_relu": _recurrent,
         "max_pool3d": _max_pool3d, "max_pool3d_with_indices": _max_pool3d,
         "_scaled_dot_product_attention": _attention, "scaled_dot_product_attention": _attention}


def supply():
    """What files call or import and this interpreter may lack."""
    if PACKAGES not in sys.path:
        sys.path.append(PACKAGES)
    functional = torch.nn.functional
    if not hasattr(functional, "scaled_dot_product_attention"):
        functional.scaled_dot_product_attention = _plain_attention


def _plain_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    if query.device.type == "meta":
        return _attention((query, key, value), {"dropout_p": dropout_p})
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        keep = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
        scores = scores.masked_fill(~keep, float("-inf"))
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask
    return torch.softmax(scores, dim=-1) @ value


# ---- describe ----

def load(text, file, name="ce_kernelbench"):
    """The file's namespace."""
    import types
    supply()
    module = types.ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    try:
        exec(compile(text, file, "exec"), module.__dict__)
    except ModuleNotFoundError as fault:
        raise Unsupported("needs %s" % fault.name)
    except ImportError as fault:
        raise Unsupported("needs %s" % (fault.name or first_line(fault)))
    finally:
        sys.modules.pop(name, None)
    if not is_module(module.__dict__):
        raise Unsupported("there is no Model with get_inputs and get_init_inputs")
    return module.__dict__


class Layout:
    """What of a file's values is which tensor of the contract."""

    def __init__(self, namespace, names):
        self.arguments = []  # per argument of forward: ("tensor" | "scalar", name, value)
        self.places = []     # (dotted name, contract name, key of the tensor that it shares)
        self.draws = []      # (kind, shape, p, contract name)
        self.names = names


def _argument(layout, number, value, names):
    name = names[number] if number < len(names) else "x%d" % number
    if isinstance(value, torch.Tensor):
        if value.dtype not in DTYPE_NAMES:
            raise Unsupported("input %s has dtype %s" % (name, value.dtype))
        layout.arguments.append(("tensor", layout.names.make(name), value))
    elif isinstance(value, (bool, int, float)):
        if isinstance(value, int) and abs(value) > SCALARS_MAX:
            raise Unsupported("input %s is too large a number" % name)
        layout.arguments.append(("scalar", layout.names.make(name), value))
    else:
        raise Unsupported("input %s is a %s" % (name, type(value).__name__))


def _row(name, value, source=None):
    dtype = torch.float32 if value.dtype.is_floating_point and value.dtype != torch.float32 else value.dtype
    if dtype not in DTYPE_NAMES:
        raise Unsupported("%s has dtype %s" % (source or name, value.dtype))
    return {"name": name, "dtype": DTYPE_NAMES[dtype], "shape": list(value.shape)}


def lay_out(namespace, model, inputs, noted):
    """Names for everything, in the contract's order."""
    layout = Layout(namespace, Names())
    names = forward_names(namespace)
    for number, value in enumerate(inputs):
        _argument(layout, number, value, names)
    shared = {}
    for module, kind, key, dotted in places_of(model):
        value = getattr(module, kind)[key]
        if id(value) not in shared:
            shared[id(value)] = layout.names.make(dotted)
        layout.places.append((dotted, shared[id(value)], kind))
    for kind, shape, p in noted:
        layout.draws.append((kind, shape, p, layout.names.make("mask" if kind == "mask" else "drawn")))
    return layout


def _trace(namespace):
    mode, draws = MetaMode(), DrawMode()
    with torch.no_grad(), mode:
        model = build(namespace)
        inputs = list(namespace["get_inputs"]())
        mode.counting = True
        with draws:
            output = model(*inputs)
    return model, inputs, output, draws.noted, mode


def _unsupported_of(fault):
    if isinstance(fault, Unsupported):
        return str(fault)
    if isinstance(fault, ModuleNotFoundError):
        return "needs %s" % fault.name
    return "%s: %s" % (type(fault).__name__, first_line(fault))


def describe(text, file):
    """{"supported", "reason" | contract parts, "notes", "bytes"}: never raises for what a file does."""
    try:
        return _describe(load(text, file))
    except BaseException as fault:  # a file may raise SystemExit
        if isinstance(fault, (KeyboardInterrupt, Late)) or is_gpu_fault(fault):
            raise
        return {"supported": False, "reason": _unsupported_of(fault)}


def _describe(namespace):
    model, inputs, output, noted, mode = _trace(namespace)
    if not isinstance(output, torch.Tensor):
        raise Unsupported("forward gives a %s, not one tensor" % type(output).__name__)
    layout = lay_out(namespace, model, inputs, noted)
    rows, scalars, seen = [], [], {}
    for kind, name, value in layout.arguments:
        if kind == "tensor":
            rows.append(_row(name, value))
        else:
            whole = isinstance(value, int)
            scalars.append({"name": name, "dtype": "i64" if whole else "f32", "value": int(value) if whole else value})
    values = {dotted: getattr(module, kind)[key] for module, kind, key, dotted in places_of(model)}
    parameters, sources = 0, {}
    for dotted, name, kind in layout.places:
        if name not in seen:
            seen[name] = True
            rows.append(_row(name, values[dotted], dotted))
            sources[name] = dotted
            parameters += kind == "_parameters"
    for kind, shape, p, name in layout.draws:
        rows.append({"name": name, "dtype": "f32", "shape": list(shape)})
    signed = any(kind == "tensor" and value.dtype.is_floating_point for kind, _, value in layout.arguments)
    families = [OWN] + [SIGNED] * signed + [REWEIGHTED] * (parameters > 0)
    result = _row(layout.names.make("y"), output)
    return {"supported": True, "inputs": rows, "scalars": scalars, "outputs": [result], "values": families,
            "reduction": min(REDUCTION_MAX, max(1, mode.reduction)), "sources": sources, "parameters": parameters,
            "draws": [{"name": name, "kind": kind, "p": p} for kind, _, p, name in layout.draws],
            "bytes": bytes_of(rows, [result], mode.peak), "notes": notes_of(model, layout, sources)}


def bytes_of(inputs, outputs, peak):
    """inputs, outputs: of the tensors; peak: of what forward holds at once; needs: of a check on one card,
    where judge and candidate have both, the judge once more in fp64."""
    size = {"f32": 4, "f64": 8, "i64": 8, "i32": 4, "bool": 1, "u8": 1, "i8": 1, "f16": 2, "bf16": 2}
    total = [sum(_product(row["shape"]) * size[row["dtype"]] for row in rows) for rows in (inputs, outputs)]
    work = max(peak, total[1])
    return {"inputs": total[0], "outputs": total[1], "peak": work,
            "needs": 4 * total[0] + 3 * total[1] + 2 * work + (3 << 30)}


def notes_of(model, layout, sources):
    norms = sum(isinstance(m, torch.nn.modules.batchnorm._BatchNorm) for m in model.modules())
    notes = []
    if norms:
        notes.append("train mode: %d batch normalisation layer%s use the batch's own statistics; running "
                     "statistics are no input" % (norms, "s" if norms > 1 else ""))
    for kind, _, p, name in layout.draws:
        notes.append("what forward draws is the input %s (%s)"
                     % (name, "a mask of 0 and %g, p = %g" % (1 / (1 - p), p) if kind == "mask" else kind))
    if layout.draws:
        notes.append("randomness is exported as inputs")
    return notes


# ---- values on a device ----

class Bound:
    """A file whose contract is frozen: fills the contract's inputs, and calls forward with them."""

    def __init__(self, namespace, device):
        supply()
        self.namespace = namespace
        self.device = device
        try:
            model, inputs, _, noted, _ = _trace(namespace)
        except Exception as fault:
            raise JudgeError("config", "%s" % _unsupported_of(fault))
        self.layout = lay_out(namespace, model, inputs, noted)
        self.constants = {}
        self.model = None  # the one whose forward runs; its own values are replaced in each call
        self.signed = None  # whether signed inputs are inside the domain; None: not tried

    # ---- drawing ----

    def fill(self, named, family, seed, call):
        """Values for each input of the contract, into the tensors of `named`. Where `call` gives nothing
        finite on signed values, they are outside the domain, and own ones are taken from then on."""
        if family == SIGNED and self.signed is None:
            self._fill(named, SIGNED, seed)
            self.signed = bool(torch.isfinite(call(named)[0]).all())
        self._fill(named, OWN if family == SIGNED and not self.signed else family, seed)

    @torch.no_grad()
    def _fill(self, named, family, seed):
        seed_all(seed)
        with torch.no_grad(), DeviceMode(self.device):
            model = build(self.namespace)
            inputs = list(self.namespace["get_inputs"]())
        generator = torch.Generator(device=self.device)
        generator.manual_seed(seed ^ 0x5EED)
        for (kind, name, _), value in zip(self.layout.arguments, inputs):
            if kind == "tensor":
                self._put(named[name], value, generator if family == SIGNED else None)
        inputs = None
        self._fill_places(model, named, family, generator)
        for kind, shape, p, name in self.layout.draws:
            draw_into(named[name], kind, p, generator)
        self._keep(model)

    def _keep(self, model):
        """The model whose forward runs, and the tensors that are its plain attributes: forward may replace
        them, and every call starts with them as they were."""
        self.model = model
        self.plain = [(module, key, value) for module in model.modules() for key, value in vars(module).items()
                      if isinstance(value, torch.Tensor)]

    def _put(self, out, value, generator):
        if tuple(out.shape) != tuple(value.shape):
            raise JudgeError("config", "get_inputs gives %s where the contract has %s"
                             % (list(value.shape), list(out.shape)))
        out.copy_(value)
        if generator is not None and out.dtype.is_floating_point:
            for part in parts_of(out):
                signs = torch.randint(0, 2, part.shape, device=self.device, generator=generator, dtype=torch.int8)
                part.mul_(signs.mul_(2).sub_(1))

    def _fill_places(self, model, named, family, generator):
        done = set()
        for (module, kind, key, _), (_, name, _) in zip(places_of(model), self.layout.places):
            value = getattr(module, kind)[key]
            if name not in done:
                done.add(name)
                named[name].copy_(value)
                if family == REWEIGHTED and kind == "_parameters" and value.dtype.is_floating_point:
                    reweight(named[name], generator)
            getattr(module, kind)[key] = None  # the call brings them

    # ---- calling ----

    def __call__(self, **named):
        model = self.model
        if model is None:
            with torch.no_grad(), DeviceMode(self.device):
                model = build(self.namespace)
            self._keep(model)
        for module, key, value in self.plain:
            setattr(module, key, value.clone())
        for (dotted, name, kind) in self.layout.places:
            module, key = self._owner(model, dotted)
            getattr(module, kind)[key] = named[name]
        for module in model.modules():
            if isinstance(module, torch.nn.RNNBase):
                module._flat_weights = [getattr(module, key) for key in module._flat_weights_names]
            elif isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.training:
                widen_statistics(module, named, self.layout)
        arguments = [named[name] for _, name, _ in self.layout.arguments]
        if not self.layout.draws:
            return model(*arguments).contiguous()
        with DrawMode([named[name] for _, _, _, name in self.layout.draws]):
            return model(*arguments).contiguous()

    def traceable(self, names, scalars):
        """A function of the contract's tensors that torch.compile can trace: a model of its own, whose values
        each call replaces."""
        with torch.no_grad(), DeviceMode(self.device):
            model = build(self.namespace)
        layout = self.layout
        if layout.draws:
            raise JudgeError("config", "what forward draws cannot be compiled as an input")

        def run(*tensors):
            named = dict(zip(names, tensors), **scalars)
            given = {dotted: named[name] for dotted, name, _ in layout.places}
            return torch.func.functional_call(model, given, tuple(named[name] for _, name, _ in layout.arguments))

        return run

    def _owner(self, model, dotted):
        prefix, _, key = dotted.rpartition(".")
        cache = self.__dict__.setdefault("_modules_of", {})
        if cache.get("model") is not model:
            cache.clear()
            cache["model"] = model
            cache["modules"] = dict(model.named_modules())
        return cache["modules"][prefix], key


def widen_statistics(module, named, layout):
    """Running statistics take the values' type: they are written and never read."""
    if module.running_mean is None:
        return
    weights = [named[name] for _, name, kind in layout.places if kind == "_parameters"]
    dtype = weights[0].dtype if weights else module.running_mean.dtype
    if module.running_mean.dtype != dtype:
        module._buffers["running_mean"] = module.running_mean.to(dtype)
        module._buffers["running_var"] = module.running_var.to(dtype)


def seed_all(seed):
    random.seed(seed)
    torch.manual_seed(seed & ((1 << 63) - 1))
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed & 0xFFFFFFFF)


def parts_of(tensor, most=1 << 28):
    """Views of a contiguous tensor that are small enough to need little memory beside it."""
    return [tensor] if tensor.numel() <= most else list(tensor.view(-1).split(most))


def reweight(tensor, generator):
    """Every parameter is another one: a constant one is one no more."""
    flat = tensor.view(-1)
    if flat.numel() == 0:
        return
    constant = bool((flat == flat[0]).all())
    for part in parts_of(tensor):
        part.mul_(torch.rand(part.shape, device=part.device, generator=generator, dtype=part.dtype).add_(0.5))
        if constant:
            part.add_(torch.rand(part.shape, device=part.device, generator=generator, dtype=part.dtype)
                      .sub_(0.5).mul_(0.5))


def draw_into(out, kind, p, generator):
    for part in parts_of(out):
        if kind == "normal":
            part.normal_(generator=generator)
        else:
            part.uniform_(generator=generator)
        if kind == "mask":
            part.copy_((part >= p).to(part.dtype) / (1 - p))
