# SPDX-License-Identifier: MIT
def reference(x):
    return x.amax(dim=-1)
