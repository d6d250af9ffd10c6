# SPDX-License-Identifier: MIT
import torch

MASK = 0xFFFFFFFF


def product(a, b):
    # high and low 32 bits; the 64-bit product wraps, which changes neither
    both = a * b
    return (both >> 32) & MASK, both & MASK


def words(seed, offset, n):
    counter = offset + torch.arange((n + 3) // 4, dtype=torch.int64, device=seed.device)
    c0, c1 = counter & MASK, (counter >> 32) & MASK
    c2 = c3 = torch.zeros_like(counter)
    k0, k1 = seed & MASK, (seed >> 32) & MASK
    for _ in range(10):
        high0, low0 = product(c0, 0xD2511F53)
        high1, low1 = product(c2, 0xCD9E8D57)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return torch.stack((c0, c1, c2, c3), dim=-1).reshape(-1)[:n]


def reference(x, seed, offset, p):
    uniform = (words(seed, offset, x.shape[0]) >> 8).to(x.dtype) * 2.0 ** -24
    return torch.where(uniform >= p, x * (1.0 / (1.0 - p)), torch.zeros_like(x))
