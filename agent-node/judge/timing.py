# SPDX-License-Identifier: MIT
"""timing - libce_timing.so by ctypes: the code that also times candidates.

Mirrors agent-node/runner/timing/ce_timing.h, ABI 3, and ce_profile.h, ABI 1."""

import ctypes
import glob
import os
import sys

from problem import JudgeError

ABI = 3
TEXT = 240
OK, ARGUMENT, UNAVAILABLE, MEMORY, CUDA, TIMEOUT, VOID, KEEP = range(8)
NEVER = -1


class Job(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("slots", ctypes.c_uint32),
        ("graphs", ctypes.POINTER(ctypes.c_void_p)),
        ("prepare", ctypes.POINTER(ctypes.c_void_p)),
        ("stream", ctypes.c_void_p),
        ("l2_bytes", ctypes.c_uint64),
        ("dummy_bytes", ctypes.c_uint64),
        ("chained", ctypes.c_uint32),
        ("settle", ctypes.c_uint32),
        ("warmup_calls", ctypes.c_uint32),
        ("warmup_ms", ctypes.c_uint32),
        ("warmup_cap_ms", ctypes.c_uint32),
        ("deadline_ms", ctypes.c_uint32),
        ("keep", ctypes.c_void_p),
        ("keep_arg", ctypes.c_void_p),
    ]


class Ask(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("samples", ctypes.c_uint32),
        ("untimed", ctypes.c_uint32),
        ("keep", ctypes.c_int32),
        ("deadline_ms", ctypes.c_uint32),
        ("warm", ctypes.c_uint32),
    ]


class Out(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("code", ctypes.c_int32),
        ("native", ctypes.c_int32),
        ("sample_count", ctypes.c_uint32),
        ("samples", ctypes.POINTER(ctypes.c_double)),
        ("event_floor_ms", ctypes.c_double),
        ("host_ms", ctypes.c_double),
        ("event_ms", ctypes.c_double),
        ("warmup_calls", ctypes.c_int64),
        ("blocks", ctypes.c_int64),
        ("voided", ctypes.c_int64),
        ("suspect", ctypes.c_int64),
        ("text", ctypes.c_char * TEXT),
    ]


PROFILE_ABI = 1
PROFILE_NAME, PROFILE_KERNELS = 256, 16
PROFILE_OK, PROFILE_UNAVAILABLE, PROFILE_TIMING = range(3)
PROFILE_TIMES = ("event_ms", "span_ms", "busy_ms", "floor_event_ms", "floor_span_ms", "nodes")


class ProfileAsk(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("samples", ctypes.c_uint32),
        ("calls", ctypes.c_uint32),
        ("kernel_count", ctypes.c_uint32),
        ("kernels", ctypes.c_void_p),
        ("library", ctypes.c_char_p),
        ("stream", ctypes.c_void_p),
        ("deadline_ms", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class ProfileKernel(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * PROFILE_NAME),
        ("launches", ctypes.c_double),
        ("ms", ctypes.c_double),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("registers", ctypes.c_uint32),
        ("shared_static", ctypes.c_uint32),
        ("shared_dynamic", ctypes.c_uint32),
        ("local_bytes", ctypes.c_uint32),
    ]


class ProfileOut(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("code", ctypes.c_int32),
        ("native", ctypes.c_int32),
        ("agrees", ctypes.c_uint32),
    ] + [(name, ctypes.c_double) for name in PROFILE_TIMES] + [
        ("kernel_count", ctypes.c_uint32),
        ("kernels_left_out", ctypes.c_uint32),
        ("kernels", ProfileKernel * PROFILE_KERNELS),
        ("library", ctypes.c_char * PROFILE_NAME),
        ("text", ctypes.c_char * TEXT),
    ]


def find_cupti():
    """The profiling library that came with PyTorch, or ""."""
    for folder in sys.path:
        for pattern in ("cu13/lib/libcupti.so.13", "cuda_cupti/lib/libcupti.so.1?"):
            found = glob.glob(os.path.join(glob.escape(folder), "nvidia", pattern))
            if found:
                return sorted(found)[-1]
    return ""


class Result:
    """What arming (no samples) or a block gave."""

    def __init__(self, out, samples=()):
        self.samples = list(samples[:out.sample_count])
        self.event_floor_ms = out.event_floor_ms
        self.warmup_calls = out.warmup_calls
        self.host_ms, self.event_ms = out.host_ms, out.event_ms
        self.voided, self.suspect = out.voided, out.suspect

    def row(self):
        return dict(vars(self))


def _failed(out):
    code = {ARGUMENT: "internal", UNAVAILABLE: "unavailable"}.get(out.code, "gpu")
    return JudgeError(code, "timing: %s" % out.text.decode("utf-8", "replace"), restart=True)


class Timing:
    def __init__(self, path):
        try:
            self.lib = ctypes.CDLL(path)
        except OSError as fault:
            raise JudgeError("unavailable", "timing library: %s" % fault)
        self.lib.ce_timing_abi.restype = ctypes.c_uint32
        abi = self.lib.ce_timing_abi()
        if abi != ABI:
            raise JudgeError("unavailable", "%s has ABI %d, the judge knows %d" % (path, abi, ABI))
        self.lib.ce_timing_open.argtypes = [ctypes.POINTER(Job), ctypes.POINTER(Out)]
        self.lib.ce_timing_open.restype = ctypes.c_void_p
        self.lib.ce_timing_block.argtypes = [ctypes.c_void_p, ctypes.POINTER(Ask),
                                             ctypes.POINTER(Out)]
        self.lib.ce_timing_block.restype = ctypes.c_int
        self.lib.ce_timing_close.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
        self.lib.ce_timing_close.restype = None
        self.lib.ce_profile_abi.restype = ctypes.c_uint32
        if self.lib.ce_profile_abi() != PROFILE_ABI:
            raise JudgeError("unavailable", "%s has another profile ABI than %d" % (path, PROFILE_ABI))
        self.lib.ce_profile_spans.argtypes = [ctypes.c_void_p, ctypes.POINTER(ProfileAsk),
                                              ctypes.POINTER(ProfileOut)]
        self.lib.ce_profile_spans.restype = ctypes.c_int

    def open(self, graphs, stream, dummy_bytes, chained=False, settle=False):
        """Gets raw graphs (one a slot) ready on a stream of the current context."""
        return Session(self.lib, graphs, stream, dummy_bytes, chained, settle)

    def run(self, graphs, stream, samples, dummy_bytes):
        """Open, one block, close."""
        session = self.open(graphs, stream, dummy_bytes, settle=True)
        try:
            result = session.block(samples, 0)
            result.warmup_calls = session.armed.warmup_calls
            return result
        finally:
            session.close()


class Session:
    """Graphs ready to be timed. JudgeError on failure."""

    def __init__(self, lib, graphs, stream, dummy_bytes, chained, settle):
        slots = len(graphs)
        self.lib = lib
        self.stream = stream
        self.calls = slots if chained else 1
        self.array = (ctypes.c_void_p * slots)(*graphs)
        job = Job(size=ctypes.sizeof(Job), slots=slots, graphs=self.array, stream=stream,
                  dummy_bytes=dummy_bytes, chained=int(chained), settle=int(settle),
                  warmup_ms=0 if settle else 1)
        out = Out(size=ctypes.sizeof(Out))
        self.handle = ctypes.c_void_p(lib.ce_timing_open(ctypes.byref(job), ctypes.byref(out)))
        if not self.handle:
            raise _failed(out)
        self.armed = Result(out)

    def block(self, samples, untimed):
        room = (ctypes.c_double * samples)()
        ask = Ask(size=ctypes.sizeof(Ask), samples=samples, untimed=untimed, keep=NEVER)
        out = Out(size=ctypes.sizeof(Out), samples=room, event_floor_ms=self.armed.event_floor_ms)
        if self.lib.ce_timing_block(self.handle, ctypes.byref(ask), ctypes.byref(out)) != 0:
            raise _failed(out)
        return Result(out, room)

    def profile(self, samples, library):
        """Spans by the device's own clock, as runner/profiler.h has them. JudgeError when timing failed."""
        ask = ProfileAsk(size=ctypes.sizeof(ProfileAsk), samples=samples, calls=self.calls,
                         stream=self.stream, library=library.encode() if library else None)
        out = ProfileOut(size=ctypes.sizeof(ProfileOut))
        self.lib.ce_profile_spans(self.handle, ctypes.byref(ask), ctypes.byref(out))
        text = out.text.decode("utf-8", "replace")
        if out.code == PROFILE_TIMING:
            raise JudgeError("gpu", "timing for spans: %s" % text, restart=True)
        told = out.code == PROFILE_OK
        row = {name: getattr(out, name) if told else None for name in PROFILE_TIMES}
        row.update(unavailable=None if told else text, agrees=told and bool(out.agrees),
                   calls=self.calls)
        return row

    def close(self):
        self.lib.ce_timing_close(ctypes.byref(self.handle))
