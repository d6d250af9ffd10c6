import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, kernel_size):
        super().__init__()
        self.pool = nn.MaxPool3d(kernel_size, stride=2, padding=1, dilation=1)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(2, 3, 12, 11, 10)]


def get_init_inputs():
    return [3]
