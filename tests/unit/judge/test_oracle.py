# SPDX-License-Identifier: MIT
"""The oracle is fp64 whatever a reference does; half precision on a CPU is rounded op by op."""

import unittest

import support
import oracle
import simulate
import torch
from problem import JudgeError


def both(text, x):
    """(o, r) of a reference of one input and one output of x's dtype."""
    name = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}[x.dtype]
    prob = support.problem("import torch\nimport torch.nn.functional as F\n" + text,
                           [("x", name)], [("y", name)])
    with torch.no_grad():
        return oracle.upcast(prob, [x])[0], oracle.native(prob, [x], True)[0]


class Upcast(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.x = torch.randn(33, 65).half()

    def oracle_of(self, body, x=None):
        return both("def reference(x):\n    return " + body, self.x if x is None else x)[0]

    def test_no_conversion_inside_a_reference_lowers_it(self):
        expected = torch.exp(self.x.double() / 3)
        for body in ("torch.exp(x / 3)", "torch.exp(x.float() / 3).half()",
                     "torch.exp(x.to(torch.float32) / 3).to(x.dtype)",
                     "torch.exp(x.type(torch.float32) / 3).type(torch.float16)",
                     "torch.exp(x.bfloat16().float().to(dtype=torch.float16) / 3)",
                     "torch.exp(x.to('cpu', torch.float16) / 3)",
                     "torch.exp(torch.div(x, torch.tensor(3.0, dtype=torch.float16)))",
                     "torch.exp(x / torch.full_like(x, 3, dtype=torch.float32)).to(x)"):
            with self.subTest(body=body):
                o = self.oracle_of(body)
                self.assertEqual(o.dtype, torch.float64)
                self.assertLess(float(((o - expected) / expected).abs().max()), 1e-14)

    def test_new_tensors_are_fp64(self):
        o = self.oracle_of("x + torch.ones(x.shape) / 3 + torch.zeros_like(x) + torch.arange("
                           "x.shape[-1]) / 7")
        wanted = self.x.double() + 1.0 / 3 + torch.arange(65).double() / 7
        self.assertLess(float((o - wanted).abs().max()), 1e-13)

    def test_dtype_arguments_of_functions_are_raised(self):
        o = self.oracle_of("F.softmax(x, dim=-1, dtype=torch.float32).half()")
        self.assertLess(float((o - torch.softmax(self.x.double(), -1)).abs().max()), 1e-15)
        o = self.oracle_of("x.sum(dim=-1, keepdim=True, dtype=torch.float32).half().expand_as(x)")
        self.assertLess(float((o[:, :1] - self.x.double().sum(-1, keepdim=True)).abs().max()), 1e-12)

    def test_promote_types_of_the_inputs_dtype_stays_fp64(self):
        o = self.oracle_of("x.to(torch.promote_types(x.dtype, torch.float32)).square()")
        self.assertTrue(bool((o == self.x.double() ** 2).all()))

    def test_writing_in_place_leaves_the_inputs_alone(self):
        before = self.x.clone()
        text = "def reference(x):\n    x.mul_(2)\n    x[0] = 0\n    return x"
        o, r = both(text, self.x)
        self.assertTrue(bool((self.x == before).all()))
        self.assertTrue(bool((o[1:] == 2 * before.double()[1:]).all()))
        self.assertTrue(bool((r[1:] == 2 * before[1:]).all()))
        self.assertTrue(bool((o[0] == 0).all()))

    def test_integer_outputs_stay_integers(self):
        prob = support.problem("import torch\ndef reference(x):\n    return torch.topk(x, 3)",
                               [("x", "f32")], [("v", "f32"), ("i", "i64")])
        x = torch.randn(5, 9)
        v, i = oracle.upcast(prob, [x])
        self.assertEqual((v.dtype, i.dtype), (torch.float64, torch.int64))
        self.assertTrue(bool((i == torch.topk(x, 3)[1]).all()))

    def test_the_default_dtype_is_put_back_even_after_a_failure(self):
        prob = support.problem("def reference(x):\n    raise ValueError('no')",
                               [("x", "f32")], [("y", "f32")])
        with self.assertRaises(JudgeError):
            oracle.upcast(prob, [torch.ones(2)])
        self.assertEqual(torch.get_default_dtype(), torch.float32)

    def test_magnitude_is_the_sum_of_terms(self):
        prob = support.problem("def reference(x):\n    return x.sum(dim=-1)",
                               [("x", "f32")], [("y", "f32")])
        x = torch.randn(7, 1000)
        o = oracle.upcast(prob, [x])
        g = oracle.magnitude(prob, [x], o)[0]
        self.assertLess(float((g - x.double().abs().sum(-1)).abs().max()), 1e-9)

    def test_magnitude_falls_back_to_the_result_outside_the_domain(self):
        prob = support.problem(
            "import torch\ndef reference(x):\n    assert (x <= 0).all()\n    return torch.exp(x)",
            [("x", "f32")], [("y", "f32")])
        x = -torch.rand(100)
        o = oracle.upcast(prob, [x])
        self.assertTrue(bool((oracle.magnitude(prob, [x], o)[0] == o[0]).all()))


class Simulated(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(2)

    def reference_of(self, body, x):
        return both("def reference(x):\n    return " + body, x)[1]

    def test_each_operator_is_computed_in_fp32_and_rounded(self):
        for dtype in (torch.float16, torch.bfloat16):
            x = torch.randn(9, 31).to(dtype)
            r = self.reference_of("torch.exp(x) * x + 1", x)
            step = torch.exp(x.float()).to(dtype)
            step = (step.float() * x.float()).to(dtype)
            self.assertTrue(bool((r == (step.float() + 1).to(dtype)).all()))
            self.assertEqual(r.dtype, dtype)

    def test_fp32_inside_a_reference_is_not_rounded(self):
        x = torch.randn(9, 31).half()
        r = self.reference_of("torch.exp(x.float()).mul(3).half()", x)
        self.assertTrue(bool((r == torch.exp(x.float()).mul(3).half()).all()))
        r = self.reference_of("torch.softmax(x, -1, dtype=torch.float32).half()", x)
        self.assertTrue(bool((r == torch.softmax(x.float(), -1).half()).all()))

    def test_views_stay_views_and_in_place_operators_write(self):
        x = torch.randn(4, 6).half()
        text = ("def reference(x):\n    y = x.clone()\n    v = y.t()[1:3]\n    v.mul_(2)\n"
                "    y[0, 0] = 5\n    y += 1\n    return y")
        r = both(text, x)[1]
        wanted = x.clone().float()
        wanted[:, 1:3] *= 2
        wanted[0, 0] = 5
        self.assertTrue(bool((r == (wanted.half().float() + 1).half()).all()))

    def test_results_with_values_and_indices_keep_their_form(self):
        x = torch.randn(4, 16).half()
        r = self.reference_of("torch.max(x, dim=-1).values", x)
        self.assertTrue(bool((r.float() == x.float().max(-1)[0]).all()))
        self.assertEqual(r.dtype, torch.float16)

    def test_operators_that_a_cpu_lacks_in_half_precision_run(self):
        x = torch.randn(4, 16).half()
        for body in ("F.silu(x)", "F.gelu(x)", "torch.softmax(x, -1)", "x.cumsum(-1)", "x.sum()",
                     "x @ x.t()", "F.layer_norm(x, (16,))", "torch.where(x > 0, x, -x)", "x.tanh()",
                     "torch.cat([x, x])", "torch.logsumexp(x, -1)", "x.var(-1)", "F.relu(x)",
                     "torch.stack([x, x]).amax(0)", "x.clamp(min=0)", "torch.sigmoid(x)"):
            with self.subTest(body=body):
                r = self.reference_of(body, x)
                self.assertEqual(r.dtype, torch.float16)
                self.assertTrue(bool(torch.isfinite(r.float()).all()))

    def test_promotion_follows_torch(self):
        x = torch.randn(4, 16).half()
        r = self.reference_of("x * torch.ones(16)", x)
        self.assertEqual(r.dtype, torch.float32)
        r = self.reference_of("x * torch.tensor(2.0)", x)
        self.assertEqual(r.dtype, torch.float16)
        r = self.reference_of("x + 1", x)
        self.assertEqual(r.dtype, torch.float16)


class Linear(unittest.TestCase):
    """Where whole numbers must come out exactly: sums with whole coefficients, and nothing else."""

    def exact(self, body, sizes, family="integers"):
        names = sorted(name for name in sizes if name != "y")
        prob = support.problem("import torch\ndef reference(%s):\n    return %s" % (", ".join(names), body),
                               [(name, "f32") for name in names], [("y", "f32")])
        return support.Bench(prob, support.case(sizes), family).truth.exact[0]

    def test_sums_are_exact(self):
        for body, sizes in (("x.sum()", {"x": (33,), "y": ()}),
                            ("x.sum()", {"x": (1,), "y": ()}),
                            ("x.sum(-1)", {"x": (5, 33), "y": (5,)}),
                            ("x.cumsum(-1)", {"x": (5, 33), "y": (5, 33)}),
                            ("a + b", {"a": (33,), "b": (33,), "y": (33,)}),
                            ("a @ b + c", {"a": (5, 9), "b": (9, 7), "c": (7,), "y": (5, 7)}),
                            ("x.mean(-1)", {"x": (33, 1), "y": (33,)})):
            with self.subTest(body=body):
                self.assertTrue(self.exact(body, sizes))

    def test_what_only_looks_whole_is_not(self):
        for body, sizes in (("x.softmax(-1)", {"x": (9, 1), "y": (9, 1)}),
                            ("x.norm(dim=-1)", {"x": (9, 1), "y": (9,)}),
                            ("x.abs().sum()", {"x": (33,), "y": ()}),
                            ("x.relu()", {"x": (33,), "y": (33,)}),
                            ("torch.hypot(a, b) * 0 + 3", {"a": (33,), "b": (33,), "y": (33,)})):
            with self.subTest(body=body):
                self.assertFalse(self.exact(body, sizes))

    def test_a_mean_is_never_exact_whatever_the_draw(self):
        prob = support.problem("def reference(x):\n    return x.mean()", [("x", "f32")], [("y", "f32")])
        whole = 0
        for seed in range(60):
            bench = support.Bench(prob, support.case({"x": (3,), "y": ()}), "integers", seed)
            whole += bool(bench.truth.oracle[0] == bench.truth.oracle[0].round())
            self.assertFalse(bench.truth.exact[0])
        self.assertGreater(whole, 5)

    def test_other_values_are_never_asked_for_exactly(self):
        self.assertFalse(self.exact("x.sum()", {"x": (33,), "y": ()}, "zeros"))


class Loading(unittest.TestCase):
    def fault(self, text, x=None):
        with self.assertRaises(JudgeError) as caught:
            prob = support.problem(text, [("x", "f32")], [("y", "f32")])
            prob.call([torch.ones(3) if x is None else x])
        self.assertEqual(caught.exception.code, "config")
        return caught.exception.text

    def test_a_raising_reference_is_named_with_its_line(self):
        text = "import torch\n\ndef inner(x):\n    return x @ torch.ones(7, 7)\n\n" \
               "def reference(x):\n    return inner(x)\n"
        said = self.fault(text)
        self.assertTrue(said.startswith("test/reference.py:4: reference raised RuntimeError: "), said)

    def test_a_reference_that_does_not_compile_is_named_with_its_line(self):
        self.assertIn("test/reference.py:2: ", self.fault("def reference(x):\n    return x +\n"))

    def test_a_reference_that_fails_to_load_is_named_with_its_line(self):
        said = self.fault("import torch\nimport no_such_module\ndef reference(x):\n    return x\n")
        self.assertIn("test/reference.py:2: loading raised ModuleNotFoundError", said)

    def test_a_missing_function_is_told(self):
        self.assertIn("no function `reference`", self.fault("def refrence(x):\n    return x\n"))

    def test_the_number_and_kind_of_outputs_is_checked(self):
        self.assertIn("returned 2 outputs, the contract says 1",
                      self.fault("def reference(x):\n    return x, x\n"))
        self.assertIn("output y is a int, not a tensor",
                      self.fault("def reference(x):\n    return 3\n"))

    def test_scalars_arrive_rounded_to_their_type(self):
        prob = support.problem("def reference(x, eps, n):\n    assert n == 5\n    return x * 0 + eps",
                               [("x", "f64")], [("y", "f64")],
                               [("eps", "f32", 1e-5), ("n", "i32", 5.0)])
        y = prob.call([torch.zeros(1, dtype=torch.float64)])[0]
        self.assertEqual(float(y), float(torch.tensor(1e-5, dtype=torch.float32)))

    def test_REFERENCE_serves_where_there_is_no_function(self):
        prob = support.problem("import torch\nREFERENCE = torch.neg\n", [("input", "f32")],
                               [("y", "f32")])
        self.assertEqual(float(prob.call([torch.ones(1)])[0]), -1.0)


if __name__ == "__main__":
    unittest.main()
