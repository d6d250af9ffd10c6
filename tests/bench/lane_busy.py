# SPDX-License-Identifier: MIT
"""How busy a device lane is while every model answer takes 20 s: real processes, mock provider, `fake` device whose
launches take their time. By hand: CE_BIN=build/dev/bin CE_SRC=. python3 tests/bench/lane_busy.py [SAMPLES [DELAY_MS [WORDS…]]]

Busy is the time in which a task holds the lane, of the time from the first such moment to the last one, with the first and
the last tenth left out: there the lane waits for the first answers, or nothing is left to do.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "service"))
from ce import Place, exits  # noqa: E402

LATENCY_MS = 20000


def busy(spans):
    first, last = min(s for s, _ in spans), max(e for _, e in spans)
    begin, end = first + (last - first) * 0.1, last - (last - first) * 0.1
    return sum(max(0, min(e, end) - max(s, begin)) for s, e in spans) / (end - begin), (last - first) / 1000


def main(samples=150, delay_ms=60, *words):
    place = Place()
    try:
        fake = place.write("fake.json", {"default": {"delay_ms": int(delay_ms)}})
        model = place.mock([{"gold": True, "latency_ms": LATENCY_MS}])
        done = place.run("eval", "--suite", "internal", "--model-id", model, "--only", "silu_fp16", "--samples", samples,
                         "--fake", fake, *words, timeout=1500)
        exits(done, 0)
        rows = place.rows("SELECT s.finished_ms - s.device_ms, s.finished_ms FROM stage_result s JOIN task t ON t.id = s.task "
                          "WHERE t.kind = 'synthesize' AND s.device_ms > 0")
        tasks = place.count("task", "kind = 'synthesize'")
        share, wall = busy(rows)
        held = sum(end - start for start, end in rows) / 1000 / tasks
        print(f"{tasks} tasks, {held:.2f} s of the lane each, {wall:.0f} s from first to last: busy {100 * share:.1f} %")
    finally:
        place.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
