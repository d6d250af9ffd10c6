import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.transpose(1, 2)[:, ::2]


def get_inputs():
    return [torch.rand(4, 30, 20)]


def get_init_inputs():
    return []
