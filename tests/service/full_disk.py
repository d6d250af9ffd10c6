# SPDX-License-Identifier: MIT
"""A disk that is really full (a small tmpfs): a clean stop, earlier rows readable, and on it goes when there is room."""
import sqlite3

from ce import exits, expect, main
from node_killed import check_nothing_twice, recorded
from spaces import CLONE_NEWNS, command, enter

PROBLEMS = "vector_add_fp32,silu_fp16"
SAMPLES = 30


def test_a_full_disk_is_a_clean_stop_and_room_lets_it_go_on(place):
    enter(CLONE_NEWNS)
    command("mount", "--make-rprivate", "/")
    disk = place.dir / "disk"
    disk.mkdir()
    command("mount", "-t", "tmpfs", "-o", "size=1536k", "none", disk)
    try:
        place.db = disk / "ce.db"
        done = place.run("eval", "--suite", "internal", "--model-id", place.mock([{"gold": True}]), "--samples", SAMPLES,
                         "--only", PROBLEMS, timeout=300)
        exits(done, 1)
        expect("full" in done.stderr and "resume with: " in done.stderr, done.stderr[-2000:])
        with sqlite3.connect(f"file:{place.db}?mode=ro", uri=True) as link:
            expect(link.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "the database is whole")
        before = recorded(place)
        tasks = place.count("task", "state = 'done'")
        expect(0 < tasks < 2 + 2 * SAMPLES and before, f"{tasks} tasks, {len(before)} answers are readable")
        command("mount", "-o", "remount,size=64m", disk)
        exits(place.run("eval", "--resume", "latest", timeout=400), 0)
        check_nothing_twice(place, before, 2 + 2 * SAMPLES)
    finally:
        command("umount", "-l", disk)


if __name__ == "__main__":
    main(globals())
