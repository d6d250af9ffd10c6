# SPDX-License-Identifier: MIT
"""support - what the judge's tests share: its modules, small problems, and a judge on the CPU."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "agent-node", "judge"))

try:
    import torch  # noqa: F401
except ImportError:
    sys.exit(77)

import compare  # noqa: E402
import oracle  # noqa: E402
import values  # noqa: E402
from problem import Case, Problem  # noqa: E402

SALT = 12345


def contract(inputs, outputs, families=("normal",), scalars=()):
    """Rows of (name, dtype)."""
    return {
        "problem": "test",
        "inputs": [{"name": name, "dtype": dtype} for name, dtype in inputs],
        "outputs": [{"name": name, "dtype": dtype} for name, dtype in outputs],
        "scalars": [{"name": n, "dtype": t, "value": v} for n, t, v in scalars],
        "values": list(families),
    }


def problem(text, inputs, outputs, scalars=()):
    return Problem(contract(inputs, outputs, values.FAMILIES, scalars), text, "test/reference.py")


def case(sizes, reduction=1, label="test"):
    return Case({"label": label, "sizes": sizes, "reduction": reduction})


class Bench:
    """One problem, shape and draw; says what the judge thinks of an answer."""

    def __init__(self, prob, shape, family="normal", seed=7):
        self.problem = prob
        self.case = shape
        self.family = family
        cpu = torch.device("cpu")
        self.inputs = [values.draw(t, shape.sizes[t.name], family, seed, 0, cpu)
                       for t in prob.inputs]
        with torch.no_grad():
            whole = values.are_whole(prob.inputs, family)
            self.truth = oracle.Truth(prob, shape, self.inputs, True, whole)

    def verdict(self, *answer, salt=SALT):
        cast = [y.to(t.dtype).contiguous() for y, t in zip(answer, self.problem.outputs)]
        return compare.judge(self.problem, self.case, self.family, cast, self.truth, self.inputs,
                             salt)

    def right(self):
        """The oracle, rounded to the output's dtype: the best answer there is."""
        return [o.to(t.dtype).clone() for o, t in zip(self.truth.oracle, self.problem.outputs)]
