# SPDX-License-Identifier: MIT
"""timing - libce_timing.so by ctypes: the code that also times candidates.

Mirrors agent-node/runner/timing/ce_timing.h, ABI 1."""

import ctypes

from problem import JudgeError

ABI = 1
TEXT = 240
OK, ARGUMENT, UNAVAILABLE, MEMORY, CUDA, TIMEOUT, VOID = range(7)


class Job(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("slots", ctypes.c_uint32),
        ("graphs", ctypes.POINTER(ctypes.c_void_p)),
        ("prepare", ctypes.POINTER(ctypes.c_void_p)),
        ("stream", ctypes.c_void_p),
        ("l2_bytes", ctypes.c_uint64),
        ("dummy_bytes", ctypes.c_uint64),
        ("samples", ctypes.c_uint32),
        ("warmup_calls", ctypes.c_uint32),
        ("warmup_ms", ctypes.c_uint32),
        ("warmup_cap_ms", ctypes.c_uint32),
        ("deadline_ms", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class Out(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("code", ctypes.c_int32),
        ("native", ctypes.c_int32),
        ("sample_count", ctypes.c_uint32),
        ("samples", ctypes.POINTER(ctypes.c_double)),
        ("event_floor_ms", ctypes.c_double),
        ("warmup_calls", ctypes.c_int64),
        ("blocks", ctypes.c_int64),
        ("voided", ctypes.c_int64),
        ("text", ctypes.c_char * TEXT),
    ]


class Result:
    def __init__(self, out, samples):
        self.samples = list(samples[:out.sample_count])
        self.event_floor_ms = out.event_floor_ms
        self.warmup_calls = out.warmup_calls


class Timing:
    def __init__(self, path):
        try:
            self.lib = ctypes.CDLL(path)
        except OSError as fault:
            raise JudgeError("unavailable", "timing library: %s" % fault)
        self.lib.ce_timing_abi.restype = ctypes.c_uint32
        self.lib.ce_timing_run.argtypes = [ctypes.POINTER(Job), ctypes.POINTER(Out)]
        self.lib.ce_timing_run.restype = ctypes.c_int
        abi = self.lib.ce_timing_abi()
        if abi != ABI:
            raise JudgeError("unavailable", "%s has ABI %d, the judge knows %d" % (path, abi, ABI))

    def run(self, graphs, stream, samples, dummy_bytes):
        """Times raw graphs (one a slot) on a stream of the current context. JudgeError on failure."""
        slots = len(graphs)
        array = (ctypes.c_void_p * slots)(*graphs)
        room = (ctypes.c_double * samples)()
        job = Job(size=ctypes.sizeof(Job), slots=slots, graphs=array, stream=stream,
                  dummy_bytes=dummy_bytes, samples=samples)
        out = Out(size=ctypes.sizeof(Out), samples=room)
        if self.lib.ce_timing_run(ctypes.byref(job), ctypes.byref(out)) != 0:
            code = {ARGUMENT: "internal", UNAVAILABLE: "unavailable"}.get(out.code, "gpu")
            raise JudgeError(code, "timing: %s" % out.text.decode("utf-8", "replace"), restart=True)
        return Result(out, room)
