# SPDX-License-Identifier: MIT
"""What the compiler did is counted, and its cache cut down, on stand-ins for torch's internals.

That the real ones are as assumed here is seen on a GPU: tests/gpu/judge_gpu_check.py."""

import collections
import dataclasses
import os
import pickle
import sys
import tempfile
import types
import unittest
from unittest import mock

import support  # noqa: F401
import inductor

IR = (".source", ".ttir", ".ttgir", ".llir", ".ptx")


class Kernel:
    def __init__(self, name):
        self.hash = name
        self.C_impl = types  # a module: cannot be pickled


class Result:
    def __init__(self, name):
        self.kernel = Kernel(name)


class Launcher:
    def __init__(self, name):
        self.cache_hash = name


class CachingAutotuner:
    """Its configurations are the names of its kernels."""

    def __init__(self, names):
        self.compile_results = [Result(name) for name in names]
        for result in self.compile_results:
            del result.kernel.C_impl
        self.triton_meta = {"device": 0}
        self.inductor_meta = {"coordinate_descent_tuning": True, "kernel_name": "k"}
        self.launchers = []

    def _precompile_config(self, name):
        return Result(name)

    def bench(self, launcher):
        return len(launcher.cache_hash)


@dataclasses.dataclass(frozen=True)
class Artifact:
    filename: str
    payload: bytes


@dataclasses.dataclass(frozen=True)
class Artifacts:
    kernel_hash: str
    device: int
    artifacts: list


@dataclasses.dataclass(frozen=True)
class StaticAutotuner:
    kernel: CachingAutotuner


@dataclasses.dataclass(frozen=True)
class Bundle:
    kernel_artifacts: list
    static_autotuners: list


class TritonBundler:
    entries = None

    @classmethod
    def begin_compile(cls):
        cls.entries = []

    @classmethod
    def put(cls, name, device):
        cls.entries.append((name, device))

    @classmethod
    def collect(cls):
        return Bundle([Artifacts(name, device, files_of(name)) for name, device in cls.entries],
                      []), None


class Graph:
    pass


def files_of(name):
    return [Artifact(name + suffix, b"x") for suffix in IR + (".cubin", ".json")] + [
        Artifact("__grp__%s.json" % name, b"x")]


class StandIns(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.TemporaryDirectory()
        self.addCleanup(self.base.cleanup)
        self.counters = collections.defaultdict(collections.Counter)
        self.knobs = types.SimpleNamespace(compilation=types.SimpleNamespace(listener=None))
        members = {"torch._dynamo": {}, "torch._dynamo.utils": {"counters": self.counters},
                   "torch._inductor": {}, "torch._inductor.runtime": {},
                   "torch._inductor.runtime.triton_heuristics":
                       {"CachingAutotuner": CachingAutotuner},
                   "torch._inductor.runtime.runtime_utils":
                       {"triton_hash_to_path_key": lambda name: name},
                   "torch._inductor.triton_bundler": {"TritonBundler": TritonBundler},
                   "triton": {"knobs": self.knobs}}
        modules = {}
        for name, values in members.items():
            modules[name] = types.ModuleType(name)
            vars(modules[name]).update(values)
        self.modules = modules
        patch = mock.patch.dict(sys.modules, modules)
        patch.start()
        self.addCleanup(patch.stop)

    def compile(self, names, tried=(), found=0):
        """A tuner with `names` as configurations that also tries some and runs the last one."""
        self.counters.clear()
        with inductor.Watch() as watch:
            tuner = CachingAutotuner(names)
            for name in list(names) + list(tried):
                tuner._precompile_config(name)
                self.knobs.compilation.listener(src=None, cache_hit=False)
                tuner.bench(Launcher(name))
            tuner.launchers = [Launcher((list(names) + list(tried))[-1])]
            self.counters["inductor"]["fxgraph_cache_miss"] += 1 - found
            self.counters["inductor"]["fxgraph_cache_hit"] += found
        return watch, tuner


class Counting(StandIns):
    def test_what_is_built_and_tried_is_counted(self):
        watch, _ = self.compile(["a", "b"], ["c"])
        self.assertEqual(watch.row(), {"graphs_found": 0, "graphs_built": 1, "kernels_built": 3,
                                       "trials": 3})
        self.assertFalse(watch.served())

    def test_a_kernel_found_in_tritons_cache_is_not_built(self):
        before = []
        self.knobs.compilation.listener = lambda **rest: before.append(rest)
        with inductor.Watch() as watch:
            self.knobs.compilation.listener(src="s", cache_hit=True)
        self.assertEqual(watch.kernels_built, 0)
        self.assertEqual(before, [{"src": "s", "cache_hit": True}])

    def test_it_was_served_only_when_nothing_was_made(self):
        rows = (({"graphs_found": 1}, True), ({}, False),
                ({"graphs_found": 1, "graphs_built": 1}, False),
                ({"graphs_found": 1, "kernels_built": 1}, False),
                ({"graphs_found": 1, "trials": 1}, False),
                ({"graphs_found": 1, "blind": True}, False))
        for values, expected in rows:
            watch = inductor.Watch()
            vars(watch).update(values)
            self.assertEqual(watch.served(), expected, values)

    def test_a_bypassed_cache_is_a_built_graph(self):
        with inductor.Watch() as watch:
            self.counters["inductor"]["fxgraph_cache_bypass"] += 1
        self.assertEqual(watch.graphs_built, 1)

    def test_torch_is_left_as_it_was(self):
        before = (CachingAutotuner._precompile_config, CachingAutotuner.bench)
        with self.assertRaises(KeyError):
            with inductor.Watch():
                self.assertNotEqual(CachingAutotuner.bench, before[1])
                raise KeyError("the compiler failed")
        self.assertEqual((CachingAutotuner._precompile_config, CachingAutotuner.bench), before)
        self.assertIsNone(self.knobs.compilation.listener)

    def test_what_cannot_be_counted_is_never_served(self):
        del self.knobs.compilation.listener
        before = CachingAutotuner.bench
        with inductor.Watch() as watch:
            self.counters["inductor"]["fxgraph_cache_hit"] += 1
        self.assertEqual(watch.graphs_found, 1)
        self.assertFalse(watch.served())
        self.assertEqual(CachingAutotuner.bench, before)


class Settling(StandIns):
    def graph(self, *tuners):
        """An entry as it is before the graph ran: every configuration with all its files."""
        graph = Graph()
        names = [result.kernel.hash for tuner in tuners for result in tuner.compile_results]
        graph._triton_bundle = Bundle([Artifacts(name, 0, files_of(name)) for name in names],
                                      [StaticAutotuner(tuner) for tuner in tuners])
        self.path = os.path.join(self.base.name, "fxgraph", "ab", "key", "entry")
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "wb") as file:
            pickle.dump(graph, file)

    def settled(self, watch):
        inductor.settle(self.base.name, watch)
        with open(self.path, "rb") as file:
            return pickle.load(file)._triton_bundle

    def test_only_the_configuration_that_runs_stays(self):
        for names, tried, winner in ((["a", "b"], [], "b"), (["a", "b"], ["c"], "c"),
                                     (["a"], [], "a")):
            watch, _ = self.compile(names, tried)
            self.graph(CachingAutotuner(names))
            bundle = self.settled(watch)
            (entry,) = bundle.static_autotuners
            self.assertEqual([r.kernel.hash for r in entry.kernel.compile_results], [winner])
            self.assertEqual([k.kernel_hash for k in bundle.kernel_artifacts], [winner])
            self.assertEqual([f.filename for f in bundle.kernel_artifacts[0].artifacts],
                             [winner + ".cubin", winner + ".json", "__grp__%s.json" % winner])

    def test_it_is_not_tuned_again(self):
        watch, _ = self.compile(["a", "b"])
        self.graph(CachingAutotuner(["a", "b"]))
        (entry,) = self.settled(watch).static_autotuners
        self.assertEqual(entry.kernel.inductor_meta,
                         {"coordinate_descent_tuning": False, "dynamic_scale_rblock": False,
                          "kernel_name": "k"})

    def test_the_kernels_in_use_stay_as_they_are(self):
        watch, _ = self.compile(["a", "b"])
        self.graph(CachingAutotuner(["a", "b"]))
        self.settled(watch)
        self.assertIs(watch.kernels["b"][1].kernel.C_impl, types)

    def test_what_was_not_seen_being_made_is_refused(self):
        watch, tuner = self.compile(["a", "b"])
        self.graph(CachingAutotuner(["x"]))
        with self.assertRaises(KeyError):
            self.settled(watch)
        self.graph(CachingAutotuner(["a", "b"]))
        tuner.launchers = [Launcher("a"), Launcher("b")]
        with self.assertRaises(ValueError):
            self.settled(watch)
        with self.assertRaises(ValueError):
            self.settled(self.compile(["a"], found=1)[0])

    def test_only_files_that_are_read_are_needed(self):
        rows = (("fxgraph/ab/key/entry", True), ("aotautograd/key/entry", True),
                ("ab/x.best_config", True), ("triton/KEY/__triton_launcher.so", True),
                ("triton/KEY/k.cubin", False), ("triton/KEY/k.ptx", False), ("ab/kernel.py", False),
                ("cd/fxgraph.py", False), ("cd/other.so", False))
        for name, expected in rows:
            self.assertEqual(inductor.needed(name), expected, name)


if __name__ == "__main__":
    unittest.main()
