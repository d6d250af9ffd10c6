# SPDX-License-Identifier: MIT
"""Every kernel of suites/adversarial on the emulator: each gets the outcome that the list states."""
import json

from ce import Skip, exits, expect, main


def test_every_kernel_gets_what_the_list_states(place):
    done = place.run("suite", "validate", "--adversarial", "--device", "emu", "--out", place.out, timeout=900)
    if "imports torch" in done.stderr:
        raise Skip("no PyTorch here")
    exits(done, 0)
    report = json.loads((place.out / "validation.json").read_text())
    kernels = [kernel for problem in report["problems"] for kernel in problem["kernels"]]
    expect(report["kernels"] == "adversarial" and report["device_kind"] == "emu", report)
    expect(len(kernels) > 70 and all(kernel["as_stated"] for kernel in kernels), kernels)


main(globals())
