# SPDX-License-Identifier: MIT
import torch


def reference(x, bias):
    return torch.relu(x + bias)
