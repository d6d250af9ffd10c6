# SPDX-License-Identifier: MIT
"""What coordinator and node add to a task beyond the stages' own work, on the fake device with gold.

One slot, so tasks run one after another: (last end - first grant - time inside stages) / tasks. The
stages' time is what their records say. Every task makes durable steps (grant, answers, stages, result), so
the disk's own sync time is printed beside it.
The target is 20 ms.
"""
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "service"))
from ce import Place, exits  # noqa: E402

TASKS = 40


def sync_ms(folder):
    """Median time of an fdatasync after a 4 KiB write."""
    handle = os.open(folder / "probe", os.O_CREAT | os.O_WRONLY)
    times = []
    for i in range(100):
        os.pwrite(handle, b"x" * 4096, i * 4096)
        began = time.perf_counter()
        os.fdatasync(handle)
        times.append((time.perf_counter() - began) * 1000)
    os.close(handle)
    return statistics.median(times)


def main():
    place = Place()
    try:
        exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", "vector_add_fp32",
                        "--samples", TASKS, "--slots", 1, timeout=300), 0)
        rows = place.rows("SELECT l.granted_ms, t.finished_ms, (SELECT sum(s.wall_ms) FROM stage_result s "
                          "WHERE s.task = t.id) FROM task t JOIN lease l ON l.task = t.id "
                          "WHERE t.kind = 'synthesize' ORDER BY 1")
        syncs = sync_ms(place.dir)
    finally:
        place.close()
    whole = (max(row[1] for row in rows) - rows[0][0]) / TASKS
    stages = sum(row[2] for row in rows) / TASKS
    gap = statistics.median(after[0] - before[1] for before, after in zip(rows, rows[1:]))
    print(f"overhead {whole - stages:.1f} ms a task (whole {whole:.1f}, stages {stages:.1f}, between tasks {gap:.0f}; "
          f"fdatasync {syncs:.2f} ms; {TASKS} tasks)")


main()
