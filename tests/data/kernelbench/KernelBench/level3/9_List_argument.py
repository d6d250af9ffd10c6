import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, xs):
        return xs[0] + xs[1]


def get_inputs():
    return [[torch.rand(4), torch.rand(4)]]


def get_init_inputs():
    return []
