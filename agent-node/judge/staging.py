# SPDX-License-Identifier: MIT
"""staging - memory that a runner process can open: inputs of all slots, and one set of outputs.

On cuda it is a block of its own (cuMemAlloc_v2 by ctypes, a multiple of 2 MiB), exported once by
cuIpcGetMemHandle and wrapped for torch through __cuda_array_interface__: nothing of torch's allocator
is exported. On cpu it is a file in /dev/shm. Tensors start at multiples of 256 bytes."""

import ctypes
import itertools
import mmap
import os

import torch

from problem import JudgeError

ALIGN = 256
GRANULE = 2 << 20
SMALL = 256 << 20  # a block up to here is kept for smaller shapes too
EMPTY = 0xFF  # what lies in the outputs before a runner copies its own: NaN, or -1


def round_up(value, step):
    return -(-value // step) * step


class Span:
    def __init__(self, offset, size):
        self.offset = offset
        self.bytes = size

    def row(self):
        return [self.offset, self.bytes]


class Layout:
    """Offsets: inputs slot after slot in contract order, then outputs."""

    def __init__(self, problem, case, slots):
        self.end = 0
        self.inputs = [[self._span(case, tensor) for tensor in problem.inputs]
                       for _ in range(slots)]
        self.outputs_start = self.end
        self.outputs = [self._span(case, tensor) for tensor in problem.outputs]

    def _span(self, case, tensor):
        size = case.elements(tensor) * tensor.item_size
        span = Span(self.end, size)
        self.end += round_up(size, ALIGN)
        return span


def view(block, span, tensor, shape):
    """A tensor inside a block of bytes."""
    return block[span.offset:span.offset + span.bytes].view(tensor.dtype).view(shape)


class Shared:
    """A block of POSIX shared memory."""

    numbers = itertools.count()

    def __init__(self, size):
        self.size = size
        self.name = "/ce-judge-%d-%d" % (os.getpid(), next(Shared.numbers))
        self.path = "/dev/shm" + self.name
        try:
            fd = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as fault:
            raise JudgeError("unavailable", "shared memory %s: %s" % (self.path, fault.strerror))
        try:
            os.ftruncate(fd, size)
            # Reserving now turns a full /dev/shm into an error instead of a SIGBUS later.
            os.posix_fallocate(fd, 0, size)
            self.map = mmap.mmap(fd, size)
        except OSError as fault:
            os.unlink(self.path)
            raise JudgeError("unavailable", "shared memory of %d bytes: %s" % (size, fault.strerror),
                             restart=False)
        finally:
            os.close(fd)
        self.bytes = torch.frombuffer(self.map, dtype=torch.uint8)

    def facts(self):
        return {"shm": self.name}

    def close(self):
        self.bytes = None
        self.map = None  # unmapped when the last view is gone
        self.unlink()

    def unlink(self):
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            pass


class _IpcHandle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_ubyte * 64)]


class Driver:
    """The few driver calls that torch does not offer, in torch's primary context."""

    _instance = None

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.lib.cuMemAlloc_v2.argtypes = [ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t]
        self.lib.cuMemFree_v2.argtypes = [ctypes.c_uint64]
        self.lib.cuIpcGetMemHandle.argtypes = [ctypes.POINTER(_IpcHandle), ctypes.c_uint64]
        self.lib.cuDeviceGetAttribute.argtypes = [ctypes.POINTER(ctypes.c_int), ctypes.c_int,
                                                  ctypes.c_int]
        self.lib.cuGetErrorName.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]

    @classmethod
    def get(cls):
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance

    def call(self, name, *args):
        code = getattr(self.lib, name)(*args)
        if code != 0:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorName(code, ctypes.byref(text))
            raise JudgeError("gpu", "%s: %s (%d)" % (name, (text.value or b"?").decode(), code),
                             restart=True)

    def enter(self, device):
        """Makes torch's primary context current on this thread."""
        torch.cuda.init()
        torch.cuda.set_device(device)
        torch.zeros(1, device=device)
        current = ctypes.c_void_p()
        self.call("cuCtxGetCurrent", ctypes.byref(current))
        if not current.value:
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(current),
                      ctypes.c_int(device.index or 0))
            self.call("cuCtxSetCurrent", current)

    def attribute(self, number, device):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, device.index or 0)
        return value.value

    def version(self):
        value = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(value))
        return value.value


class _Interface:
    """What torch needs to wrap foreign device memory."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3,
            "strides": None,
        }


class Exported:
    """A block of device memory with an IPC handle."""

    def __init__(self, size, device):
        self.size = size
        self.driver = Driver.get()
        self.driver.enter(device)
        # The driver takes what torch's cache holds: give it back first.
        torch.cuda.empty_cache()
        address = ctypes.c_uint64()
        self.driver.call("cuMemAlloc_v2", ctypes.byref(address), size)
        self.address = address.value
        handle = _IpcHandle()
        self.driver.call("cuIpcGetMemHandle", ctypes.byref(handle), self.address)
        self.handle = bytes(handle.reserved)
        self.interface = _Interface(self.address, size)
        self.bytes = torch.as_tensor(self.interface, device=device)
        if self.bytes.data_ptr() != self.address:
            raise JudgeError("internal", "torch copied the staging memory instead of wrapping it")

    def facts(self):
        return {"handle": self.handle.hex()}

    def close(self):
        self.bytes = None
        torch.cuda.synchronize()
        self.driver.call("cuMemFree_v2", self.address)

    def unlink(self):
        """Device memory ends with the process."""


class Staging:
    """The block, kept as long as it fits, and what is drawn into it."""

    def __init__(self, device):
        self.device = device
        self.block = None
        self.clear()

    def clear(self):
        self.layout = None
        self.inputs = []   # [slot][input]
        self.outputs = []

    def arrange(self, problem, case, slots):
        """Lays out a case; the inputs are not filled yet."""
        self.clear()
        self.layout = Layout(problem, case, slots)
        size = round_up(max(self.layout.end, 1), GRANULE)
        if self.block is None or not size <= self.block.size <= max(SMALL, 4 * size):
            self.close()
            self.block = (Exported(size, self.device) if self.device.type == "cuda"
                          else Shared(size))
        memory = self.block.bytes
        self.inputs = [[view(memory, span, tensor, case.sizes[tensor.name])
                        for span, tensor in zip(spans, problem.inputs)]
                       for spans in self.layout.inputs]
        self.outputs = [view(memory, span, tensor, case.sizes[tensor.name])
                        for span, tensor in zip(self.layout.outputs, problem.outputs)]
        self.wipe()

    def wipe(self):
        """Nothing of an earlier answer may be taken for a new one."""
        self.block.bytes[self.layout.outputs_start:self.layout.end].fill_(EMPTY)
        self.settle()

    def settle(self):
        """Other processes read this memory next."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def row(self):
        result = {
            "total": self.block.size,
            "slots": len(self.inputs),
            "inputs": [span.row() for spans in self.layout.inputs for span in spans],
            "outputs": [span.row() for span in self.layout.outputs],
        }
        result.update(self.block.facts())
        return result

    def close(self):
        layout = self.layout
        self.clear()
        self.layout = layout
        if self.block is not None:
            block, self.block = self.block, None
            block.close()

    def unlink(self):
        if self.block is not None:
            self.block.unlink()
