# SPDX-License-Identifier: MIT
"""Each value family keeps its promise, on every dtype."""

import unittest

import support
import torch
import values
from problem import DTYPES, Tensor

SHAPE = (257, 129)
CPU = torch.device("cpu")


def draw(dtype, family, seed=1, slot=0, name="x"):
    tensor = Tensor({"name": name, "dtype": dtype})
    return values.draw(tensor, SHAPE, family, seed, slot, CPU)


class Families(unittest.TestCase):
    def test_every_family_fills_every_dtype_with_finite_values(self):
        for dtype in DTYPES:
            for family in values.FAMILIES:
                with self.subTest(dtype=dtype, family=family):
                    x = draw(dtype, family)
                    self.assertEqual(x.dtype, DTYPES[dtype])
                    self.assertEqual(tuple(x.shape), SHAPE)
                    self.assertTrue(bool(torch.isfinite(x.double()).all()))

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
