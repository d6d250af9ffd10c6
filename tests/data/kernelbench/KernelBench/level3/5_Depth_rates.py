import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = [value.item() for value in torch.linspace(0, 0.5, 3)]
        self.layers = nn.ModuleList(nn.Linear(24, 24) for _ in range(3))

    def forward(self, x):
        for layer, rate in zip(self.layers, self.rates):
            x = x + layer(x) * (1 - rate)
        return x


def get_inputs():
    return [torch.rand(5, 24)]


def get_init_inputs():
    return []
