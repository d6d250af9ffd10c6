# SPDX-License-Identifier: MIT
"""ce-coord redact: references and transcripts leave the file, hashes and scores stay, reports go on."""
import json

from ce import exits, expect, main
from fake_server import Server
from providers import KEY, PROBLEM, evaluate, gold


def blobs(place, sql):
    """Stored bytes (packed) of texts, in pieces that must not be found again."""
    return [row[0] for row in place.rows("SELECT data FROM artifact WHERE length(data) > 40 AND hash IN (" + sql + ")")]


def traced(place, packed):
    """Is a piece of the packed text anywhere in the database's files?"""
    piece = packed[len(packed) // 2:len(packed) // 2 + 32]
    return any(piece in path.read_bytes() for path in place.dir.glob("ce.db*"))


def test_texts_go_and_reports_stay(place):
    server = Server(place, gold(), KEY)
    exits(evaluate(place, f"claude-opus-5-5@{server.base}"), 0)
    task = place.rows("SELECT id FROM task WHERE kind = 'synthesize'")[0][0]
    texts = ("SELECT reference AS hash FROM problem UNION SELECT prompt FROM problem UNION "
             "SELECT prompt FROM model_call UNION SELECT answer FROM model_call")
    secret = blobs(place, texts)
    kernel = blobs(place, "SELECT source FROM task WHERE source IS NOT NULL")
    expect(len(secret) >= 6 and kernel, len(secret))
    expect(all(traced(place, packed) for packed in secret + kernel))
    before = place.results()
    refused = place.run("redact", "latest", out=False)
    exits(refused, 2)
    expect("--yes" in refused.stderr, refused.stderr)
    expect(all(traced(place, packed) for packed in secret), "a refused redact removes texts")
    done = place.run("redact", "latest", "--yes", out=False)
    exits(done, 0)
    expect("is redacted" in done.stdout, done.stdout)
    expect(not any(traced(place, packed) for packed in secret), "texts are left in the file")
    gone = place.rows(f"SELECT count(*) FROM ({texts})")[0][0] + 1  # and what the interview's answer says
    expect(place.count("artifact", "length(data) = 0") == gone, gone)
    expect(all(traced(place, packed) for packed in kernel), "kernels went too")
    again = place.run("redact", "latest", "--yes", out=False)
    exits(again, 0)
    expect("redacted before" in again.stdout, again.stdout)
    board = place.run("leaderboard", "latest", out=False)
    exits(board, 0)
    expect("redacted: " in board.stdout, board.stdout)
    after = json.loads(place.run("leaderboard", "latest", "--format", "json", out=False).stdout)
    expect(after["run"]["redacted"] is True and before["run"]["redacted"] is False)
    expect(after["tasks"] == before["tasks"], "scores or hashes changed")
    shown = place.run("inspect", task, "--show", "answers", out=False)
    exits(shown, 0)
    expect("(redacted)" in shown.stdout, shown.stdout)
    exits(place.run("inspect", task, "--show", "source", out=False), 0)
    expect("redacted" in place.run("status", "latest", out=False).stdout)
    exits(place.run("eval", "--resume", "latest"), 0)  # complete: it only reports
    replay = place.run("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", "replay:latest")
    exits(replay, 2)
    expect("redacted" in replay.stderr, replay.stderr)


def test_a_later_run_has_its_texts(place):
    """The same problem again after a redaction: content-addressed texts come back with it."""
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", PROBLEM), 0)
    exits(place.run("redact", "latest", "--yes", out=False), 0)
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", PROBLEM), 0)
    expect(place.count("run", "state = 'complete'") == 2)


def test_an_unfinished_run_cannot_go_on(place):
    server = Server(place, {"rules": [{"steps": [{"error": "quota"}]}]}, KEY)
    exits(evaluate(place, f"claude-opus-5-5@{server.base}"), 5)
    exits(place.run("redact", "latest", "--yes", out=False), 0)
    refused = place.run("eval", "--resume", "latest")
    exits(refused, 2)
    expect("was redacted" in refused.stderr, refused.stderr)


if __name__ == "__main__":
    main(globals())
