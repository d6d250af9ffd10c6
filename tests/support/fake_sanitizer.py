#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A compute-sanitizer for tests: starts the program, waits for its end and says what a script beside it says.

The script is SANITIZER.json in the folder of this file: {"TOOL": SAYS, …}; SAYS is one of

    absent, "clean"     a summary of zero
    "refuse"            the device is not supported; the program runs all the same
    "vanish"            the program is never started
    {"problem": ID, "text": "…"}   records for this problem, clean for others

A kernel with a planted defect (--problem planted_TOOL) is found by its tool, unless the tool is in the script's list "blind".

Each call is appended to SANITIZER.log as JSON: tool, options, the program's arguments. Options that the real
one does not know are refused in its way.
"""
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
OPTIONS = {"--tool": ("memcheck", "initcheck", "racecheck", "synccheck"), "--show-backtrace": ("no",),
           "--print-limit": None, "--check-exit-code": ("yes", "no"), "--padding": None,
           "--report-api-errors": ("all", "explicit", "no"), "--check-api-memory-access": ("yes", "no")}
PLANTED = {"memcheck": "Invalid __global__ read of size 4 bytes\n    at planted+0x90 in kernel.cu:7",
           "initcheck": "Uninitialized __global__ memory read of size 4 bytes\n    at planted+0x90 in kernel.cu:7",
           "racecheck": "Error: Race reported between Write access at planted+0x90 in kernel.cu:5\n"
                        "    and Read access at planted+0x100 in kernel.cu:6 [508 hazards]",
           "synccheck": "Barrier error detected. Divergent thread(s) in block.\n    at planted+0x90 in kernel.cu:7"}
ZERO = {"racecheck": "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"}


def say(text):
    for line in text.splitlines():
        print(f"========= {line}", flush=True)


def parse(words):
    options = {}
    while words and words[0].startswith("--"):
        name, value = words[0], words[1]
        if name not in OPTIONS or (OPTIONS[name] and value not in OPTIONS[name]):
            sys.exit(f"unrecognised option '{name} {value}'")
        options[name] = value
        words = words[2:]
    return options, words


def main():
    options, program = parse(sys.argv[1:])
    tool = options["--tool"]
    with open(HERE / "SANITIZER.log", "a") as log:
        log.write(json.dumps({"tool": tool, "options": options, "program": program}) + "\n")
    file = HERE / "SANITIZER.json"
    script = json.loads(file.read_text()) if file.exists() else {}
    says = script.get(tool, "clean")
    if f"planted_{tool}" in program:
        says = {"problem": f"planted_{tool}", "text": PLANTED[tool]} if tool not in script.get("blind", []) else "clean"
    print("========= COMPUTE-SANITIZER", flush=True)
    if says == "vanish":
        say("Target application terminated before first instrumented API call")
        return
    subprocess.run(program, close_fds=False, check=False, env=os.environ)
    if says == "refuse":
        say('Error: Device not supported. Please refer to the "Supported Devices" section of the sanitizer '
            "documentation\nERROR SUMMARY: 1 error")
    elif says == "clean" or ("--problem" in program and says["problem"] not in program):
        say(ZERO.get(tool, "ERROR SUMMARY: 0 errors"))
    else:
        say(says["text"])
        say("RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)" if tool == "racecheck"
            else "ERROR SUMMARY: 1 error")


if __name__ == "__main__":
    main()
