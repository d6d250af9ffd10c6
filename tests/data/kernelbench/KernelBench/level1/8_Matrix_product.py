import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, A, B):
        return torch.matmul(A, B)


def get_inputs():
    return [torch.rand(48, 129), torch.rand(129, 65)]


def get_init_inputs():
    return []
