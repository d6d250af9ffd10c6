# SPDX-License-Identifier: MIT
"""The relocatable archive works where it was not made, with nothing of this host but the C library; where there
are NVRTC and PyTorch, a whole run does."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

LIMIT = 32 * 1024 * 1024
PROGRAMS = ("ce-coord", "ce-node", "ce-runner", "ce-compiler")
SHARED = ("judge/judge.py", "suites/internal/suite.yaml", "gp")
FROM_HOST = re.compile(
    r"(linux-vdso|ld-linux-x86-64|libc|libm|libpthread|libdl|librt|libresolv|libutil|libgcc_s)\.so")


def run(*command):
    done = subprocess.run(command, env={}, cwd="/", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def strangers(path, home):
    """Libraries that come from elsewhere than the bundle."""
    for line in run("/usr/bin/ldd", str(path))[1].splitlines():
        words = line.split()
        if FROM_HOST.match(os.path.basename(words[0])) or words[0] == "statically":
            continue
        if not line.partition(" => ")[2].startswith(str(home)):
            yield line.strip()


def check(home):
    complaints = []
    for name in PROGRAMS:
        program = home / "bin" / name
        complaints += [f"{name}: {line}" for line in strangers(program, home)]
        if name in ("ce-coord", "ce-node"):
            status, said = run(str(program), "--version")
            if status != 0 or not re.search(r"\d+\.\d+", said):
                complaints.append(f"{name} --version: status {status}: {said}")
    status, said = run(str(home / "bin/ce-coord"), "suite", "list")
    if status != 0 or "internal" not in said:
        complaints.append(f"ce-coord suite list: status {status}: {said}")
    complaints += [f"share/ce/{name} is missing" for name in SHARED
                   if not (home / "share/ce" / name).exists()]
    size = sum(p.lstat().st_size for p in home.rglob("*") if not p.is_dir())
    print(f"{size / 2**20:.1f} MiB, the limit is {LIMIT / 2**20:.0f} MiB")
    if size > LIMIT:
        complaints.append("the bundle is too big")
    return complaints


ANSWER = """```cuda
extern "C" __global__ void k(const float *a, const float *b, float *y, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a[i] + b[i];
}
```
```json
{"kernels": [{"entry": "k", "grid": ["ceil_div(n, 128)"], "block": [128], "args": ["a", "b", "y", {"i64": "n"}]}]}
```
"""


def evaluate(home, place):
    """A run of the unpacked programs: mock provider, emulator."""
    mock = place / "mock.json"
    mock.write_text(json.dumps({"rules": [{"text": ANSWER}]}))
    command = [str(home / "bin/ce-coord"), "eval", "--suite", "internal", "--only", "vector_add_fp32",
               "--model-id", f"mock:{mock}", "--device", "emu", "--db", str(place / "ce.db"),
               "--out", str(place / "out")]
    done = subprocess.run(command, env={"PATH": "/usr/bin:/bin", "HOME": str(place)}, cwd="/",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        return [f"eval on emu: status {done.returncode}: {done.stdout[-2000:]}"]
    tasks = json.loads((place / "out/results.json").read_text())["tasks"]
    return [] if [t["outcome"] for t in tasks] == ["ok"] else [f"eval on emu: {tasks}"]


def main():
    with tempfile.TemporaryDirectory(prefix="ce-bundle-") as folder:
        made, moved = pathlib.Path(folder, "made"), pathlib.Path(folder, "else where/moved")
        subprocess.run(["cmake", "--install", os.environ["CE_BUILD"], "--prefix", str(made),
                        "--component", "runtime", "--strip"], check=True,
                       stdout=subprocess.DEVNULL)
        archive = pathlib.Path(folder, "ce.tar.gz")
        with tarfile.open(archive, "w:gz") as out:
            out.add(made, "ce")
        shutil.rmtree(made)
        moved.mkdir(parents=True)
        with tarfile.open(archive) as packed:
            packed.extractall(moved)
        complaints = check(moved / "ce") + evaluate(moved / "ce", pathlib.Path(folder))
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)


main()
