# SPDX-License-Identifier: MIT
"""The lints find what they are for: each is run over a small tree with a planted fault."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOOD = "/* x - a thing\n *\n * SPDX-License-Identifier: MIT */\n"
TEST = {"tests/unit/common/test_x.c": GOOD}
PAIR = {"common/x.c": GOOD, "common/x.h": GOOD}

# name of the lint, files, what it must say ("" = nothing is wrong)
CASES = [
    ("layers", {"common/x.c": '#include "wire/sock.h"\n'}, "common/ may not include wire/sock.h"),
    ("layers", {"agent-node/x.c": '#include "store/store.h"\n'}, "may not include store/store.h"),
    ("layers", {"coordinator/x.c": '#include "providers/gold.h"\n'}, "may not include"),
    ("layers", {"coordinator/x.c": '#include "providers/catalog.h"\n'}, ""),
    ("layers", {"agent-node/runner/x.c": '#include "wire/sock.h"\n'}, "may not include"),
    ("layers", {"agent-node/runner/x.c": '#include "wire/pipe.h"\n'}, ""),
    ("layers", {"agent-node/x.c": '#include "agent-node/runner/gpu.h"\n'}, "a child process"),
    ("layers", {"common/x.c": '#include "x.h"\n'}, 'write "common/x.h"'),
    ("layers", {"common/x.c": "#include <zmq.h>\n"}, "belongs to wire/sock.c"),
    ("layers", {"common/json.c": "#  include <jansson.h>\n"}, ""),
    ("modules", {**PAIR, **TEST}, ""),
    ("modules", PAIR, "has no tests/unit/*/test_x.c"),
    ("modules", {"common/x.c": GOOD, **TEST}, "has no header"),
    ("modules", {**PAIR, "tests/unit/wire/test_x.c": GOOD}, "has no tests/unit"),
    ("modules", {**PAIR, "tests/unit/common/test_y.c": "/* y\n * Modules: z\n * x */\n"}, ""),
    ("modules", {"coordinator/main.c": GOOD}, ""),
    ("banned", {"common/x.c": "int f(void) { return system(0); }\n"}, "x.c:1: system is banned"),
    ("banned", {"common/x.c": '/* system(0) */ char *s = "atoi(x)"; str_strcat(s); p.system(1);\n'}, ""),
    ("notes", {"common/x.c": "/* TO" "DO: later */\n"}, "without an issue"),
    ("notes", {"common/x.c": "/* TO" "DO(#12): later */ char *s = \"FIX" "ME\";\n"}, ""),
    ("spdx", {"common/x.c": "int x;\n"}, "no line"),
    ("spdx", PAIR, ""),
    ("functions", {"common/x.c": "int f(void)\n{\n" + "    ;\n" * 58 + "}\n"}, "f has 61 lines"),
    ("functions", {"common/x.c": "int f(void)\n{\n" + "    ;\n" * 57 + "}\n"}, ""),
    ("functions", {"common/x.c": "int x;\n" * 801}, "801 lines"),
    ("size", {"big": "x" * (14 * 1024 * 1024 + 1)}, "big: 14680065 bytes"),
    ("format", {"common/x.c": "int  x ;\n"}, "clang-formatted"),
    ("format", {"common/x.c": "int x;\n"}, ""),
]


def run(lint, files):
    with tempfile.TemporaryDirectory(prefix="ce-lint-") as folder:
        root = pathlib.Path(folder)
        shutil.copytree(HERE, root / "tests/lint", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(HERE.parents[1] / ".clang-format", root)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        env = {**os.environ, "GIT_DIR": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, str(root / "tests/lint" / f"{lint}.py")], env=env,
                              stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout


def main():
    wrong = 0
    for number, (lint, files, wanted) in enumerate(CASES):
        status, said = run(lint, files)
        good = status == 0 if wanted == "" else status == 1 and wanted in said
        if status == 77:
            print(f"case {number}: {lint} skipped")
        elif not good:
            wrong += 1
            print(f"case {number}: {lint} with {sorted(files)}: wanted “{wanted}”, got {status}:\n{said}")
    print(f"{len(CASES)} cases, {wrong} wrong")
    sys.exit(1 if wrong else 0)


main()
