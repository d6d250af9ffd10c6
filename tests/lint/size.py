# SPDX-License-Identifier: MIT
"""The tracked tree stays small enough to clone without thinking."""
import tree

LIMIT = 14 * 1024 * 1024


def main():
    sizes = {name: (tree.ROOT / name).stat().st_size for name in tree.tracked()}
    total = sum(sizes.values())
    print(f"{total / 2**20:.2f} MiB tracked, the limit is {LIMIT / 2**20:.0f} MiB")
    complaints = []
    if total > LIMIT:
        largest = sorted(sizes, key=sizes.get, reverse=True)[:10]
        complaints = [f"{name}: {sizes[name]} bytes" for name in largest]
    tree.finish(complaints, len(sizes))


main()
