# SPDX-License-Identifier: MIT
"""ce-coord evidence: a real run is packed and verified; tampering of every kind is refused; no key gets out."""
import hashlib
import json
import os
import shutil
import subprocess

from ce import BIN, SRC, Skip, exits, expect, main

H200 = SRC / "docs/evidence/2026-11-30-h200-main-job/ce.db"
PLANTED = ("sk-ant-api03-PLANTED0123456789abcdefghij", "an-own-secret-91e4")


def coord(place, *words, env=None):
    return subprocess.run([str(BIN / "ce-coord"), *map(str, words)], capture_output=True, text=True, cwd=place.dir,
                          stdin=subprocess.DEVNULL, timeout=120, env={**os.environ, **(env or {})})


def verify(place, pack, *words):
    return coord(place, "evidence", "verify", pack, *words)


def packed(place, run="latest", name="pack", *words, env=None):
    pack = place.dir / name
    done = coord(place, "evidence", "pack", run, "--out", pack, "--db", place.db, *words, env=env)
    exits(done, 0)
    return pack, done


def h200(place):
    """The published run on an H200, in a database of today's schema."""
    shutil.copyfile(H200, place.db)
    exits(coord(place, "redact", "none", "--yes", "--db", place.db), 2)  # opening it brings it up to date
    return packed(place)


# ---- an attacker's tools ----
def seal(pack):
    """Writes sizes and hashes anew, as one would who changes a pack and knows the format."""
    path = pack / "manifest.json"
    manifest = json.loads(path.read_text())
    files = sorted(str(p.relative_to(pack)) for p in pack.rglob("*") if p.is_file())
    manifest["files"] = [{"path": f, "size": (pack / f).stat().st_size,
                          "sha256": hashlib.sha256((pack / f).read_bytes()).hexdigest()}
                         for f in files if f not in ("manifest.json", "manifest.json.sig")]
    path.write_text(json.dumps(manifest, indent=2) + "\n")


def rows(pack, table):
    return [json.loads(line) for line in (pack / f"data/{table}.jsonl").read_text().splitlines()]


def put_rows(pack, table, values):
    text = "".join(json.dumps(v, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n" for v in values)
    (pack / f"data/{table}.jsonl").write_text(text)


def edit(table, change, where=lambda row: True, every=False):
    """A tamperer: changes the first row (or every row) that fits."""
    def tamper(pack):
        values = rows(pack, table)
        hits = [row for row in values if where(row)]
        expect(hits, f"nothing to change in {table}")
        for row in hits if every else hits[:1]:
            change(row)
        put_rows(pack, table, values)
        seal(pack)
    return tamper


def drop(table, where=lambda row: True):
    def tamper(pack):
        values = rows(pack, table)
        doomed = next(row for row in values if where(row))
        put_rows(pack, table, [row for row in values if row is not doomed])
        seal(pack)
    return tamper


def replace(path, old, new, sealed=True):
    def tamper(pack):
        text = (pack / path).read_bytes()
        expect(old in text, f"{old} is not in {path}")
        (pack / path).write_bytes(text.replace(old, new, 1))
        if sealed:
            seal(pack)
    return tamper


def put_blob(pack, data):
    """A new artifact, known to the index."""
    name = hashlib.sha256(data).hexdigest()
    (pack / "blobs" / name).write_bytes(data)
    put_rows(pack, "artifact", sorted(rows(pack, "artifact") + [{"hash": name, "size": len(data)}],
                                      key=lambda row: row["hash"]))
    return name


def is_timed(row):
    return row.get("kind") == "synthesize" and row.get("speedup")


def faster_everywhere(pack):
    """Samples, median, result: all of one story, but not of what the node recorded."""
    task = next(row for row in rows(pack, "task") if is_timed(row))
    values = rows(pack, "measurement")
    mine = next(m for m in values if m["task"] == task["id"] and m["side"] == "candidate")
    half = [x / 2 for x in json.loads((pack / "blobs" / mine["samples"]).read_text())]
    mine["samples"] = put_blob(pack, json.dumps(half).encode())
    mine["median_ms"] /= 2
    put_rows(pack, "measurement", values)
    edit("task", lambda row: row.update(speedup=row["speedup"] * 2, candidate_ms=row["candidate_ms"] / 2), is_timed)(pack)


def other_kernel(pack):
    name = put_blob(pack, b"extern \"C\" __global__ void other() {}\n")
    edit("task", lambda row: row.update(source=name), is_timed)(pack)


def hide_samples(pack):
    name = rows(pack, "measurement")[0]["samples"]
    (pack / "blobs" / name).unlink()
    edit("artifact", lambda row: row.update(withheld="redacted in the database"), lambda row: row["hash"] == name)(pack)


def hide_without_reason(pack):
    name = rows(pack, "measurement")[0]["samples"]
    (pack / "blobs" / name).unlink()
    edit("artifact", lambda row: row.update(withheld="too large"), lambda row: row["hash"] == name)(pack)


def forget_a_problem_task(pack):
    task = next(row["id"] for row in rows(pack, "task") if row["kind"] == "synthesize")
    for table in ("lease", "stage_result", "model_call", "attempt", "measurement", "event"):
        put_rows(pack, table, [row for row in rows(pack, table) if row.get("task") != task])
    put_rows(pack, "task", [row for row in rows(pack, "task") if row["id"] != task])
    seal(pack)


def one_more_blob(pack):
    put_blob(pack, b"nobody names this")
    seal(pack)


def link_instead_of_file(pack):
    (pack / "run.json").rename(pack.parent / "elsewhere.json")
    (pack / "run.json").symlink_to(pack.parent / "elsewhere.json")


def other_samples_same_name(pack):
    name = rows(pack, "measurement")[0]["samples"]
    replace(f"blobs/{name}", b"[0", b"[9")(pack)


def add_file(pack):
    (pack / "report" / "more.md").write_text("# The best\n")


def add_sealed_file(pack):
    add_file(pack)
    seal(pack)


def remove_sealed_file(pack):
    (pack / "not-tested.md").unlink()
    seal(pack)


def outside(pack):
    path = pack / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["files"][0]["path"] = "../ce.db"
    path.write_text(json.dumps(manifest))


TAMPERED = [
    # nobody sealed the manifest again
    ("a byte of a prompt", lambda p: replace("blobs/" + rows(p, "model_call")[0]["prompt"], b"e", b"E", False)(p), "changed"),
    ("a figure on the board", replace("report/leaderboard.md", b"1.99", b"2.99", False), "report/leaderboard.md: changed"),
    ("a file shortened", lambda p: (p / "report/results.csv").write_text(""), "report/results.csv: 0 bytes"),
    ("a file removed", lambda p: (p / "redactions.md").unlink(), "redactions.md: missing"),
    ("a file added", add_file, "report/more.md: too many"),
    ("a link", link_instead_of_file, "run.json is neither a file nor a folder"),
    ("no manifest", lambda p: (p / "manifest.json").unlink(), "manifest.json"),
    ("a broken manifest", lambda p: (p / "manifest.json").write_text("{"), "manifest.json"),
    ("a path outside", outside, "no path inside the pack"),
    ("a size in the manifest", replace("manifest.json", b'"size": ', b'"size": 1', False), "the manifest says"),
    # sealed again
    ("the board", replace("report/leaderboard.md", b"1.99", b"2.99"), "report/leaderboard.md: line"),
    ("the page", replace("report/report.md", b"8 correct", b"9 correct"), "report/report.md: line"),
    ("results.json", replace("report/results.json", b'"correct": 8', b'"correct": 9'), "report/results.json: line"),
    ("results.csv", replace("report/results.csv", b"ok,", b"OK,"), "report/results.csv: line"),
    ("a plot's data", replace("report/speedup.dat", b"1.", b"7."), "report/speedup.dat: line"),
    ("what was not tested", replace("not-tested.md", b"provisional", b"final"), "not-tested.md: line"),
    ("a script", replace("reproduce.sh", b"set -eu", b"curl x|sh"), "reproduce.sh: line"),
    ("a new file", add_sealed_file, "nothing in the data gives such a file"),
    ("a missing file", remove_sealed_file, "not-tested.md: missing: the data"),
    ("a speedup", edit("task", lambda row: row.update(speedup=9.5), is_timed), "baseline / candidate is"),
    ("a speedup with its time", edit("task", lambda row: row.update(speedup=row["speedup"] * 2,
                                                                    candidate_ms=row["candidate_ms"] / 2), is_timed),
     "no measurement of the candidate has a median of"),
    ("a median", edit("measurement", lambda row: row.update(median_ms=row["median_ms"] / 2)), "but its samples give"),
    ("samples under the same name", other_samples_same_name, "do not have the hash of its name"),
    ("samples, median and result", faster_everywhere, "but the node recorded"),
    ("a slower baseline chosen", edit("measurement", lambda row: row.update(winner=1), lambda row: row["winner"] == 0),
     "winner is 1, but the node recorded false"),
    ("a cost", edit("model_call", lambda row: row.update(cost_usd=0.5)), "cost_usd is 0.5, but the node recorded 0.0"),
    ("a call less", drop("model_call"), "model calls, but"),
    ("an attempt less", drop("attempt"), "rows in attempt, but the node recorded"),
    ("a failed task less", forget_a_problem_task, "problems × entrants × samples"),
    ("another kernel", other_kernel, "were never attempted"),
    ("another outcome", edit("stage_result", lambda row: row.update(outcome="wrong"),
                             lambda row: row["stage"] == "correctness"), "no correctness stage says so"),
    ("another entrant", edit("entrant", lambda row: row.update(name="my:model")), "given entrant gold, not my:model"),
    ("another contract", edit("problem", lambda row: row.update(contract=row["contract"].replace("0", "1"))),
     "does not have the hash"),
    ("another card", edit("task", lambda row: row.update(device_kind="fake"), is_timed), "a stage of it ran on cuda"),
    ("a sanitizer that never ran", edit("task", lambda row: row.update(sanitizer="clean"), is_timed), "no stage of it told this sanitizer"),
    ("tries that gained", edit("task", lambda row: row.update(lineage='[{"attempt":0,"speedup":9.0}]'), is_timed),
     "no stage of it told this lineage"),
    ("a lost end", drop("event", lambda row: row["kind"] == "done"), "its events say otherwise"),
    ("samples hidden", hide_samples, "but the run was not redacted"),
    ("samples hidden for a whim", hide_without_reason, "is no reason to withhold"),
    ("an artifact of nobody", one_more_blob, "but the run stands on"),
    ("a column of nobody", edit("task", lambda row: row.update(bribe=1)), "data/task.jsonl: line 1"),
    ("a time of zero", edit("task", lambda row: row.update(candidate_ms=0.0), is_timed), "data/task.jsonl: line"),
    ("no JSON", lambda p: ((p / "data/lease.jsonl").write_text("{\n"), seal(p)), "data/lease.jsonl: line 1"),
    ("two runs", lambda p: (put_rows(p, "run", rows(p, "run") + [{**rows(p, "run")[0], "id": "other"}]), seal(p)),
     "want one run, there are 2"),
    ("another order", lambda p: (put_rows(p, "attempt", rows(p, "attempt")[::-1]), seal(p)), "data/attempt.jsonl: line 1"),
]


def test_a_run_on_an_h200_packs_and_verifies_and_no_tampering_does(place):
    pack, told = h200(place)
    done = verify(place, pack)
    exits(done, 0)
    expect("pack holds: run" in done.stdout and "8 speedups" in done.stdout, done.stdout)
    expect("8 tasks" in done.stdout and told.stdout.split("manifest ")[1][:64] in done.stdout, told.stdout, done.stdout)
    spoilt = place.dir / "spoilt"
    refused = 0
    for what, tamper, says in TAMPERED:
        shutil.copytree(pack, spoilt)
        tamper(spoilt)
        done = verify(place, spoilt)
        exits(done, 3)
        expect("does NOT hold" in done.stdout and says in done.stdout, f"{what}: wanted: {says}", done.stdout)
        shutil.rmtree(spoilt)
        refused += 1
    expect(refused == len(TAMPERED) >= 20, refused)
    exits(verify(place, pack), 0)


def test_the_same_run_gives_the_same_bytes(place):
    pack, first = h200(place)
    (place.dir / "deeper").mkdir()
    exits(coord(place, "eval", "--suite", "internal", "--model-id", "gold", "--device", "fake", "--only", "silu_fp16",
                "--db", place.db, "--out", place.out), 0)  # the node of that name works again
    run = first.stdout.split()[1]
    again, _ = packed(place, run, "deeper/again")
    files = sorted(p.relative_to(pack) for p in pack.rglob("*") if p.is_file())
    expect(files == sorted(p.relative_to(again) for p in again.rglob("*") if p.is_file()))
    differ = [str(f) for f in files if (pack / f).read_bytes() != (again / f).read_bytes()]
    allowed = {"manifest.json", "data/node.jsonl", "system.json"}  # the node's facts were replaced in between
    expect(set(differ) <= allowed, differ)
    once_more, _ = packed(place, run, "once-more")
    differ = [str(f) for f in files if (once_more / f).read_bytes() != (again / f).read_bytes()]
    expect(not differ, differ)


def test_a_planted_key_is_in_no_pack(place):
    problem = "vector_add_fp32"
    answer = f"my key is {PLANTED[0]} and {PLANTED[1]}"
    model = place.mock([{"text": answer}])
    exits(place.run("eval", "--suite", "internal", "--model-id", model, "--only", problem), 0)
    expect(place.count("model_call") > 0)
    pack, told = packed(place, "latest", "pack", env={"LAB_API_KEY": PLANTED[1]})
    expect("withheld" in told.stdout, told.stdout)
    for path in pack.rglob("*"):
        for key in PLANTED:
            expect(path.is_dir() or key.encode() not in path.read_bytes(), f"{key} is in {path}")
    expect("it may hold a key" in (pack / "redactions.md").read_text())
    done = verify(place, pack)
    exits(done, 0)
    expect("withheld" in done.stdout, done.stdout)


def test_a_redacted_run_packs_and_says_what_is_gone(place):
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", "silu_fp16"), 0)
    exits(place.run("redact", "latest", "--yes", out=False), 0)
    pack, _ = packed(place)
    expect("redacted in the database" in (pack / "redactions.md").read_text())
    exits(verify(place, pack), 0)


def test_a_validation_packs_and_verifies(place):
    exits(coord(place, "suite", "validate", "silu_fp16", "--device", "fake", "--db", place.db, "--out", place.out), 3)
    expect(place.count("run", "kind = 'validate'") == 1)
    pack, _ = packed(place)
    exits(verify(place, pack), 0)
    expect("ce-coord suite validate --suite internal" in (pack / "reproduce.sh").read_text())


def test_a_signature_is_made_and_checked(place):
    if not shutil.which("ssh-keygen"):
        raise Skip("no ssh-keygen")
    for name in ("key", "other"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", place.dir / name], check=True)
    allowed = place.write("allowed", "me@example.org " + (place.dir / "key.pub").read_text())
    shutil.copyfile(H200, place.db)
    exits(coord(place, "redact", "none", "--yes", "--db", place.db), 2)
    pack, _ = packed(place, "latest", "pack", "--sign", place.dir / "key")
    signer = ("--signers", allowed, "--identity", "me@example.org")
    done = verify(place, pack, *signer)
    exits(done, 0)
    expect(", signed" in done.stdout, done.stdout)
    exits(verify(place, pack), 0)
    sealed = pack / "manifest.json"
    text = sealed.read_text()
    sealed.write_text(text.replace('"packed_by"', '"packed_By"'))
    done = verify(place, pack, *signer)
    exits(done, 3)
    expect("ssh-keygen says" in done.stdout, done.stdout)
    sealed.write_text(text)
    (pack / "manifest.json.sig").unlink()
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", place.dir / "other", "-n", "ce-evidence", sealed], check=True)
    exits(verify(place, pack), 0)  # somebody signed it
    done = verify(place, pack, *signer)  # but not me
    exits(done, 3)
    (pack / "manifest.json.sig").unlink()
    done = verify(place, pack)
    exits(done, 3)
    expect("missing, and the manifest says that it is signed" in done.stdout, done.stdout)
    sealed.write_text(text.replace('"signed": true', '"signed": false'))
    done = verify(place, pack, *signer)
    exits(done, 3)
    expect("is not signed" in done.stdout, done.stdout)


def test_a_page_tells_how_to_check(place):
    shutil.copyfile(H200, place.db)
    exits(coord(place, "redact", "none", "--yes", "--db", place.db), 2)
    checkout = shutil.which("git") and subprocess.run(["git", "-C", SRC, "rev-parse", "HEAD"], capture_output=True)
    known = checkout and checkout.returncode == 0
    pack, told = packed(place, "latest", "pack", "--doc", place.dir / "page.md", *(("--source", SRC) if known else ()))
    page = (place.dir / "page.md").read_text()
    manifest = told.stdout.split("manifest ")[1][:64]
    expect(manifest in page and "evidence verify" in page and "# What was not tested" in page, page[:2000])
    code = json.loads((pack / "code.json").read_text())
    if known:
        expect(code["commit"] == checkout.stdout.decode().strip() and isinstance(code["dirty"], bool), code)
    else:
        expect(code["commit"] is None and "--source" in code["reason"], code)
    exits(verify(place, pack, "--manifest", manifest), 0)
    done = verify(place, pack, "--manifest", "0" * 64)
    exits(done, 3)
    expect("another pack" in done.stdout, done.stdout)


def test_a_gate_tells_what_is_worse(place):
    run = ("eval", "--suite", "internal", "--only", "vector_add_fp32,silu_fp16", "--model-id", "gold")
    exits(place.run(*run), 0)
    first = place.rows("SELECT id FROM run")[0][0]
    exits(place.run(*run), 0)
    heard = place.dir / "heard"
    done = coord(place, "gate", "latest", "--against", first, "--db", place.db, "--hook",
                 f"echo $CE_EVENT $CE_STATE $CE_CODE $CE_MESSAGE > {heard}; cat >> {heard}; exit 9")
    exits(done, 0)
    expect("no regression" in done.stdout, done.stdout)
    words, document = heard.read_text().splitlines()
    document = json.loads(document)
    expect(words == "gate good 0 " + document["message"] and "*" not in words, words)
    expect(document["run"] == place.rows("SELECT id FROM run ORDER BY created_ms DESC, id DESC")[0][0], document)
    expect("the hook for gate failed" in done.stderr, done.stderr)
    lenient = place.write("lenient.yaml", "pass_alpha: 1\n")
    model = place.mock([{"text": "I give up"}])
    exits(place.run(*run[:-1], model), 0)
    done = coord(place, "gate", "latest", "--against", first, "--db", place.db)
    exits(done, 2)
    expect("no entrant" in done.stderr, done.stderr)
    done = coord(place, "gate", "latest", "--db", place.db)
    exits(done, 2)
    expect("--against" in done.stderr, done.stderr)
    exits(coord(place, "gate", first, "--against", first, "--rules", lenient, "--db", place.db), 0)


def test_a_report_is_one_page_and_the_same_again(place):
    shutil.copyfile(H200, place.db)
    exits(coord(place, "redact", "none", "--yes", "--db", place.db), 2)
    run, before = (row[0] for row in place.rows("SELECT id FROM run ORDER BY created_ms DESC"))
    for name in ("one", "two"):
        exits(coord(place, "report", run, "--against", before, "--out", place.dir / name, "--db", place.db), 0)
    page = (place.dir / "one/report.md").read_bytes()
    expect(len(page) <= 64 * 1024 and page == (place.dir / "two/report.md").read_bytes())
    sums = [line for line in page.decode().splitlines() if line[:64].isalnum() and line[64:66] == "  "]
    expect(len(sums) >= 9, sums)
    for line in sums:
        data = (place.dir / "one" / line[66:]).read_bytes()
        expect(hashlib.sha256(data).hexdigest() == line[:64], line)
    done = coord(place, "report", run, "--db", place.db)
    exits(done, 2)
    expect("--out DIR" in done.stderr, done.stderr)


def test_mistakes_are_told(place):
    pack, _ = h200(place)
    for words, code, says in (
            (("evidence", "pack", "latest", "--db", place.db), 2, "--out DIR"),
            (("evidence", "pack", "latest", "--db", place.db, "--out", pack), 2, "not empty"),
            (("evidence", "pack", "nothing", "--db", place.db, "--out", place.dir / "new"), 2, "nothing"),
            (("evidence", "verify", place.dir / "absent"), 2, "absent"),
            (("evidence", "verify", pack, "--out", "x"), 2, "--out"),
            (("evidence", "verify", pack, "--manifest", "12"), 2, "64 hex digits"),
            (("evidence", "verify", pack, "--signers", "x"), 2, "go together"),
            (("evidence", "bless", pack), 2, "evidence")):
        done = coord(place, *words)
        exits(done, code)
        expect(says in done.stderr, words, done.stderr)


main(globals())
