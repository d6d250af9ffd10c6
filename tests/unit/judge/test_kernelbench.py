# SPDX-License-Identifier: MIT
"""KernelBench's format: contracts without computing, values on a device, admission. The files are ours."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, torch

import admission
import checkout
import compare
import judge as judge_module
import kernelbench
from problem import Case, Problem

FIXTURES = os.path.join(ROOT, "tests", "data", "kernelbench")


def rows(**request):
    wanted = dict({"root": FIXTURES, "levels": [1, 2, 3], "gold": None}, **request)
    found = []

    class Out:
        write = staticmethod(lambda text: found.append(json.loads(text)))
        flush = staticmethod(lambda: None)

    checkout.run(wanted, Out)
    return found[0], {row["id"]: row for row in found[1:]}


HEAD, ROWS = rows()


def inputs(name):
    return {row["name"]: (row["dtype"], row["shape"]) for row in ROWS[name]["contract"]["inputs"]}


class Reader(unittest.TestCase):
    def test_every_file_is_a_row_with_a_contract_or_a_reason(self):
        self.assertEqual(HEAD["files"], len(ROWS))
        reasons = {name: row["reason"] for name, row in ROWS.items() if not row["supported"]}
        self.assertEqual(reasons.pop("l2_9"), "needs a_module_that_nobody_has")
        self.assertEqual(reasons.pop("l2_10"), "forward gives a tuple, not one tensor")
        self.assertEqual(reasons.pop("l3_8"), "forward gives a dict, not one tensor")
        self.assertEqual(reasons.pop("l3_9"), "input xs is a list")
        self.assertEqual(reasons.pop("l3_11"), "SystemExit: 3")
        reasons.pop("l2_8", None)  # einops may be here or not
        self.assertEqual(reasons, {})

    def test_inputs_numbers_parameters_and_buffers_have_names_and_types(self):
        self.assertEqual(ROWS["l1_2"]["contract"]["scalars"], [{"name": "s", "dtype": "f32", "value": 2.5}])
        self.assertEqual(ROWS["l1_11"]["contract"]["scalars"], [{"name": "shift", "dtype": "i64", "value": 3}])
        self.assertEqual(inputs("l1_3"), {"x": ("f32", [16, 200]), "mask": ("bool", [16, 200])})
        self.assertEqual(inputs("l1_4")["targets"], ("i64", [128]))
        self.assertEqual(inputs("l1_17"), {"x": ("f32", [100, 64])})
        self.assertEqual(inputs("l2_6")["mask"], ("f32", [40, 40]))
        self.assertEqual(list(inputs("l3_4"))[:2], ["x", "conv0_weight"])
        self.assertEqual(ROWS["l1_5"]["contract"]["outputs"], [{"name": "y", "dtype": "i64", "shape": [8, 20]}])
        self.assertEqual(ROWS["l1_6"]["contract"]["outputs"][0]["shape"], [])

    def test_shared_parameters_come_once_and_running_statistics_not(self):
        self.assertEqual(list(inputs("l2_5")), ["x", "first_weight", "first_bias", "second_bias"])
        self.assertEqual(list(inputs("l1_14")), ["x", "norm_weight", "norm_bias"])
        self.assertIn("train mode", ROWS["l1_14"]["notes"][0])

    def test_what_forward_draws_is_an_input(self):
        self.assertEqual(inputs("l2_3")["mask"], ("f32", [32, 64]))
        self.assertEqual(inputs("l3_2")["drawn"], ("f32", [1, 3, 16]))
        self.assertIn("randomness is exported as inputs", ROWS["l3_2"]["notes"])
        self.assertIn("multiply by it", ROWS["l2_3"]["prompt"])

    def test_reductions_families_and_memory(self):
        self.assertEqual(ROWS["l1_8"]["contract"]["reduction"], "129")
        self.assertEqual(ROWS["l1_1"]["contract"]["reduction"], "1")
        self.assertEqual(ROWS["l1_1"]["contract"]["values"], ["own", "signed"])
        self.assertEqual(ROWS["l1_15"]["contract"]["values"], ["own", "signed", "reweighted"])
        self.assertGreater(ROWS["l1_8"]["contract"]["memory"], 4 * (48 * 129 + 129 * 65))

    def test_identity_is_what_the_source_says(self):
        text = ROWS["l1_1"]["reference"]
        same = "# a comment\n" + text.replace("\n\n\n", "\n\n").replace("return torch", "return  torch")
        self.assertEqual(checkout.identity(text), checkout.identity(same))
        self.assertNotEqual(checkout.identity(text), checkout.identity(text.replace("257", "258")))

    def test_layouts_are_told_apart(self):
        with tempfile.TemporaryDirectory() as root:
            folder = os.path.join(root, "KernelBench")
            os.makedirs(os.path.join(folder, "level1"))
            self.assertEqual(checkout.folder_of(root), folder)
            self.assertEqual(checkout.layout_of(root, folder), "problems")
            for part, layout in (("src", "v0"), ("KernelBench/changelog/v0.1", "v0.1"), ("src/kernelbench", "main")):
                os.makedirs(os.path.join(root, part))
                self.assertEqual(checkout.layout_of(root, folder), layout)

    def test_only_and_level_four(self):
        _, some = rows(only=["l2_9"])
        self.assertEqual(list(some), ["l2_9"])
        with self.assertRaises(checkout.Fault):
            rows(only=["l1_999"])
        self.assertFalse(checkout.describe({"level": 4}, "", "x.py")["supported"])

    def test_long_recurrences_are_not_taken_step_by_step(self):
        text = ROWS["l3_3"]["reference"].replace("torch.rand(7, 2, 10)", "torch.rand(100000, 2, 10)")
        parts = kernelbench.describe(text, "long.py")
        self.assertEqual(parts["outputs"][0]["shape"], [100000, 2, 24])

    def test_a_choice_is_of_the_same_suite(self):
        some, _ = rows(only=["l2_1"])
        few, _ = rows(shots="few")
        self.assertEqual((some["files"], some["identity"]), (1, HEAD["identity"]))
        self.assertNotEqual(few["identity"], HEAD["identity"])

    def test_large_tensors_are_described_without_memory(self):
        text = ("import torch\nimport torch.nn as nn\n\nclass Model(nn.Module):\n    def forward(self, x):\n"
                "        return x.sum(dim=1)\n\ndef get_inputs():\n    return [torch.rand(65536, 65536)]\n\n"
                "def get_init_inputs():\n    return []\n")
        parts = kernelbench.describe(text, "large.py")
        self.assertEqual(parts["inputs"][0]["shape"], [65536, 65536])
        self.assertGreater(parts["bytes"]["needs"], 4 << 32)


def opened(name):
    row = ROWS[name]
    problem = Problem(row["contract"], row["reference"], row["file"])
    return problem, Case(admission.case_of(row["contract"]))


def drawn(problem, case, family, seed=5):
    tensors = problem.empty(case)
    problem.fill(case, family, seed, 0, tensors)
    return {t.name: value for t, value in zip(problem.inputs, tensors)}


class Deadlines(unittest.TestCase):
    ENDLESS = "while True:\n    pass\n"

    def ended_by(self, seconds, body):
        """A process of its own: what it said and how it ended."""
        words = ("import sys; sys.path.insert(0, %r); import checkout; checkout.GRACE_SECONDS = 1\n"
                 "with checkout.Deadline(%d, 'level1/7_Endless.py'):\n    %s\n"
                 % (os.path.dirname(checkout.__file__), seconds, body))
        return subprocess.run([sys.executable, "-B", "-c", words], capture_output=True, text=True, timeout=300)

    def test_a_file_that_does_not_end_is_named_and_is_not_unsupported(self):
        ended = self.ended_by(1, "checkout.kernelbench.describe(%r, 'level1/7_Endless.py')" % self.ENDLESS)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("level1/7_Endless.py was not read within 1 s", ended.stderr)

    def test_what_python_cannot_interrupt_is_ended_and_shown(self):
        block = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM]); signal.pause()"
        ended = self.ended_by(1, block)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("Timeout", ended.stderr)

    def test_what_ends_in_time_is_left_alone(self):
        ended = self.ended_by(60, "print('read')")
        self.assertEqual((ended.returncode, ended.stdout), (0, "read\n"))


class Values(unittest.TestCase):
    def setUp(self):
        torch.set_grad_enabled(False)

    def test_a_seed_is_a_draw(self):
        problem, case = opened("l2_1")
        one, same, other = (drawn(problem, case, "own", seed) for seed in (5, 5, 6))
        for name in one:
            self.assertTrue(torch.equal(one[name], same[name]))
            self.assertFalse(torch.equal(one[name], other[name]))

    def test_signed_changes_inputs_and_reweighted_every_parameter(self):
        problem, case = opened("l1_15")
        own, signed, other = (drawn(problem, case, family) for family in kernelbench.FAMILIES)
        self.assertTrue((own["x"] >= 0).all() and (signed["x"] < 0).any())
        self.assertTrue((own["norm_weight"] == 1).all() and (own["norm_bias"] == 0).all())
        self.assertFalse((other["norm_weight"] == 1).any() or (other["norm_bias"] == 0).any())

    def test_masks_are_zero_or_the_scale(self):
        problem, case = opened("l2_3")
        mask = drawn(problem, case, "own")["mask"]
        self.assertEqual(sorted(set(mask.reshape(-1).tolist())), [0.0, 1.25])

    def test_signs_outside_the_domain_are_not_taken(self):
        text = ROWS["l1_7"]["reference"].replace("torch.softmax(x, dim=1)", "torch.log(x + 1e-3)")
        problem = Problem(ROWS["l1_7"]["contract"], text, "log.py")
        case = Case(admission.case_of(ROWS["l1_7"]["contract"]))
        self.assertTrue((drawn(problem, case, "signed")["x"] >= 0).all())
        self.assertFalse(problem.is_unbiased("signed"))

    def test_a_call_is_a_function_of_its_inputs(self):
        for name in ("l3_7", "l1_14", "l3_2", "l2_3", "l3_4", "l2_5", "l3_1"):
            problem, case = opened(name)
            tensors = list(drawn(problem, case, "own").values())
            kept = [value.clone() for value in tensors]
            first, second = problem.call(tensors)[0], problem.call(tensors)[0]
            self.assertTrue(torch.equal(first, second), name)
            self.assertTrue(all(torch.equal(a, b) for a, b in zip(tensors, kept)), name)

    def test_a_reference_that_writes_to_its_input_is_told(self):
        import oracle
        text = ROWS["l1_1"]["reference"].replace("torch.relu(x)", "torch.relu_(x)")
        problem = Problem(ROWS["l1_1"]["contract"], text, "writes.py")
        case = Case(admission.case_of(ROWS["l1_1"]["contract"]))
        with self.assertRaisesRegex(Exception, "writes to its input x"):
            oracle.pure(problem, list(drawn(problem, case, "own").values()))


class Cheats(unittest.TestCase):
    """Candidates that KernelBench's own check takes, on files of ours."""

    @classmethod
    def setUpClass(cls):
        torch.set_grad_enabled(False)
        cls.judge = judge_module.Judge("cpu", None, tempfile.gettempdir())

    def verdicts(self, name, cheat):
        """{family: (KernelBench's word on own inputs, ours)} for an answer made from the inputs."""
        row = ROWS[name]
        self.judge.open({"contract": row["contract"], "reference": row["reference"], "reference_file": row["file"]})
        problem, case, found = self.judge.problem, Case(admission.case_of(row["contract"])), {}
        for family in problem.families:
            self.judge._draw(case, 77, family, 1)
            named = {t.name: value for t, value in zip(problem.inputs, self.judge.staging.inputs[0])}
            answer = cheat(named).to(problem.outputs[0].dtype).contiguous()
            verdict = compare.judge(problem, case, family, [answer], self.judge.truth(0),
                                    self.judge.staging.inputs[0], None)
            close = verdict["report"]["outputs"][0].get("kernelbench", {}).get("close")
            found[family] = (close, verdict["equal"], verdict["detail"])
        return found

    def refused(self, name, cheat):
        found = self.verdicts(name, cheat)
        self.assertTrue(found["own"][0], found)  # KernelBench takes it
        self.assertFalse(all(ours for _, ours, _ in found.values()), found)  # we do not
        return found

    def test_the_reference_itself_is_right(self):
        for name, row in ROWS.items():
            if not row["supported"]:
                continue

            def reference(named, name=name):
                return self.judge.problem.call([named[t.name] for t in self.judge.problem.inputs])[0]

            found = self.verdicts(name, reference)
            self.assertTrue(all(ours for _, ours, _ in found.values()), (name, found))

    def test_zeros_where_nothing_is_large(self):
        self.refused("l1_13", lambda named: torch.zeros_like(named["x"]))

    def test_a_copy_of_inputs_that_are_never_negative(self):
        found = self.refused("l1_1", lambda named: named["x"])
        self.assertTrue(found["own"][1])  # right there, and wrong on signed inputs
        self.assertFalse(found["signed"][1])

    def test_a_norm_without_its_parameters(self):
        def plain(named):
            return torch.nn.functional.layer_norm(named["x"], (128,))

        found = self.refused("l1_15", plain)
        self.assertFalse(found["reweighted"][1])

    def test_a_hundredth_of_a_loss(self):
        found = self.verdicts("l1_6", lambda named: ((named["predictions"][:4] - named["targets"][:4]) ** 2).mean())
        self.assertFalse(any(ours for _, ours, _ in found.values()), found)

    def test_tf32_in_a_product(self):
        def cut(value):
            return (value.view(torch.int32) + 0x1000 & ~0x1FFF).view(torch.float32)

        found = self.verdicts("l1_8", lambda named: cut(named["A"]) @ cut(named["B"]))
        self.assertFalse(found["signed"][1], found)
        self.assertIn(found["signed"][2], ("precision", "element"))


class Admission(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as cache:
            _, cls.rows = rows(admit=True, device="cpu", cache=cache)
            cls.kept = len(os.listdir(cache))
            _, cls.again = rows(cache=cache)

    def test_degenerate_problems_are_named_with_what_passes(self):
        found = {name: row["degenerate"] for name, row in self.rows.items() if row["degenerate"]}
        self.assertEqual(found["l1_1"], ["copy"])
        self.assertIn("zeros", found["l1_13"])
        self.assertIn("constant", found["l2_2"])
        self.assertEqual(found["l2_7"], ["other inputs"])
        self.assertEqual(found["l2_11"], ["other parameters"])
        for name in ("l1_7", "l1_8", "l1_15", "l2_1", "l3_1", "l3_4"):
            self.assertNotIn(name, found)

    def test_the_check_of_ours_refuses_a_copy(self):
        self.assertEqual(self.rows["l1_1"]["admission"]["refused"], ["copy"])

    def test_it_is_kept_by_source(self):
        self.assertEqual(self.kept, sum(row["supported"] for row in self.rows.values()))
        self.assertEqual({name: row["degenerate"] for name, row in self.rows.items()},
                         {name: row["degenerate"] for name, row in self.again.items()})

    def test_what_a_cpu_would_take_long_for_is_not_run(self):
        row = dict(ROWS["l1_1"], contract=dict(ROWS["l1_1"]["contract"]))
        row["contract"]["inputs"] = [{"name": "x", "dtype": "f32", "shape": [4096, 4096]}]

        class Judge:
            cuda = False

        self.assertIn("16777216 elements", admission.cannot(Judge, row))


if __name__ == "__main__":
    unittest.main()
