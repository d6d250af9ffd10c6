# SPDX-License-Identifier: MIT
import torch


def reference(a, b):
    return torch.sigmoid(a) * b
