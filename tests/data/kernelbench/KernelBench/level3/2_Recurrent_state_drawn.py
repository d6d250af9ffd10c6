import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 16, batch_first=True)

    def forward(self, x, h0=None, c0=None):
        if h0 is None:
            h0 = torch.randn(1, x.size(0), 16, device=x.device)
        if c0 is None:
            c0 = torch.randn(1, x.size(0), 16, device=x.device)
        return self.lstm(x, (h0, c0))[0][:, -1]


def get_inputs():
    return [torch.rand(3, 9, 8)]


def get_init_inputs():
    return []
