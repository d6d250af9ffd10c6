# SPDX-License-Identifier: MIT
"""Honest answers pass, wrong ones fail, and the report names the pattern but no expected value."""

import json
import unittest

import support
import sentinel
import torch
import values

SOFTMAX = "import torch\ndef reference(x):\n    return torch.softmax(x, dim=-1)\n"
SUM_ROWS = "def reference(x):\n    return x.sum(dim=-1)\n"
CUMSUM = "def reference(x):\n    return x.cumsum(dim=-1)\n"
SILU = "import torch\ndef reference(x):\n    return torch.nn.functional.silu(x)\n"
MATMUL = "def reference(a, b):\n    return a @ b\n"
ADD = "def reference(a, b):\n    return a + b\n"


def unary(text, dtype, rows, cols, family="normal", out=None, reduction=None, seed=7):
    prob = support.problem(text, [("x", dtype)], [("y", dtype)])
    sizes = {"x": (rows, cols), "y": (rows, cols) if out is None else out}
    return support.Bench(prob, support.case(sizes, cols if reduction is None else reduction),
                         family, seed)


def sequential_sums(x):
    """fp32, one element after the other: the least accurate honest order."""
    total = torch.zeros(x.shape[0])
    for column in x.float().t():
        total = total + column
    return total


def sequential_cumsum(x):
    total, steps = torch.zeros(x.shape[0]), []
    for column in x.t():
        total = total + column
        steps.append(total)
    return torch.stack(steps, dim=1)


def to_tf32(x):
    """Rounds to the 10 mantissa bits that tensor cores keep."""
    bits = x.contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


class Case(unittest.TestCase):
    def passes(self, bench, *answer, **options):
        verdict = bench.verdict(*answer, **options)
        self.assertTrue(verdict["equal"], verdict["text"])
        self.assertEqual((verdict["detail"], verdict["text"]), ("", ""))
        return verdict["report"]

    def fails(self, bench, answer, kind, cause=None):
        verdict = bench.verdict(*(answer if isinstance(answer, list) else [answer]))
        self.assertFalse(verdict["equal"])
        kinds = kind if isinstance(kind, tuple) else (kind,)
        self.assertIn(verdict["detail"], kinds, verdict["text"])
        if cause is not None:
            self.assertIn(cause, verdict["text"])
        return verdict


# Sums of `large` overflow fp32 on the way, whatever the order.
SUMMABLE = [family for family in values.FAMILIES if family != "large"]


class Honest(Case):
    def test_the_oracle_rounded_to_the_dtype_passes_for_every_family(self):
        for dtype in ("f16", "bf16", "f32", "f64"):
            for family in values.FAMILIES:
                for text in (SOFTMAX, CUMSUM, SILU):
                    with self.subTest(dtype=dtype, family=family, text=text):
                        bench = unary(text, dtype, 33, 129, family)
                        self.passes(bench, *bench.right())

    def test_sequential_fp32_sums_pass_up_to_16384_terms(self):
        for cols in (1, 2, 31, 257, 4096, 16384):
            for family in SUMMABLE:
                with self.subTest(cols=cols, family=family):
                    bench = unary(SUM_ROWS, "f32", 37, cols, family, (37,))
                    self.passes(bench, sequential_sums(bench.inputs[0]))

    def test_sequential_fp32_sums_pass_on_many_seeds(self):
        for seed in range(100):
            bench = unary(SUM_ROWS, "f32", 19, 333, "normal", (19,), seed=seed)
            self.passes(bench, sequential_sums(bench.inputs[0]))

    def test_the_worst_of_thousands_of_sequential_scans_passes(self):
        for seed in range(4):  # the errors of a scan are a walk: a row's RMS is far from its expectation
            bench = unary(CUMSUM, "f32", 4096, 512, seed=seed)
            report = self.passes(bench, sequential_cumsum(bench.inputs[0]))
            self.assertLess(report["outputs"][0]["row_rmse_over_budget"], 0.5)

    def test_sequential_scans_pass(self):
        for family in ("normal", "uniform", "constant", "positive", "integers"):
            bench = unary(CUMSUM, "f32", 5, 4097, family)
            self.passes(bench, sequential_cumsum(bench.inputs[0]))

    def test_the_rarest_rows_of_a_running_sum_pass(self):
        """The worst three of 393,216 rows: an error stays in all later elements of its row, so that a row's
        errors do not average out, and RMSE is above m*RMSE(r) + u*sqrt(K)*s, up to 1.48 times."""
        bench = unary(CUMSUM, "f32", 64, 1024)
        for row, seed in ((3, 348374), (17, 20800), (40, 286946)):
            bench.inputs[0][row] = torch.randn(1024, generator=torch.Generator().manual_seed(seed))
        bench.truth = support.oracle.Truth(bench.problem, bench.case, bench.inputs, True)
        numbers = self.passes(bench, sequential_cumsum(bench.inputs[0]))["outputs"][0]
        self.assertGreater(numbers["row_rmse_over_budget"], 1.0 / support.compare.LAMBDA)
        self.assertLess(numbers["row_rmse_over_budget"], 0.5)

    def test_a_softmax_computed_in_fp32_passes_in_half_precision(self):
        for dtype in ("f16", "bf16"):
            for cols in (1, 3, 31, 1000, 8192):
                for family in ("normal", "uniform", "ties", "zeros", "constant"):
                    bench = unary(SOFTMAX, dtype, 7, cols, family)
                    x = bench.inputs[0].float()
                    e = torch.exp(x - x.amax(-1, keepdim=True))
                    self.passes(bench, e / sequential_sums(e)[:, None])

    def test_an_elementwise_function_two_ulps_off_passes(self):
        bench = unary(SILU, "f32", 5, 3, reduction=1)
        y = bench.right()[0]
        self.passes(bench, y * (1 + 2.0 ** -23))

    def test_a_matrix_product_in_fp32_passes_in_any_order(self):
        bench = matmul("f32", 64, 4096, 48)
        a, b = bench.inputs
        total = torch.zeros(64, 48)
        for k in range(4096):
            total = total + a[:, k:k + 1] * b[k:k + 1, :]
        self.passes(bench, total)

    def test_signed_zeros_are_equal(self):
        bench = unary(SILU, "f32", 5, 31, "zeros", reduction=1)
        self.passes(bench, -bench.right()[0])

    def test_outputs_without_elements_pass(self):
        bench = unary(SOFTMAX, "f16", 0, 128)
        self.passes(bench, torch.empty(0, 128))

    def test_a_reduction_of_nothing_must_give_the_neutral_element(self):
        prob = support.problem("def reference(x):\n    return x.sum()", [("x", "f32")], [("y", "f32")])
        bench = support.Bench(prob, support.case({"x": (0,), "y": ()}))
        self.passes(bench, torch.zeros(()))
        self.fails(bench, torch.ones(()), "element")

    def test_near_overflow_infinity_and_the_largest_number_both_pass(self):
        prob = support.problem("def reference(x):\n    return x * 2", [("x", "f16")], [("y", "f16")])
        bench = support.Bench(prob, support.case({"x": (4,), "y": (4,)}))
        bench.inputs[0].copy_(torch.tensor([32760.0, -32760.0, 32768.0, 1.0]))
        bench.truth = support.oracle.Truth(prob, bench.case, bench.inputs, True)
        inf = float("inf")
        self.passes(bench, torch.tensor([inf, -inf, inf, 2.0]))
        self.passes(bench, torch.tensor([65504.0, -65504.0, inf, 2.0]))
        self.fails(bench, torch.tensor([-inf, -inf, inf, 2.0]), "class")


def matmul(dtype, m, k, n, family="normal"):
    prob = support.problem(MATMUL, [("a", dtype), ("b", dtype)], [("y", dtype)])
    return support.Bench(prob, support.case({"a": (m, k), "b": (k, n), "y": (m, n)}, k), family)


class Wrong(Case):
    """Each mutant of a right answer, on several operators."""

    def benches(self, family="normal"):
        yield unary(SOFTMAX, "f16", 33, 257, family)
        yield unary(SOFTMAX, "f32", 33, 257, family)
        yield unary(CUMSUM, "f32", 33, 257, family)
        yield unary(SILU, "bf16", 33, 257, family, reduction=1)

    def mutants(self, cause, kinds, mutate, families=("normal", "uniform")):
        for family in families:
            for bench in self.benches(family):
                y = bench.right()[0]
                mutant = mutate(y, bench)
                if mutant is None:
                    continue
                verdict = self.fails(bench, mutant, kinds, cause)
                self.assert_nothing_given_away(verdict, bench)

    def assert_nothing_given_away(self, verdict, bench):
        worst = verdict["report"]["outputs"][0]["worst"]
        expected = float(bench.truth.oracle[0].reshape(-1)[worst])
        for form in ("%r" % expected, "%.6g" % expected, "%.4f" % expected):
            if len(form) > 5:
                self.assertNotIn(form, verdict["text"])
                self.assertNotIn(form, json.dumps(verdict["report"]))

    def test_all_zeros(self):
        self.mutants("all zero", ("element",), lambda y, b: torch.zeros_like(y))

    def test_the_mean_everywhere(self):
        self.mutants("the same value", ("element", "precision"),
                     lambda y, b: torch.full_like(y, float(y.double().mean())))

    def test_a_copy_of_the_input(self):
        self.mutants("copy of input x", ("element",), lambda y, b: b.inputs[0].clone())

    def test_one_element_off(self):
        def mutate(y, bench):
            y[17, 33] += 0.25 * y.abs().max()
            return y
        self.mutants("single element", ("element",), mutate)

    def test_the_wrong_place_is_named(self):
        bench = unary(SOFTMAX, "f32", 33, 257)
        y = bench.right()[0]
        y[17, 33] *= 1.5
        self.assertIn("[17, 33]", self.fails(bench, y, "element")["text"])

    def test_the_last_row_not_written(self):
        def mutate(y, bench):
            pattern = sentinel.bits(bench.problem.outputs[0].dtype_name, support.SALT)
            sentinel.shadow(y, y.element_size())[-1] = pattern
            return y
        self.mutants("the last 257 elements", ("unwritten",), mutate)

    def test_the_last_row_zero(self):
        def mutate(y, bench):
            y[-1] = 0
            return y
        self.mutants("the tail", ("element",), mutate)

    def test_the_last_column_missing(self):
        def mutate(y, bench):
            y[:, -1] = 7
            return y
        self.mutants("columns from 256 on", ("element",), mutate)

    def test_the_columns_after_the_last_full_vector_missing(self):
        def mutate(y, bench):
            y[:, 256:] = 0
            return y
        self.mutants("columns from 256 on", ("element",), mutate)

    def test_off_by_one(self):
        def mutate(y, bench):
            return torch.roll(y.reshape(-1), 1).reshape(y.shape)
        self.mutants("off by one element", ("element",), mutate)

    def test_off_by_one_row(self):
        self.mutants("off by one row", ("element",), lambda y, b: torch.roll(y, 1, 0))

    def test_a_nan_in_one_element(self):
        def mutate(y, bench):
            y[3, 4] = float("nan")
            return y
        self.mutants("NaN out of finite inputs", ("class",), mutate)

    def test_an_infinity_in_one_element(self):
        def mutate(y, bench):
            y[3, 4] = float("inf")
            return y
        self.mutants("overflow", ("class",), mutate)

    def test_the_wrong_sign(self):
        self.mutants("sign", ("element",), lambda y, b: -y)

    def test_a_missing_factor(self):
        self.mutants("constant factor", ("element",), lambda y, b: y * 0.5)

    def test_swapped_dimensions(self):
        bench = unary(SILU, "f32", 65, 65, reduction=1)
        self.fails(bench, bench.right()[0].t(), "element", "rows and columns are swapped")

    def test_a_wrong_stride(self):
        bench = unary(SILU, "f32", 33, 257, reduction=1)
        right = bench.right()[0].reshape(-1)
        padded = torch.cat([right, torch.zeros(33 * 7)])
        rows = torch.stack([padded[r * 264:r * 264 + 257] for r in range(33)])
        self.fails(bench, rows, "element", "264 elements apart and not 257")

    def test_half_of_a_reduction(self):
        bench = unary(SUM_ROWS, "f32", 64, 1024, "positive", (64,))
        self.fails(bench, bench.inputs[0][:, :512].sum(-1), "element", None)

    def test_the_answer_to_another_draw(self):
        for family in ("normal", "uniform"):
            for bench, other in zip(self.benches(family), self.benches("ties")):
                self.fails(bench, other.right()[0], ("element", "precision"))

    def test_zero_for_one_scalar_sum_of_many(self):
        prob = support.problem("def reference(x):\n    return x.sum()", [("x", "f32")], [("y", "f32")])
        for n in (31, 65521, 1 << 20):
            bench = support.Bench(prob, support.case({"x": (n,), "y": ()}, n))
            self.fails(bench, torch.zeros(()), ("element", "precision"))


class Classes(Case):
    def setUp(self):
        prob = support.problem("import torch\ndef reference(x):\n    return torch.log(x) * 60000",
                               [("x", "f16")], [("y", "f16")])
        self.bench = support.Bench(prob, support.case({"x": (64, 40), "y": (64, 40)}))
        self.right = self.bench.right()[0]  # NaN for negative x, mostly infinite otherwise

    def test_nan_and_infinity_where_they_belong_pass(self):
        self.assertGreater(int(torch.isnan(self.right).sum()), 100)
        self.assertGreater(int(torch.isinf(self.right).sum()), 10)
        self.passes(self.bench, self.right)

    def test_a_dropped_nan_fails(self):
        y = torch.where(torch.isnan(self.right), torch.zeros_like(self.right), self.right)
        self.fails(self.bench, y, "class", "NaN is dropped")

    def test_infinity_clamped_to_the_largest_number_fails(self):
        y = self.right.float().clamp(-65504, 65504).half()
        self.fails(self.bench, y, "class", "clamped")

    def test_the_wrong_infinity_fails(self):
        y = torch.where(torch.isinf(self.right), -self.right, self.right)
        self.fails(self.bench, y, "class")


class Precision(Case):
    def test_tf32_matrix_products_fail(self):
        for k in (64, 512, 4096, 16384):
            bench = matmul("f32", 40, k, 48)
            a, b = bench.inputs
            verdict = self.fails(bench, (to_tf32(a).double() @ to_tf32(b).double()).float(),
                                 ("element", "precision"))
            self.assertIn("likely cause", verdict["text"])

    def test_bf16_matrix_products_of_fp32_data_fail(self):
        for k in (64, 4096, 16384):
            bench = matmul("f32", 40, k, 48)
            a, b = (x.bfloat16().double() for x in bench.inputs)
            self.fails(bench, (a @ b).float(), ("element", "precision"))

    def test_honest_sequential_matrix_products_pass_where_tf32_fails(self):
        for k in (64, 4096, 16384):
            bench = matmul("f32", 16, k, 24)
            a, b = bench.inputs
            total = torch.zeros(16, 24)
            for at in range(k):
                total = total + a[:, at:at + 1] * b[at:at + 1, :]
            self.passes(bench, total)

    def test_tf32_at_length_16384_is_caught_by_the_gate(self):
        bench = matmul("f32", 40, 16384, 48)
        a, b = bench.inputs
        self.fails(bench, (to_tf32(a).double() @ to_tf32(b).double()).float(), "precision", "TF32")

    def test_three_term_tf32_passes(self):
        bench = matmul("f32", 40, 1024, 48)
        a, b = bench.inputs
        high_a, high_b = to_tf32(a), to_tf32(b)
        low_a, low_b = to_tf32(a - high_a), to_tf32(b - high_b)
        total = high_a @ high_b + (high_a @ low_b + low_a @ high_b)
        self.passes(bench, total)

    def test_bf16_sums_of_fp32_data_fail(self):
        bench = unary(SUM_ROWS, "f32", 64, 1024, out=(64,))
        self.fails(bench, bench.inputs[0].bfloat16().float().sum(-1), ("element", "precision"))

    def test_a_bf16_run_of_an_fp32_elementwise_function_fails(self):
        bench = unary(SILU, "f32", 64, 64, reduction=1)
        x = bench.inputs[0].bfloat16().float()
        self.fails(bench, torch.nn.functional.silu(x), "element", "precision")

    def test_half_accumulation_of_half_inputs_fails(self):
        bench = unary(SUM_ROWS, "f16", 64, 2048, out=(64,))
        total = torch.zeros(64).half()
        for column in bench.inputs[0].t():
            total = (total.float() + column.float()).half()
        self.fails(bench, total, ("element", "precision"))

    def test_running_sums_in_low_precision_fail(self):
        for cols in (64, 1024, 4096, 16384):
            bench = unary(CUMSUM, "f32", 40, cols)
            for lower in (to_tf32, lambda x: x.bfloat16().float(), lambda x: x.half().float()):
                self.fails(bench, lower(bench.inputs[0]).double().cumsum(-1).float(), ("element", "precision"))

    def test_half_accumulation_of_a_running_sum_fails(self):
        for dtype, lower in (("f32", torch.bfloat16), ("f32", torch.float16), ("bf16", torch.bfloat16)):
            bench = unary(CUMSUM, dtype, 40, 1024)
            total, steps = torch.zeros(40).to(lower), []
            for column in bench.inputs[0].t():
                total = (total.float() + column.float()).to(lower)
                steps.append(total)
            self.fails(bench, torch.stack(steps, dim=1), ("element", "precision"))

    def test_one_running_sum_in_low_precision_is_found_among_many(self):
        for cols in (64, 1024, 4096):
            bench = unary(CUMSUM, "f32", 300, cols)
            y = bench.right()[0]
            y[123] = to_tf32(bench.inputs[0])[123].double().cumsum(-1).float()
            self.assertIn("[123, ", self.fails(bench, y, ("element", "precision"))["text"])

    def test_one_row_in_low_precision_is_found_among_many(self):
        bench = matmul("f32", 300, 16384, 64)
        y = bench.right()[0]
        a, b = bench.inputs
        y[123] = (to_tf32(a[123:124]).double() @ to_tf32(b).double()).float()[0]
        verdict = self.fails(bench, y, "precision")
        self.assertIn("first [123, 0]", verdict["text"])


class Exact(Case):
    def test_indices_must_be_equal(self):
        prob = support.problem("def reference(x):\n    return x.argmax(dim=-1)", [("x", "f32")],
                               [("y", "i64")])
        for family in ("normal", "ties", "constant"):
            bench = support.Bench(prob, support.case({"x": (65, 100), "y": (65,)}, 100), family)
            y = bench.right()[0]
            self.passes(bench, y)
            wrong = y.clone()
            wrong[5] += 1
            self.fails(bench, wrong, "exact", "single element")

    def test_an_index_that_was_not_written_is_told_apart(self):
        prob = support.problem("def reference(x):\n    return x.argmax(dim=-1)", [("x", "f32")],
                               [("y", "i64")])
        bench = support.Bench(prob, support.case({"x": (65, 100), "y": (65,)}, 100))
        y = bench.right()[0]
        y[60:] = sentinel.bits("i64", 0) - (1 << 64)
        self.fails(bench, y, "unwritten", "the last 5 elements")

    def test_a_right_byte_that_looks_like_the_sentinel_passes(self):
        prob = support.problem("def reference(x):\n    return x", [("x", "u8")], [("y", "u8")])
        bench = support.Bench(prob, support.case({"x": (64, 64), "y": (64, 64)}), "uniform")
        self.assertGreater(int((bench.inputs[0] == 0xA5).sum()), 0)
        self.passes(bench, bench.inputs[0])

    def test_booleans_must_be_zero_or_one(self):
        prob = support.problem("def reference(x):\n    return x > 0", [("x", "f32")], [("y", "bool")])
        bench = support.Bench(prob, support.case({"x": (64,), "y": (64,)}))
        y = bench.right()[0]
        self.passes(bench, y)
        raw = y.view(torch.uint8).clone()
        raw[raw == 1] = 2
        self.fails(bench, raw.view(torch.bool), "exact")

    def test_whole_number_sums_must_be_exact(self):
        bench = unary(CUMSUM, "f32", 33, 257, "integers")
        y = bench.right()[0]
        self.passes(bench, y)
        y[4, 200] += 2.0 ** -14
        self.fails(bench, y, "exact")

    def test_a_single_sum_of_whole_numbers_must_be_exact(self):
        prob = support.problem("def reference(x):\n    return x.sum()", [("x", "f32")], [("y", "f32")])
        for family in ("integers", "one_hot"):
            bench = support.Bench(prob, support.case({"x": (4097,), "y": ()}, 4097), family)
            self.passes(bench, *bench.right())
            self.fails(bench, bench.right()[0] + 2.0 ** -14, "exact")

    def test_products_of_whole_matrices_must_be_exact(self):
        bench = matmul("f32", 17, 129, 33, "integers")
        y = bench.right()[0]
        self.passes(bench, y)
        y[3, 4] += 2.0 ** -14
        self.fails(bench, y, "exact")

    def test_a_sum_of_integers_that_the_reference_rounds_keeps_its_bound(self):
        bench = unary("def reference(x):\n    return x * 100.5", "f16", 33, 40, "integers",
                      reduction=1)
        self.passes(bench, *bench.right())


class Outputs(Case):
    def test_the_first_failing_output_class_decides_and_all_are_reported(self):
        prob = support.problem("def reference(x):\n    return x + 1, x - 1, x.argmax(-1)",
                               [("x", "f32")], [("a", "f32"), ("b", "f32"), ("i", "i64")])
        bench = support.Bench(prob, support.case({"x": (8, 8), "a": (8, 8), "b": (8, 8), "i": (8,)}))
        a, b, i = bench.right()
        report = self.passes(bench, a, b, i)
        self.assertEqual([row["name"] for row in report["outputs"]], ["a", "b", "i"])
        broken = b.clone()
        broken[0, 0] = float("nan")
        verdict = self.fails(bench, [a * 1.1, broken, i], "class")
        self.assertIn("output b (f32", verdict["text"])
        self.assertEqual([row["equal"] for row in verdict["report"]["outputs"]],
                         [False, False, True])

    def test_a_report_is_json(self):
        bench = unary(SOFTMAX, "f16", 9, 40)
        y = bench.right()[0]
        y[0, 0] = float("inf")
        import judge
        json.dumps(judge.clean(bench.verdict(y)), allow_nan=False)

    def test_chunks_of_rows_give_the_same_verdict(self):
        import compare
        bench = unary(CUMSUM, "f32", 300, 65)
        y = bench.right()[0]
        y[250, 60] *= 1.01
        whole = bench.verdict(y)
        before, compare.CHUNK = compare.CHUNK, 1000
        try:
            self.assertEqual(bench.verdict(y)["text"], whole["text"])
        finally:
            compare.CHUNK = before
        self.assertIn("[250, 60]", whole["text"])


class Sentinels(unittest.TestCase):
    def test_mixing_agrees_with_the_runner(self):
        self.assertEqual(sentinel.mix(0), 0xE220A8397B1DCDAF)
        self.assertEqual(sentinel.mix(1), 0x910A2DEC89025CC1)

    def test_patterns_are_quiet_nans_with_a_payload(self):
        for salt in range(2000):
            for name, exponent, top in (("f16", 0x7E00, 0x7FFF), ("bf16", 0x7FC0, 0x7FFF),
                                        ("f32", 0x7FC00000, 0x7FFFFFFF)):
                bits = sentinel.bits(name, salt)
                self.assertTrue(exponent < bits < top)

    def test_every_unwritten_element_is_seen_and_an_ordinary_nan_is_not(self):
        from problem import ITEM_SIZES, Tensor
        for name, size in ITEM_SIZES.items():
            tensor = Tensor({"name": "y", "dtype": name})
            y = torch.zeros(40, dtype=tensor.dtype)
            bits = sentinel.bits(name, 99)
            signed = bits - (1 << 8 * size) if size > 1 and bits >> (8 * size - 1) else bits
            sentinel.shadow(y, size)[7:9] = signed
            if tensor.is_float:
                y[20] = float("nan")
            mask = sentinel.unwritten(tensor, y, 99)
            self.assertEqual(mask.nonzero().reshape(-1).tolist(), [7, 8], name)


if __name__ == "__main__":
    unittest.main()
