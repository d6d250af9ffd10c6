# SPDX-License-Identifier: MIT
def reference(x):
    return x.square().sum(dim=-1).sqrt()
