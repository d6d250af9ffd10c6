# SPDX-License-Identifier: MIT
"""What the judge found for one candidate serves the next, within a bound."""

import unittest
from unittest import mock

import support  # noqa: F401
import judge
import oracle
import torch

TEXT = "def reference(x):\n    return x.sum(-1)"
CONTRACT = dict(support.contract([("x", "f32")], [("y", "f32")], ("normal", "zeros")))
OTHER = TEXT.replace("sum", "amax")


def case(rows):
    return {"label": "rows=%d" % rows, "reduction": 33, "sizes": {"x": [rows, 33], "y": [rows]}}


class Truths(unittest.TestCase):
    def setUp(self):
        self.judge = judge.Judge("cpu", "", "/nonexistent")
        self.addCleanup(self.judge.staging.unlink)
        self.made = 0
        original = oracle.Truth.__init__

        def counted(*args, **kwargs):
            self.made += 1
            original(*args, **kwargs)

        patch = mock.patch.object(oracle.Truth, "__init__", counted)
        patch.start()
        self.addCleanup(patch.stop)
        self.open(TEXT)

    def ask(self, op, **request):
        return self.judge.answer(dict(request, op=op))

    def open(self, text):
        self.ask("open", contract=CONTRACT, reference=text, reference_file="r.py")

    def judged(self, rows=5, seed=1, family="normal"):
        self.ask("draw", case=case(rows), seed=seed, family=family, slots=1)
        y = self.judge.staging.inputs[0][0].sum(-1)
        self.judge.staging.outputs[0].copy_(y)
        return self.ask("compare", slot=0, salt=3)

    def test_the_same_draw_is_computed_once_and_still_judges(self):
        self.assertTrue(self.judged()["equal"])
        self.open(TEXT)
        self.assertTrue(self.judged()["equal"])
        self.assertEqual(self.made, 1)
        self.ask("draw", case=case(5), seed=1, family="normal", slots=1)
        self.judge.staging.outputs[0].fill_(3.0)
        self.assertFalse(self.ask("compare", slot=0, salt=3)["equal"])
        self.assertEqual(self.made, 1)

    def test_seed_family_shape_and_problem_each_make_another(self):
        self.judged()
        self.judged(seed=2)
        self.judged(family="zeros")
        self.judged(rows=6)
        self.assertEqual(self.made, 4)
        self.open(OTHER)
        self.assertFalse(self.judged()["equal"])
        self.assertEqual(self.made, 5)

    def test_the_oldest_goes_when_the_room_is_used_up(self):
        with mock.patch.dict(judge.TRUTH_BYTES, cpu=3 * 20 * 5):
            for seed in (1, 2, 3, 1, 4, 1, 2):
                self.judged(seed=seed)
        self.assertEqual(self.made, 5)  # 2 was forgotten for 4; 1 was used and stayed

    def test_what_is_kept_gives_way_when_memory_runs_out(self):
        self.judged()
        real, calls = self.judge._truth_of, []

        def short(slot):
            calls.append(len(self.judge.truths))
            if len(calls) == 1:
                raise RuntimeError("CUDA out of memory")
            return real(slot)

        with mock.patch.object(self.judge, "_truth_of", short):
            self.assertTrue(self.judged(seed=2)["equal"])
        self.assertEqual(calls, [1, 0])


if __name__ == "__main__":
    unittest.main()
