# SPDX-License-Identifier: MIT
"""inductor - what torch.compile did, and its cache cut down to what a later process loads.

Inductor writes a graph's entry before the graph first runs: it holds every configuration of every
kernel, and not the one that tuning found. So a process that loads the entry tunes again. `settle`
rewrites the entries once the graph has run: one configuration a kernel, not to be tuned again, with
its binary alone. Everything here knows internals of torch; what is not as expected raises, and the
cache is then not kept."""

import contextlib
import copy
import dataclasses
import importlib
import os
import pickle

import torch

CORE = ("torch._dynamo", "torch._inductor.compile_fx", "torch._inductor.utils")
LATER = ("torch._inductor.async_compile", "torch._inductor.runtime.triton_heuristics",
         "torch._inductor.triton_bundler", "torch._functorch._aot_autograd.autograd_cache",
         "torch._dynamo.backends.inductor", "torch._inductor.codegen.cuda_combined_scheduling",
         "torch.distributed.tensor.experimental")
GRAPHS = "fxgraph"
NEEDED_FOLDERS = (GRAPHS + "/", "aotautograd/")
NEEDED_BINARIES = (".cubin", ".json")  # of a kernel; nobody reads its source and intermediate forms


def load():
    """What the first compile of a process would otherwise load and compute: modules, the hashes of
    torch and Triton that are part of every cache key, and Triton's driver module."""
    for name in LATER:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    try:
        from torch._inductor.codecache import torch_key
        from triton.runtime import driver
        from triton.runtime.cache import triton_key
        torch_key()
        triton_key()
        driver.active.utils
    except Exception:
        pass  # the first compile will say so


def use(folder):
    """Caches live below folder from here on."""
    os.makedirs(folder, exist_ok=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "triton")


def forget():
    """What earlier compiles left in memory."""
    from torch._dynamo.utils import counters
    from torch._inductor import utils
    torch._dynamo.reset()
    for name in ("clear_caches", "clear_inductor_caches"):
        getattr(utils, name, lambda: None)()
    counters.clear()


def needed(name):
    """Whether a later process reads this file of a settled cache. Kernels and generated code are in
    the graphs' entries; launchers are there for kernels that need one of their own."""
    return (name.startswith(NEEDED_FOLDERS) or name.endswith(".best_config")
            or (name.startswith("triton/") and name.endswith(".so")))


class Watch:
    """Counts, while entered, what the compiler builds and tunes, and remembers the kernels."""

    def __init__(self):
        self.graphs_found = 0
        self.graphs_built = 0
        self.kernels_built = 0
        self.blind = False   # this torch keeps what is counted elsewhere
        self.trials = 0      # timed runs of a kernel to choose its configuration
        self.kernels = {}    # Triton's folder of a kernel → (its autotuner, its compile result)
        self._undo = []

    def served(self):
        """Everything came from the cache: nothing was built and nothing tuned."""
        return self.graphs_found > 0 and not (self.graphs_built or self.kernels_built
                                              or self.trials or self.blind)

    def row(self):
        return {"graphs_found": self.graphs_found, "graphs_built": self.graphs_built,
                "kernels_built": self.kernels_built, "trials": self.trials}

    def __enter__(self):
        try:
            from torch._inductor.runtime.triton_heuristics import CachingAutotuner
            from triton import knobs
            self._replace(CachingAutotuner, "_precompile_config", self._precompile)
            self._replace(CachingAutotuner, "bench", self._bench)
            self._replace(knobs.compilation, "listener", self._listener)
        except (ImportError, AttributeError):
            self.blind = True
        return self

    def __exit__(self, *_):
        for place, name, old in reversed(self._undo):
            setattr(place, name, old)
        self._undo.clear()
        self.graphs_found = counter("fxgraph_cache_hit")
        self.graphs_built = counter("fxgraph_cache_miss") + counter("fxgraph_cache_bypass")

    def _replace(self, place, name, make):
        old = getattr(place, name)
        self._undo.append((place, name, old))
        setattr(place, name, make(old))

    def _precompile(self, old):
        def precompile(tuner, config):
            result = old(tuner, config)
            self.kernels[folder_of(result)] = (tuner, result)
            return result
        return precompile

    def _bench(self, old):
        def bench(*arguments, **options):
            self.trials += 1
            return old(*arguments, **options)
        return bench

    def _listener(self, old):
        def listen(*, cache_hit, **rest):
            self.kernels_built += 0 if cache_hit else 1
            if old is not None:
                old(cache_hit=cache_hit, **rest)
        return listen

    def chosen(self):
        """Triton's folder → device, of the kernels that the graphs launch."""
        return {tuner.launchers[0].cache_hash: tuner.triton_meta.get("device", 0)
                for tuner, _ in self.kernels.values() if len(tuner.launchers) == 1}


def counter(name):
    from torch._dynamo.utils import counters
    return counters["inductor"][name]


def folder_of(result):
    from torch._inductor.runtime.runtime_utils import triton_hash_to_path_key
    return triton_hash_to_path_key(result.kernel.hash)


def settle(folder, watch):
    """Rewrites the graphs below folder, which is in use and was built under `watch`."""
    if watch.blind or not watch.graphs_built:
        raise ValueError("it is not known what was compiled")
    binaries = _binaries(watch.chosen())
    for base, _, names in os.walk(os.path.join(folder, GRAPHS)):
        for name in names:
            _settle_graph(os.path.join(base, name), watch, binaries)


def _binaries(chosen):
    """The chosen kernels as the bundler stores them."""
    from torch._inductor.triton_bundler import TritonBundler
    TritonBundler.begin_compile()
    for name, device in sorted(chosen.items()):
        TritonBundler.put(name, device)
    bundle, _ = TritonBundler.collect()
    return [dataclasses.replace(kernel, artifacts=[
        file for file in kernel.artifacts if file.filename.endswith(NEEDED_BINARIES)])
        for kernel in bundle.kernel_artifacts]


def _settle_graph(path, watch, binaries):
    with open(path, "rb") as file:
        graph = pickle.load(file)
    for entry in graph._triton_bundle.static_autotuners:
        _settle_kernel(entry.kernel, watch)
    graph._triton_bundle = dataclasses.replace(graph._triton_bundle, kernel_artifacts=binaries)
    with open(path, "wb") as file:
        pickle.dump(graph, file)


def _settle_kernel(stored, watch):
    """Leaves the stored autotuner the one result that its original launches."""
    tuner, _ = watch.kernels[folder_of(stored.compile_results[0])]
    (launcher,) = tuner.launchers
    result = copy.copy(watch.kernels[launcher.cache_hash][1])
    result.kernel = copy.copy(result.kernel)
    result.kernel.__dict__.pop("C_impl", None)  # torch's launcher: found again
    stored.compile_results = [result]
    # Not by the configuration's own mark: Triton forgets that when it unpickles one.
    stored.inductor_meta.update(coordinate_descent_tuning=False, dynamic_scale_rblock=False)
