# SPDX-License-Identifier: MIT
"""Which mode wins, what is measured again, what is kept; and that the timing library understands us.

What needs a GPU is in tests/gpu/judge_gpu_check.py."""

import ctypes
import os
import tempfile
import threading
import unittest
from unittest import mock

import support
import baseline
import inductor
import pack
import timing
import torch
from problem import JudgeError

AUTOTUNE = "max-autotune-no-cudagraphs"


class FakeBench:
    """Answers from a table: mode → milliseconds, or None: it failed."""

    medians = {}
    hits = ()
    fits = True
    seen = []

    def __init__(self, judge, request):
        self.base = request["base"]
        FakeBench.seen = []

    def folder(self, mode):
        return os.path.join(self.base, mode)

    def row(self, mode):
        FakeBench.seen.append(mode)
        median = self.medians[mode]
        return {"mode": mode, "median_ms": median, "reason": None if median else "broken",
                "cache": "hit" if mode in self.hits else "miss"}

    def wall(self):
        return {"mode": "eager (wall)", "median_ms": 0.1, "reason": None, "cache": "none", "wall": True}

    def overhead(self):
        FakeBench.seen.append("reduce-overhead")
        return {"mode": "reduce-overhead (wall)", "median_ms": 0.01, "reason": None, "cache": "miss", "wall": True}

    def keep(self, mode, path):
        FakeBench.seen.append("keep " + mode)
        return self.fits


class Graph:
    def raw_cuda_graph(self):
        raise NotImplementedError


class Measure(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.TemporaryDirectory()
        self.addCleanup(self.base.cleanup)
        for patch in (mock.patch.object(baseline, "_Bench", FakeBench),
                      mock.patch.object(torch.cuda, "CUDAGraph", Graph, create=True)):
            patch.start()
            self.addCleanup(patch.stop)
        FakeBench.medians = {"eager": 2.0, "default": 1.5, AUTOTUNE: 1.0}
        FakeBench.hits, FakeBench.fits = (), True

    def measure(self, winner=None, cache_in=None):
        judge = mock.Mock()
        request = {"base": self.base.name, "winner": winner, "cache_in": cache_in,
                   "cache_out": os.path.join(self.base.name, "out.tar")}
        reply = baseline.measure(judge, request)
        judge.truth.assert_called_once_with(0)
        return reply

    def test_all_modes_are_measured_and_the_fastest_wins(self):
        reply = self.measure()
        self.assertEqual(FakeBench.seen, ["eager", "default", AUTOTUNE, "reduce-overhead", "keep " + AUTOTUNE])
        self.assertEqual((reply["winner"], reply["cache_hit"], reply["packed"]),
                         (AUTOTUNE, False, True))

    def test_the_hosts_clock_is_a_number_beside_the_others(self):
        reply = self.measure()
        self.assertEqual([row["mode"] for row in reply["modes"][-2:]], ["eager (wall)", "reduce-overhead (wall)"])
        self.assertEqual(reply["winner"], AUTOTUNE)
        FakeBench.medians = {"eager": None, "default": 1.5, AUTOTUNE: 1.0}
        self.assertNotIn("eager (wall)", [row["mode"] for row in self.measure()["modes"]])

    def test_a_failed_mode_never_wins(self):
        FakeBench.medians = {"eager": 2.0, "default": 1.5, AUTOTUNE: None}
        self.assertEqual(self.measure()["winner"], "default")
        FakeBench.medians = {"eager": None, "default": None, AUTOTUNE: None}
        reply = self.measure()
        self.assertEqual((reply["winner"], reply["packed"]), (None, False))

    def test_eager_has_no_cache_to_keep(self):
        FakeBench.medians = {"eager": 0.5, "default": 1.5, AUTOTUNE: 1.0}
        reply = self.measure()
        self.assertEqual((reply["winner"], reply["packed"]), ("eager", False))
        self.assertEqual(len(FakeBench.seen), 4)

    def test_with_a_stored_winner_only_eager_and_it_are_measured(self):
        FakeBench.hits = ("default",)
        reply = self.measure("default")
        self.assertEqual(FakeBench.seen, ["eager", "default"])
        self.assertEqual((reply["cache_hit"], reply["packed"]), (True, False))
        self.measure("eager")
        self.assertEqual(FakeBench.seen, ["eager"])

    def test_a_stored_cache_is_put_back_before_anything_runs(self):
        source, tar = os.path.join(self.base.name, "source"), os.path.join(self.base.name, "in.tar")
        os.makedirs(source)
        with open(os.path.join(source, "k.best_config"), "w") as file:
            file.write("{}")
        self.assertTrue(pack.save(source, tar))
        self.measure("default", tar)
        self.assertEqual(pack.files_of(os.path.join(self.base.name, "default")), ["k.best_config"])

    def test_a_cache_that_did_not_serve_is_packed_anew(self):
        reply = self.measure("default")
        self.assertEqual((reply["cache_hit"], reply["packed"]), (False, True))
        FakeBench.fits = False
        self.assertFalse(self.measure("default")["packed"])

    def test_an_unknown_mode_is_refused(self):
        with self.assertRaises(JudgeError):
            baseline.measure(mock.Mock(), {"base": "", "winner": "fastest", "cache_out": ""})

    def test_an_old_torch_is_told(self):
        class Old:
            pass
        with mock.patch.object(torch.cuda, "CUDAGraph", Old, create=True):
            with self.assertRaises(JudgeError) as caught:
                self.measure()
        self.assertEqual(caught.exception.code, "unavailable")
        self.assertIn("raw_cuda_graph", caught.exception.text)


class Warm(unittest.TestCase):
    """The compiler is loaded beside other work, and done before anything is measured."""

    def setUp(self):
        self.base = tempfile.TemporaryDirectory()
        self.addCleanup(self.base.cleanup)
        patch = mock.patch.dict(os.environ)
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_measurement_waits_for_it(self):
        may_end, ended = threading.Event(), []

        def load():
            may_end.wait(60)
            ended.append(True)

        with mock.patch.object(inductor, "CORE", ("json",)), \
                mock.patch.object(inductor, "load", load):
            baseline.warm(self.base.name)
        self.assertTrue(os.environ["TRITON_CACHE_DIR"].startswith(self.base.name))
        self.assertEqual(ended, [])
        may_end.set()
        ended_before = []

        def make(judge, request):
            ended_before.extend(ended)
            return FakeBench(judge, request)

        with mock.patch.object(torch.cuda, "CUDAGraph", Graph, create=True), \
                mock.patch.object(baseline, "_Bench", make):
            baseline.measure(mock.Mock(), {"base": "", "winner": "eager", "cache_out": ""})
        self.assertEqual(ended_before, [True])

    def test_without_a_compiler_nothing_is_started(self):
        with mock.patch.object(inductor, "CORE", ("no_such_module",)):
            baseline.warm(self.base.name)
        self.assertEqual(baseline._loading, [])


class Keep(unittest.TestCase):
    """What becomes of the winner's compiler cache."""

    def setUp(self):
        self.base = tempfile.TemporaryDirectory()
        self.addCleanup(self.base.cleanup)
        self.tar = os.path.join(self.base.name, "out.tar")
        self.bench = object.__new__(baseline._Bench)
        self.bench.judge = mock.Mock(device=torch.device("cpu"))
        self.bench.root = self.base.name
        self.bench.watches = {"default": inductor.Watch()}
        self.bench.build = mock.Mock(side_effect=lambda mode, row: self.put("fxgraph/anew"))
        self.put("fxgraph/graph")
        self.put("aa/kernel.py")
        for patch in (mock.patch.dict(os.environ), mock.patch.object(inductor, "settle"),
                      mock.patch.object(torch.cuda, "synchronize")):
            patch.start()
            self.addCleanup(patch.stop)

    def put(self, name, data=b"x"):
        path = os.path.join(self.base.name, "default", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def keep(self):
        kept = self.bench.keep("default", self.tar)
        self.assertEqual(kept, os.path.exists(self.tar))
        if not kept:
            return None
        back = os.path.join(self.base.name, "back")
        pack.restore(self.tar, back)
        return pack.files_of(back)

    def test_only_what_loading_needs_is_kept(self):
        self.assertEqual(self.keep(), ["fxgraph/graph"])
        inductor.settle.assert_called_once_with(os.path.join(self.base.name, "default"),
                                                self.bench.watches["default"])
        self.bench.build.assert_not_called()

    def test_a_cache_of_unknown_making_is_built_anew(self):
        self.bench.watches["default"].graphs_found = 1
        self.assertEqual(self.keep(), ["fxgraph/anew"])

    def test_one_that_is_too_large_or_not_understood_is_dropped(self):
        with mock.patch.object(pack, "PACKED_MAX", 0):
            self.assertIsNone(self.keep())
        inductor.settle.side_effect = KeyError("a kernel")
        self.assertIsNone(self.keep())
        self.assertFalse(os.path.exists(os.path.join(self.base.name, "default")))

    def test_a_gpu_fault_is_no_full_cache(self):
        self.bench.watches["default"].graphs_found = 1
        self.bench.build.side_effect = RuntimeError("CUDA error: an illegal memory access")
        with self.assertRaises(RuntimeError):
            self.keep()


class Survival(unittest.TestCase):
    """What a failing mode does to the rest."""

    def bench(self, fault):
        bench = object.__new__(baseline._Bench)
        bench.judge = mock.Mock(device=torch.device("cpu"))
        bench._fill = mock.Mock(side_effect=fault)
        return bench

    def row(self, mode, fault, synchronize=None):
        with mock.patch.object(torch.cuda, "synchronize", side_effect=synchronize), \
                mock.patch.object(torch.cuda, "empty_cache"):
            return self.bench(fault).row(mode)

    def test_a_failure_is_a_reason_while_the_device_works(self):
        for fault, words in ((RuntimeError("CUDA error: operation not permitted"), "not permitted"),
                             (baseline.ModeFailed("its result is wrong: …"), "its result is wrong"),
                             (JudgeError("config", "r.py:1: wrong dtype"), "wrong dtype"),
                             (ValueError("two\nlines"), "ValueError: two")):
            row = self.row("default", fault)
            self.assertIsNone(row["median_ms"])
            self.assertIn(words, row["reason"])

    def test_a_broken_device_ends_the_process(self):
        with self.assertRaises(JudgeError) as caught:
            self.row("default", RuntimeError("CUDA error: illegal address"),
                     RuntimeError("CUDA error: illegal address"))
        self.assertEqual((caught.exception.code, caught.exception.restart), ("gpu", True))

    def overhead(self, fault=None, wrong=None):
        """reduce-overhead with a function that counts its calls."""
        bench = self.bench(None)
        bench.inputs, bench.calls = [(1,), (2,)], []
        bench.build = mock.Mock(side_effect=fault, return_value=(lambda x: bench.calls.append(x), []))
        bench._call = mock.Mock(return_value=[])
        bench._check = mock.Mock(side_effect=wrong)
        with mock.patch.object(torch.cuda, "synchronize"), mock.patch.object(torch.cuda, "empty_cache"), \
                mock.patch.object(inductor, "forget") as forget, \
                mock.patch.object(torch, "compiler", create=True):
            row = bench.overhead()
        forget.assert_called_once_with()
        return row, bench

    def test_reduce_overhead_is_a_number_on_the_hosts_clock(self):
        row, bench = self.overhead()
        self.assertEqual((row["mode"], row["wall"], row["reason"]), ("reduce-overhead (wall)", True, None))
        self.assertEqual(len(row["samples"]), baseline.WALL_CALLS)
        self.assertGreater(row["median_ms"], 0)
        self.assertEqual(bench.calls[:3], [1, 2, 1])
        self.assertEqual(len(bench.calls), baseline.WARM_CALLS + baseline.WALL_CALLS)

    def test_reduce_overhead_that_fails_or_is_wrong_has_a_reason_and_no_number(self):
        for row, _ in (self.overhead(ValueError("no graph")),
                       self.overhead(wrong=baseline.ModeFailed("its result is wrong"))):
            self.assertIsNone(row["median_ms"])
            self.assertEqual((row["samples"], row["wall"]), ([], True))
            self.assertRegex(row["reason"], "no graph|wrong")

    def test_no_memory_for_eager_is_the_harness_failing(self):
        with self.assertRaises(RuntimeError):
            self.row("eager", RuntimeError("CUDA out of memory"))
        self.assertIn("out of memory", self.row("default", RuntimeError("CUDA out of memory"))["reason"])

    def test_a_timing_failure_ends_the_process(self):
        with self.assertRaises(JudgeError):
            self.row("default", JudgeError("gpu", "timing: the deadline passed", restart=True))


class Library(unittest.TestCase):
    path = os.path.join(os.environ.get("CE_BUILD", "/nowhere"), "lib", "libce_timing.so")

    def test_a_missing_library_is_told(self):
        with self.assertRaises(JudgeError) as caught:
            timing.Timing("/nowhere/libce_timing.so")
        self.assertEqual(caught.exception.code, "unavailable")

    def test_the_library_takes_our_structs_and_says_that_there_is_no_device(self):
        if not os.path.exists(self.path):
            self.skipTest("libce_timing.so is not built")
        if torch.cuda.is_available():
            self.skipTest("there is a device")
        library = timing.Timing(self.path)
        with self.assertRaises(JudgeError) as caught:
            library.run([1, 2], None, 10, 256)
        self.assertEqual(caught.exception.code, "unavailable", caught.exception.text)

    def test_the_library_takes_our_profile_structs_too(self):
        if not os.path.exists(self.path):
            self.skipTest("libce_timing.so is not built")
        if torch.cuda.is_available():
            self.skipTest("there is a device")
        library = timing.Timing(self.path).lib
        ask = timing.ProfileAsk(size=ctypes.sizeof(timing.ProfileAsk), samples=5, calls=1)
        out = timing.ProfileOut(size=ctypes.sizeof(timing.ProfileOut))
        self.assertEqual(library.ce_profile_spans(None, ctypes.byref(ask), ctypes.byref(out)), -1)
        self.assertEqual(out.code, timing.PROFILE_UNAVAILABLE)
        self.assertNotIn(b"struct sizes differ", out.text)
        ask.size -= 4
        library.ce_profile_spans(None, ctypes.byref(ask), ctypes.byref(out))
        self.assertIn(b"struct sizes differ", out.text)

    def test_a_struct_of_another_size_is_refused(self):
        if not os.path.exists(self.path):
            self.skipTest("libce_timing.so is not built")
        library = timing.Timing(self.path)
        job, out = timing.Job(size=ctypes.sizeof(timing.Job) - 4), timing.Out()
        out.size = ctypes.sizeof(timing.Out)
        self.assertIsNone(library.lib.ce_timing_open(ctypes.byref(job), ctypes.byref(out)))
        self.assertEqual(out.code, timing.ARGUMENT)


if __name__ == "__main__":
    unittest.main()
