# SPDX-License-Identifier: MIT
"""Every command that the README and the pages under docs/ show works.

A block that begins with ```sh is run as it stands, in a folder that looks like a checkout, with the programs and
suites of a private installation, on the emulator and with two problems where a run names none. RUN, OTHER and
TASK are two runs and a task that are there. What this host cannot do is marked behind the word sh:

    gpu  a GPU      key  a provider's key, a signature's, or another party's files      root  the administrator
    hosts  other hosts or a scheduler      long  minutes, and a test of its own

Of a marked block, of examples of the help (docs/cli.md) and of commands within a sentence, each command and each
of its options must be one that its help has.
"""
import os
import re
import shlex
import shutil
import subprocess

from ce import BIN, SRC, exits, expect, main

MARKS = {"gpu", "key", "root", "hosts", "long"}
PAGES = [SRC / "README.md", *sorted((SRC / "docs").glob("*.md"))]
GENERATED = ("cli.md", "protocol.md", "emulator-instructions.md")
PROGRAMS = ("ce-coord", "ce-node")
SECONDS = 300
OPS = "import torch\n\n\ndef row_sum(x):\n    return x.sum(dim=-1)\n\n\ndef scale_rows(x, weight, alpha=2.0):\n" \
      "    return x * weight * alpha\n"


# ---- pages ----

def blocks(page):
    """(line, words behind the fence, text) of each fenced block."""
    begun = None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = re.match(r"\s*```(.*)$", line)
        if fence and begun is None:
            begun, said, text = number, fence.group(1).split(), []
        elif fence:
            yield begun, said, "\n".join(text) + "\n"
            begun = None
        elif begun is not None:
            text.append(line)


def spans(page):
    """Commands within a sentence: `ce-coord nodes`."""
    prose = re.sub(r"(?ms)^\s*```.*?^\s*```", "", page.read_text())
    for span in re.findall(r"`([^`]+)`", prose):
        if re.match(r"(ce-coord|ce-node) [a-z-]", span):
            yield " ".join(span.split())


def commands(text):
    """Lists of words, one for each of our programs that the text calls."""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            words = line.split()
        for i, word in enumerate(words):
            if word.rsplit("/", 1)[-1] in PROGRAMS or re.match(r"scripts/\w+$", word):
                end = next((n for n in range(i, len(words)) if words[n] in ("|", "&&", ";", "||")), len(words))
                if end > i + 1 or word.startswith("scripts/"):
                    yield words[i:end]


# ---- what the help has ----

helps = {}


def help_of(*words):
    if words not in helps:
        done = subprocess.run([str(BIN / words[0]), *words[1:], "--help"], capture_output=True, text=True)
        helps[words] = done.stdout if done.returncode == 0 else None
    return helps[words]


def complaints_of(words):
    """What is wrong with a command that is not run."""
    program = words[0].rsplit("/", 1)[-1]
    if program not in PROGRAMS:
        return [] if os.access(SRC / words[0], os.X_OK) else [f"there is no {words[0]}"]
    if words[1:2] in (["--version"], ["help"], ["--help"]):
        return []
    text = None
    for depth in (2, 1, 0):
        names = words[1:1 + depth]
        if len(names) == depth and all(re.fullmatch(r"[a-z-]+", n) and n[0] != "-" for n in names):
            text = help_of(program, *names)
            if text:
                break
    if not text or (program == "ce-coord" and depth == 0):
        return [f"no such command: {' '.join(words)}"]
    return [f"{' '.join(words[:1 + depth])} has no {flag}: {' '.join(words)}"
            for flag in re.findall(r"(?<=\s)--[a-z-]+", " " + " ".join(words[1 + depth:]))
            if flag != "--help" and not re.search(re.escape(flag) + r"(?![a-z-])", text)]


# ---- running ----

def furnish(place):
    """A private installation, a home with two runs, and a folder like a checkout."""
    ce = place.dir / "ce"
    shutil.copytree(BIN, ce / "bin")
    (ce / "share/ce").mkdir(parents=True)
    (ce / "lib").mkdir()
    shutil.copy(BIN.parent / "lib/libce_timing.so", ce / "lib")
    for name, source in (("suites", "suites"), ("judge", "agent-node/judge"), ("gp", "reports/gp")):
        shutil.copytree(SRC / source, ce / "share/ce" / name)
    place.db = place.dir / "home/ce.db"
    for _ in range(2):
        exits(place.run("eval", "--suite", "internal", "--only", "vector_add_fp32,silu_fp16", "--model-id", "gold",
                        device="emu", timeout=SECONDS), 0)


def checkout(place, page):
    folder = place.dir / "pages" / page.stem
    (folder / "docs/evidence").mkdir(parents=True)
    for entry in (*SRC.iterdir(), *(SRC / "docs").iterdir()):
        target = folder / entry.relative_to(SRC)
        if not target.exists() and entry.name not in (".git", "build", "ce-runs"):
            target.symlink_to(entry)
    shutil.copytree(place.dir / "home", folder / "home")
    (folder / "ops.py").write_text(OPS)
    return folder


def adapted(line):
    """Runs are kept short, and off a GPU; nothing is asked."""
    if not re.search(r"\bce-coord (eval|suite validate)\b", line):
        return line
    line, _, comment = line.replace("--http 8700", "--http 127.0.0.1:0").partition(" #")
    if "--device" not in line and "--dry-run" not in line and "--resume" not in line:
        line += " --device emu"
    if re.search(r"\beval\b", line) and not re.search(r"--(only|limit|resume)", line):
        line += " --limit 2"
    return f"{line} #{comment}"


def script_of(text, names):
    text = re.sub(r"\\\n\s*", "", text)
    for word, value in names.items():
        text = re.sub(rf"(?<![\w/.-]){word}(?![\w/.-])", value, text)
    return "set -eu\n" + "\n".join(map(adapted, text.splitlines())) + "\n"


def run_block(place, folder, text, names):
    environment = {"PATH": f"{place.dir}/ce/bin:/usr/local/bin:/usr/bin:/bin", "HOME": str(folder),
                   "CE_HOME": str(folder / "home"), "LC_ALL": "C.UTF-8"}
    for name in ("CE_CUDA_ROOT", "LD_LIBRARY_PATH"):
        if name in os.environ:
            environment[name] = os.environ[name]
    return subprocess.run(["bash", "-c", script_of(text, names)], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=SECONDS)


# ---- tests ----

def test_each_command_that_is_not_run_is_one_that_there_is(place):
    complaints = []
    for page in PAGES:
        for line, said, text in blocks(page):
            where = f"{page.relative_to(SRC)}:{line}"
            if said[:1] == ["sh"]:
                complaints += [f"{where}: unknown mark {m}" for m in said[1:] if m not in MARKS]
            elif page.name not in GENERATED and re.search(r"(?m)^\s*(ce-coord|ce-node|scripts/)", text) \
                    and said != ["text"]:
                complaints.append(f"{where}: a block of commands begins with ```sh")
            if said[1:] or (page.name == "cli.md" and line > 10):
                complaints += [f"{where}: {c}" for words in commands(text) for c in complaints_of(words)]
        complaints += [f"{page.relative_to(SRC)}: {c}" for span in spans(page)
                       for words in commands(span) for c in complaints_of(words)]
    expect(not complaints, *complaints)


def test_a_command_that_there_is_not_is_seen(place):
    for line in ("ce-coord evil --suite internal", "ce-coord eval --sweet internal", "ce-node emu --speed F.cu",
                 "scripts/dance"):
        found = [c for words in commands(line) for c in complaints_of(words)]
        expect(len(found) == 1, line, found)


def test_each_block_of_commands_runs(place):
    furnish(place)
    first, second = (row[0] for row in place.rows("SELECT id FROM run ORDER BY id"))
    names = {"RUN": first, "OTHER": second,
             "TASK": place.rows("SELECT id FROM task WHERE kind = 'synthesize' LIMIT 1")[0][0], "DIR": "folder"}
    complaints, ran = [], 0
    for page in PAGES:
        folder = None
        for line, said, text in blocks(page):
            if said != ["sh"]:
                continue
            folder = folder or checkout(place, page)
            done = run_block(place, folder, text, names)
            ran += 1
            print(f"{page.relative_to(SRC)}:{line}: {done.returncode}", flush=True)
            if done.returncode != 0:
                complaints.append(f"{page.relative_to(SRC)}:{line}: status {done.returncode}\n{script_of(text, names)}"
                                  f"{done.stdout[-1500:]}")
    expect(ran > 5, "hardly a block was run")
    expect(not complaints, *complaints)


main(globals())
