# SPDX-License-Identifier: MIT
"""Functions that nobody calls here, each with what to call instead."""
import re

import tree

BANNED = {
    "sprintf": "snprintf or buf_printf",
    "vsprintf": "vsnprintf or buf_vprintf",
    "strcpy": "snprintf, memcpy or xstrdup",
    "stpcpy": "snprintf, memcpy or xstrdup",
    "strcat": "buf_puts",
    "strncat": "buf_add",
    "strtok": "str_split",
    "atoi": "str_to_i64",
    "atol": "str_to_i64",
    "atof": "str_to_f64",
    "system": "subproc_run",
    "localtime": "clock_text",
    "gmtime": "clock_text",
    "ctime": "clock_text",
    "gets": "fgets",
    "alloca": "a fixed array or xmalloc",
}
CALL = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")


def main():
    complaints, checked = [], 0
    for name in tree.tracked():
        if not name.endswith((".c", ".h", ".def")):
            continue
        checked += 1
        code = tree.code(name)
        for match in CALL.finditer(code):
            line = code.count("\n", 0, match.start()) + 1
            word = match.group(1)
            complaints.append(f"{name}:{line}: {word} is banned: use {BANNED[word]}")
    tree.finish(complaints, checked)


main()
