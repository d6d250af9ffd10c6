# SPDX-License-Identifier: MIT
"""Each value family keeps its promise, on every dtype."""

import math
import os
import re
import unittest

import support
import torch
import values
from problem import DTYPES, Tensor

SHAPE = (257, 129)
CPU = torch.device("cpu")
FLOATS = ("f16", "bf16", "f32", "f64")
WHOLE = ("i8", "u8", "i32", "i64")


def draw(dtype, family, seed=1, slot=0, name="x", shape=SHAPE, bounds=None, **domain):
    tensor = Tensor(dict(domain, name=name, dtype=dtype))
    return values.draw(tensor, shape, family, seed, slot, CPU, bounds=bounds)


def rises(x):
    return bool((x[..., 1:] >= x[..., :-1]).all())


class Families(unittest.TestCase):
    def test_every_family_fills_every_dtype_with_finite_values(self):
        for dtype in DTYPES:
            for family in values.FAMILIES:
                with self.subTest(dtype=dtype, family=family):
                    x = draw(dtype, family)
                    self.assertEqual(x.dtype, DTYPES[dtype])
                    self.assertEqual(tuple(x.shape), SHAPE)
                    if family != "specials":
                        self.assertTrue(bool(torch.isfinite(x.double()).all()))

    def test_the_suites_know_the_same_names(self):
        with open(os.path.join(support.ROOT, "suites", "family.c")) as file:
            known = re.search(r"known\[\] = \{(.*?)NULL", file.read(), re.S).group(1)
        self.assertEqual(sorted(re.findall(r'"(\w+)"', known)), sorted(values.FAMILIES + values.MODULE_FAMILIES))

    def test_normal_has_mean_zero_and_variance_one(self):
        for dtype in ("f16", "bf16", "f32", "f64"):
            x = draw(dtype, "normal").double()
            self.assertLess(abs(float(x.mean())), 0.02)
            self.assertLess(abs(float(x.var()) - 1.0), 0.03)

    def test_uniform_has_mean_zero_and_stays_within_one(self):
        x = draw("f32", "uniform").double()
        self.assertLess(abs(float(x.mean())), 0.02)
        self.assertGreater(float(x.max()), 0.99)
        self.assertLess(float(x.min()), -0.99)
        self.assertLessEqual(float(x.abs().max()), 1.0)

    def test_positive_is_positive_in_every_dtype(self):
        for dtype in DTYPES:
            if dtype != "bool":
                x = draw(dtype, "positive").double()
                self.assertGreater(float(x.min()), 0.0, dtype)

    def test_constant_is_one_value_and_not_zero(self):
        for dtype in DTYPES:
            x = draw(dtype, "constant").double().reshape(-1)
            self.assertTrue(bool((x == x[0]).all()), dtype)
            if dtype != "bool":
                self.assertNotEqual(float(x[0]), 0.0)

    def test_constants_differ_between_seeds(self):
        seen = {float(draw("f32", "constant", seed).reshape(-1)[0]) for seed in range(16)}
        self.assertGreater(len(seen), 12)

    def test_zeros_are_zeros_of_both_signs(self):
        x = draw("f32", "zeros")
        self.assertTrue(bool((x == 0).all()))
        negative = int((x.view(torch.int32) != 0).sum())
        self.assertGreater(negative, 0)
        self.assertLess(negative, x.numel())

    def test_ties_have_few_distinct_values(self):
        for dtype in ("f16", "f32", "i32", "i64", "u8"):
            self.assertEqual(len(draw(dtype, "ties").double().unique()), 4, dtype)

    def test_integers_are_small_whole_numbers(self):
        x = draw("f16", "integers").double()
        self.assertTrue(bool((x == x.round()).all()))
        self.assertEqual((float(x.min()), float(x.max())), (-4.0, 4.0))
        self.assertEqual(float(draw("u8", "integers").double().min()), 0.0)

    def test_log_uniform_fills_the_exponents_on_both_sides(self):
        for dtype, low, high in (("f32", -20, 20), ("bf16", -20, 20), ("f16", -14, 15)):
            x = draw(dtype, "log_uniform").double()
            exponents = torch.log2(x.abs())
            self.assertAlmostEqual(float(exponents.min()), low, delta=0.1)
            self.assertAlmostEqual(float(exponents.max()), high, delta=0.1)
            self.assertLess(abs(float((x > 0).double().mean()) - 0.5), 0.02)

    def test_one_hot_has_a_single_one_in_each_row(self):
        for dtype in DTYPES:
            x = draw(dtype, "one_hot").double()
            self.assertTrue(bool((x.sum(dim=-1) == 1).all()), dtype)
            self.assertEqual(len(x.unique()), 2)
        self.assertEqual(float(draw("f32", "one_hot", shape=()).double()), 1.0)

    def test_denormals_lie_below_the_smallest_normal_number(self):
        for dtype in FLOATS:
            x = draw(dtype, "denormals")
            self.assertLess(float(x.double().abs().max()), torch.finfo(x.dtype).tiny)
            self.assertGreater(float(x.double().abs().min()), 0.0)
            self.assertEqual(len(x.double().sign().unique()), 2)

    def test_large_is_near_the_largest_number_with_both_signs(self):
        for dtype in FLOATS:
            x = draw(dtype, "large")
            top = torch.finfo(x.dtype).max
            self.assertGreater(float(x.double().abs().min()), 0.49 * top)
            self.assertGreater(float(x.double().abs().max()), 0.98 * top)
            self.assertEqual(len(x.double().sign().unique()), 2)
        for dtype in WHOLE:
            x = draw(dtype, "large")
            low, high = values.RANGES[x.dtype]
            self.assertEqual((int(x.min()), int(x.max())), (low, high))

    def test_sorted_rises_and_reversed_falls_along_the_rows(self):
        for dtype in DTYPES:
            self.assertTrue(rises(draw(dtype, "sorted").double()), dtype)
            self.assertTrue(rises(draw(dtype, "reversed").double().flip(-1)), dtype)

    def test_permuted_values_differ_within_a_row_and_are_shuffled(self):
        for dtype in ("f16", "bf16", "f32", "f64", "i32", "i64", "i8", "u8"):
            for length in (129, 16384) if dtype in FLOATS else (129,):
                x = draw(dtype, "permuted", shape=(3, length)).double()
                for row in x:
                    self.assertEqual(len(row.unique()), length, dtype)
                self.assertFalse(rises(x[0]))

    def test_specials_have_all_kinds_and_clean_rows_too(self):
        x = draw("f16", "specials")
        for kind in (torch.isnan(x), x == math.inf, x == -math.inf):
            self.assertGreater(int(kind.sum()), 20)
            self.assertLess(float(kind.double().mean()), 0.05)
        clean = torch.isfinite(x).all(dim=-1)
        self.assertGreater(int(clean.sum()), 10)
        self.assertLess(int(clean.sum()), x.shape[0] - 10)

    def test_specials_of_few_rows_have_all_kinds_whatever_the_seed(self):
        for shape in ((1, 3), (3, 1000), (8191,)):
            for seed in range(30):
                x = draw("f32", "specials", seed, shape=shape)
                for kind in (torch.isnan(x), x == math.inf, x == -math.inf):
                    self.assertTrue(bool(kind.any()), (shape, seed))

    def test_offset_rows_are_far_from_zero_and_narrow(self):
        for dtype in FLOATS:
            x = draw(dtype, "offset", shape=(64, 4096)).double()
            mean, spread = x.mean(dim=-1), x.std(dim=-1)
            self.assertGreater(float(mean.abs().min()), 250.0)
            self.assertLess(float(mean.abs().max()), 1030.0)
            self.assertEqual(len(mean.sign().unique()), 2)
            self.assertLess(float(spread.max()), 2.0)
            self.assertGreater(float(spread.min()), 0.01)

    def test_a_range_is_kept_by_every_family(self):
        for dtype in WHOLE:
            for family in values.FAMILIES:
                for low, high in ((0, 0), (3, 9), (0, 100)):
                    with self.subTest(dtype=dtype, family=family, low=low, high=high):
                        x = draw(dtype, family, bounds=(low, high))
                        self.assertTrue(low <= int(x.min()) and int(x.max()) <= high)
        x = draw("i64", "uniform", bounds=(-5, 5))
        self.assertEqual(len(x.unique()), 11)
        self.assertEqual(draw("i32", "large", bounds=(-5, 5)).unique().tolist(), [-5, 5])
        for row in draw("i32", "permuted", bounds=(10, 138)):
            self.assertEqual(len(row.unique()), 129)

    def test_a_sorted_input_is_sorted_in_every_family(self):
        for family in values.FAMILIES:
            x = draw("i32", family, bounds=(0, 40), order="sorted")
            self.assertTrue(rises(x), family)

    def test_an_input_takes_only_the_families_it_names(self):
        x = draw("f32", "zeros", families=["positive"])
        self.assertTrue(bool((x == draw("f32", "positive")).all()))
        x = draw("f32", "zeros", families=["uniform", "normal"])
        self.assertTrue(bool((x == draw("f32", "normal")).all()))

    def test_one_biased_input_is_enough_to_lose_the_precision_gate(self):
        x, w = Tensor({"name": "x", "dtype": "f32"}), Tensor(
            {"name": "w", "dtype": "f32", "families": ["positive"]})
        index = Tensor({"name": "i", "dtype": "i64", "families": ["sorted"]})
        self.assertTrue(values.is_unbiased([x, index], "normal"))
        self.assertFalse(values.is_unbiased([x, w], "normal"))
        self.assertFalse(values.is_unbiased([x], "log_uniform"))

    def test_small_integer_types_do_not_wrap(self):
        x = draw("i8", "normal").double()
        self.assertGreater(float(x.std()), 50.0)
        self.assertLessEqual(float(draw("u8", "normal").double().max()), 255.0)


class Seeds(unittest.TestCase):
    def test_the_same_name_gives_the_same_values(self):
        self.assertTrue(bool((draw("f32", "normal", 9, 3) == draw("f32", "normal", 9, 3)).all()))

    def test_seed_slot_and_input_name_all_matter(self):
        base = draw("f32", "normal", 9, 3, "a")
        for other in (draw("f32", "normal", 10, 3, "a"), draw("f32", "normal", 9, 4, "a"),
                      draw("f32", "normal", 9, 3, "b")):
            self.assertLess(float((base == other).double().mean()), 0.01)

    def test_an_existing_tensor_is_filled_in_place(self):
        tensor = Tensor({"name": "x", "dtype": "bf16"})
        out = torch.zeros(SHAPE, dtype=torch.bfloat16)
        values.draw(tensor, SHAPE, "normal", 1, 0, CPU, out)
        self.assertTrue(bool((out == draw("bf16", "normal")).all()))

    def test_an_empty_shape_draws_nothing(self):
        tensor = Tensor({"name": "x", "dtype": "f32"})
        for family in values.FAMILIES:
            x = values.draw(tensor, (0, 5), family, 1, 0, CPU)
            self.assertEqual(tuple(x.shape), (0, 5))


if __name__ == "__main__":
    unittest.main()
