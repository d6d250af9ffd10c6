import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, A, B):
        return torch.matmul(A.T, B.T)


def get_inputs():
    return [torch.rand(70, 40), torch.rand(30, 70)]


def get_init_inputs():
    return []
