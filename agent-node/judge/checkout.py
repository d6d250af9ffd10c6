# SPDX-License-Identifier: MIT
"""checkout - a KernelBench checkout as problems: `ce-node checkout` runs this.

Its argument is a JSON object:

  {"root": "DIR", "levels": [1, 2, 3], "only": ["l1_19"], "gold": "DIR" | null, "shots": "zero",
   "cache": "DIR", "admit": false, "device": "cpu"}

and it writes one JSON object a line to stdout: first {"layout", "root", "files", "identity"}, then a row for
each wanted problem in the order of level and number, as soon as it is known; identity is of all the levels' files. A problem is what its source says: its
identity is the hash of the source without comments, blank lines and trailing blanks. Nothing is computed
unless admit is true; then admission.py tries the null candidates on the device, once for each source.
A file that takes longer than its deadline ends the whole with a fault that names it."""

import faulthandler
import hashlib
import io
import json
import os
import re
import signal
import sys
import tokenize

import kernelbench

FILE = re.compile(r"(\d+)_(.+)\.py$")
CATEGORIES = {1: "operator", 2: "fusion", 3: "network"}
SHOTS = {"zero": 0, "one": 1, "few": 3}
SKIPPED = (tokenize.COMMENT, tokenize.NL)


READER = "ce-read-1"     # how files become problems: another one makes other problems
PROTOCOL = "ce-admit-1"  # of what is kept: another one asks anew
DESCRIBE_SECONDS = 120   # a file: a fraction of a second each, but for recurrences; the first one loads PyTorch
ADMIT_SECONDS = 300      # a file on a device: seconds each
GRACE_SECONDS = 20       # for Python to say so itself


class Fault(Exception):
    """What the user can mend, in one sentence."""


# ---- files ----

def folder_of(root):
    """The folder that holds level1, level2 …"""
    for folder in (root, os.path.join(root, "KernelBench")):
        if os.path.isdir(os.path.join(folder, "level1")):
            return folder
    raise Fault("--root %s: there is neither level1 nor KernelBench/level1 in it" % root)


def layout_of(root, folder):
    """Which of KernelBench's versions: the problems changed twice."""
    if os.path.isdir(os.path.join(root, "src", "kernelbench")):
        return "main"
    changes = os.path.join(folder, "changelog")
    if os.path.isdir(changes) and any(name.startswith("v0.1") for name in os.listdir(changes)):
        return "v0.1"
    return "v0" if os.path.isdir(os.path.join(root, "src")) else "problems"


def files_of(folder, levels):
    """(level, number, name, path), in order."""
    rows = []
    for level in levels:
        place = os.path.join(folder, "level%d" % level)
        for name in os.listdir(place) if os.path.isdir(place) else ():
            match = FILE.match(name)
            if match:
                rows.append((level, int(match.group(1)), match.group(2), os.path.join(place, name)))
    return sorted(rows)


def normalised(text):
    """The source without what does not count: comments, blank lines, spacing."""
    words = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in SKIPPED:
                words.append("%d %s" % (token.type, token.string if token.type != tokenize.INDENT else ""))
    except (tokenize.TokenError, IndentationError):
        return text
    return "\n".join(words)


def identity(text):
    return hashlib.sha256(normalised(text).encode()).hexdigest()


# ---- one problem ----

def contract_of(name, parts):
    keys = ("inputs", "scalars", "outputs", "values")
    contract = {key: parts[key] for key in keys}
    contract.update(problem=name, dims=[], reduction=str(parts["reduction"]), order_free=parts["reduction"] > 1,
                    shapes=[{}], benchmark={}, memory=parts["bytes"]["needs"])
    return contract


def describe(row, text, path):
    if row["level"] == 4:
        return {"supported": False, "reason": "level 4: its weights come from a model hub when it is built"}
    return kernelbench.describe(text, path)


def gold_of(folder, key):
    """(gold.cu, gold.json) of ours for this source, or (None, None)."""
    if folder is None:
        return None, None
    place = os.path.join(folder, key[:16])
    try:
        return tuple(open(os.path.join(place, name), encoding="utf-8").read() for name in ("gold.cu", "gold.json"))
    except OSError:
        return None, None


def identity_of_all(files, request):
    """Of every file of the levels, wanted or not: two choices from one checkout are of one suite."""
    known = hashlib.sha256(("%s %s" % (READER, request.get("shots") or "zero")).encode())
    for level, number, _, path in files:
        known.update(("l%d_%d %s\n" % (level, number, identity(text_of(path)))).encode())
    return known.hexdigest()


def text_of(path):
    with open(path, encoding="utf-8") as source:
        return source.read()


def row_of(request, layout, file):
    level, number, name, path = file
    text = text_of(path)
    row = {"id": "l%d_%d" % (level, number), "level": level, "number": number, "name": name, "file": path,
           "title": "level %d: %s" % (level, name.replace("_", " ").strip()), "category": CATEGORIES.get(level, "network"),
           "hash": identity(text), "supported": False, "reason": None, "degenerate": None, "admission": None}
    parts = describe(row, text, path)
    if not parts["supported"]:
        row["reason"] = parts["reason"]
        return row
    row.update(supported=True, contract=contract_of(row["id"], parts), notes=parts["notes"], bytes=parts["bytes"],
               parameters=parts["parameters"], reference=text)
    row["prompt"] = prompt_of(row, parts, request)
    row["gold_source"], row["gold_plan"] = gold_of(request.get("gold"), row["hash"])
    return row


# ---- the prompt ----

HEAD = """# {title}

Replace the PyTorch module of the reference by CUDA kernels of your own. They get what `forward` gets, and the
module's parameters and buffers as further inputs, in the order of the table; they write the output. Fuse,
reorder, choose another algorithm: the result counts. All sizes are fixed. Everything is fp32 unless the table
says otherwise, and is to be computed in fp32: TF32 or half precision inside is refused.

| tensor | dtype | shape | what it is |
|---|---|---|---|
{table}
"""

CHECKS = """
The module runs in training mode. Its own initialisation and `get_inputs()` give the values, from secret seeds.
It is also checked {others}. An element may differ from a computation in fp64 by little more than PyTorch's own
fp32 result does; KernelBench's tolerance (1e-4, absolute and relative) is recorded beside it. The whole plan
is timed, packing of weights included.
"""


def others_of(families):
    said = {"signed": "on inputs with random signs (where the module is defined there)",
            "reweighted": "with every parameter changed, those too that are 1 or 0 at first"}
    return " and ".join(said[name] for name in families if name in said) or "on further seeds"


def table_of(parts):
    lines = []
    sources = parts["sources"]
    draws = {draw["name"]: draw for draw in parts["draws"]}
    for row in parts["inputs"]:
        name = row["name"]
        what = "`%s`" % sources[name] if name in sources else "input"
        if name in draws:
            what = ("mask of dropout, 0 or 1/(1 - %g): multiply by it" % draws[name]["p"]
                    if draws[name]["kind"] == "mask" else "what forward would draw (%s)" % draws[name]["kind"])
        lines.append("| %s | %s | %s | %s |" % (name, row["dtype"], row["shape"], what))
    lines += ["| %s | %s | number | %.17g |" % (row["name"], row["dtype"], row["value"]) for row in parts["scalars"]]
    lines += ["| %s | %s | %s | output |" % (row["name"], row["dtype"], row["shape"]) for row in parts["outputs"]]
    return "\n".join(lines)


def prompt_of(row, parts, request):
    text = HEAD.format(title=row["title"], table=table_of(parts))
    text += CHECKS.format(others=others_of(parts["values"]))
    if parts["notes"]:
        text += "\n" + "\n".join("* " + note for note in parts["notes"]) + "\n"
    return text + examples_text(request)


def examples_text(request):
    """Solved examples of ours, as many as the condition says."""
    count = SHOTS[request.get("shots") or "zero"]
    folder = request.get("examples")
    if not count or not folder:
        return ""
    names = sorted(os.listdir(folder))[:count]
    parts = ["\n## Solved example%s\n" % ("s" if count > 1 else "")]
    for name in names:
        files = [open(os.path.join(folder, name, file), encoding="utf-8").read().rstrip()
                 for file in ("reference.py", "kernel.cu", "plan.json")]
        parts.append("\nReference:\n\n```python\n%s\n```\n\nAnswer:\n\n```cuda\n%s\n```\n\n```json\n%s\n```\n" % tuple(files))
    return "".join(parts)


# ---- the whole ----

class Deadline:
    """What a file may take. Python is interrupted with a sentence; where it does not come back from PyTorch or
    the driver, a thread that needs no interpreter writes where it stands and ends the process."""

    def __init__(self, seconds, name):
        self.seconds = seconds
        self.name = name

    def __enter__(self):
        signal.signal(signal.SIGALRM, self.over)
        signal.alarm(self.seconds)
        faulthandler.dump_traceback_later(self.seconds + GRACE_SECONDS, exit=True)

    def over(self, *_):
        raise kernelbench.Late("%s was not read within %d s" % (self.name, self.seconds))

    def __exit__(self, *_):
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()


def emit(out, row):
    out.write(json.dumps(row, allow_nan=False) + "\n")
    out.flush()


def run(request, out):
    root = os.path.abspath(request["root"])
    folder = folder_of(root)
    layout = layout_of(root, folder)
    wanted = set(request.get("only") or ())
    every = files_of(folder, request["levels"])
    files = [file for file in every if not wanted or "l%d_%d" % file[:2] in wanted]
    known = {"l%d_%d" % file[:2] for file in files}
    if wanted - known:
        raise Fault("--only %s: there is no such problem in levels %s"
                    % (sorted(wanted - known)[0], ", ".join(map(str, request["levels"]))))
    emit(out, {"layout": layout, "root": folder, "files": len(files),
               "identity": identity_of_all(every, request)})
    admission = Admission(request)
    seconds = ADMIT_SECONDS if request.get("admit") else DESCRIBE_SECONDS
    for file in files:
        with Deadline(seconds, file[3]):
            row = row_of(request, layout, file)
            if row["supported"]:
                admission.add(row)
        emit(out, row)


class Admission:
    """What is known of a source on a device: from the cache, or tried now."""

    def __init__(self, request):
        self.request = request
        self.judge = None

    def add(self, row):
        folder = self.request.get("cache")
        path = os.path.join(folder, row["hash"] + ".json") if folder else None
        known = self.read(path)
        if known is None and self.request.get("admit"):
            import admission
            self.judge = self.judge or admission.start(self.request["device"])
            known = admission.admit(self.judge, row)
            known["protocol"] = PROTOCOL
            if known["status"] != "not runnable here":  # a larger card may run it
                self.write(path, known)
        if known is not None:
            row["admission"] = known
            row["degenerate"] = known["degenerate"]

    @staticmethod
    def read(path):
        try:
            with open(path, encoding="utf-8") as file:
                known = json.load(file)
        except (OSError, TypeError, ValueError):
            return None
        return known if known.get("protocol") == PROTOCOL else None

    @staticmethod
    def write(path, known):
        if path is None:
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(known, file)
        os.replace(path + ".new", path)


def main():
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a file prints is no answer
    import warnings
    warnings.filterwarnings("ignore")
    try:
        run(json.loads(sys.argv[1]), out)
    except (Fault, kernelbench.Late) as fault:
        emit(out, {"fault": str(fault)})


if __name__ == "__main__":
    main()
