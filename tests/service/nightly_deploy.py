# SPDX-License-Identifier: MIT
"""What starts nights: the units by systemd's own checker; the workflow by GitHub's published schema, step by step."""
import configparser
import json
import os
import pathlib
import shutil
import subprocess

from ce import BIN, PATIENCE, SRC, Skip, expect, main
from nightly import GOLD, REFUSES, nights, write

UNITS = SRC / "deploy/systemd"
WORKFLOW = SRC / "deploy/github/nightly.yml"
SCHEMA = pathlib.Path(os.environ.get("CE_SDK_ROOT", "/opt/ce-sdks"),
                      "check_jsonschema/builtin_schemas/vendor/github-workflows.json")


def workflow():
    try:
        import yaml
    except ImportError as reason:
        raise Skip(str(reason))
    return yaml.load(WORKFLOW.read_text(), yaml.BaseLoader)  # `on` is a word here, as GitHub reads it


def test_the_units_are_what_systemd_reads(place):
    if not shutil.which("systemd-analyze"):
        raise Skip("there is no systemd-analyze")
    root = place.dir / "units"
    root.mkdir()
    names = ["ce-nightly.service", "ce-nightly.timer", "ce-overdue.service", "ce-overdue.timer"]
    for name in names:
        (root / name).write_text((UNITS / name).read_text().replace("/opt/ce/bin/ce-coord", str(BIN / "ce-coord")))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *(str(root / name) for name in names)],
                          capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    ours = [line for line in done.stderr.splitlines() if "ce-" in line]
    expect(done.returncode == 0 and not ours, done.returncode, done.stderr)
    spoilt = root / "ce-nightly.timer"
    spoilt.write_text(spoilt.read_text().replace("OnCalendar=*-*-* 01:30:00", "OnCalendar=sometimes"))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(spoilt)], capture_output=True, text=True,
                          timeout=PATIENCE, stdin=subprocess.DEVNULL)
    expect("sometimes" in done.stderr, "the check can fail", done.stderr)


def test_a_missed_night_is_caught_up_and_hosts_do_not_start_together(place):
    timer = configparser.ConfigParser(strict=False)
    timer.optionxform = str
    timer.read(UNITS / "ce-nightly.timer")
    expect(timer["Timer"]["Persistent"] == "true" and timer["Timer"]["RandomizedDelaySec"] == "30min")
    service = (UNITS / "ce-nightly.service").read_text()
    expect("Type=oneshot" in service and "/etc/ce/nightly.yaml" in service)


def test_the_workflow_is_of_githubs_schema(place):
    if not SCHEMA.exists():
        raise Skip("scripts/deps installs check-jsonschema, which brings the schema")
    try:
        import jsonschema
    except ImportError as reason:
        raise Skip(str(reason))
    schema = json.loads(SCHEMA.read_text())
    checker = jsonschema.Draft7Validator(schema)
    import yaml
    read = yaml.safe_load(WORKFLOW.read_text())
    if True in read:
        read["on"] = read.pop(True)  # YAML 1.1 reads `on` as a truth
    errors = [error.message for error in checker.iter_errors(read)]
    expect(not errors, *errors)
    read["jobs"]["night"]["colour"] = "red"
    expect(list(checker.iter_errors(read)), "the check can fail")


def test_nothing_of_a_fork_reaches_the_gpu_host(place):
    read = workflow()
    job = read["jobs"]["night"]
    expect(set(read["on"]) == {"schedule", "workflow_dispatch"}, read["on"])
    expect(read["permissions"] == {} and "!github.event.repository.fork" in job["if"], job["if"])
    expect(read["concurrency"]["cancel-in-progress"] == "false" and "self-hosted" in job["runs-on"])
    for step in job["steps"]:
        expect("${{" not in step.get("run", ""), "no text of an event is put into a script", step)
        name, _, commit = step.get("uses", "x/y@" + "0" * 40).partition("@")
        expect(len(commit) == 40, f"{name} is not pinned by its commit")


def play(place, work):
    """Runs the job's steps as a runner would, stdin closed. Gives the exit code of the job."""
    read, code = workflow(), 0
    job = read["jobs"]["night"]
    summary = place.dir / "summary.md"
    for step in job["steps"]:
        always = "always()" in step.get("if", "")
        if code and not always:
            continue
        if "run" not in step:
            continue
        environment = {**os.environ, **read["env"], "CE_BIN": str(BIN), "CE_CONFIG": str(place.dir / "nightly.yaml"),
                       "GITHUB_STEP_SUMMARY": str(summary), **{key: "" for key in step.get("env", {})}}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=work,
                              capture_output=True, text=True, env=environment, timeout=5 * PATIENCE,
                              preexec_fn=lambda: os.close(0))
        print(f"  step {step['name']}: {done.returncode}")
        expect(done.returncode in (0, 3), step["name"], done.stdout, done.stderr)
        code = code or done.returncode
    return code


def test_each_step_of_the_workflow_does_what_it_says(place):
    work = place.dir / "work"
    work.mkdir()
    write(place, evidence={"pack": True})
    place.mock(GOLD)
    expect(play(place, work) == 0)
    upload = [step for step in workflow()["jobs"]["night"]["steps"] if "uses" in step][0]["with"]["path"]
    folder = next(path for path in (work / upload).iterdir() if path.is_dir())
    expect((folder / "evidence/manifest.json").exists() and (folder / "report.md").exists(), folder)
    place.mock(REFUSES)
    expect(play(place, work) == 3, "the exit code gates")
    expect(json.loads((work / "night.json").read_text())["verdict"] == "worse")
    expect("**regression**" in (place.dir / "summary.md").read_text())
    expect([row["verdict"] for row in nights(place)] == ["good", "worse"], nights(place))
    expect(len([path for path in (work / upload).iterdir() if path.is_dir()]) == 1, "only tonight's is uploaded")


if __name__ == "__main__":
    main(globals())
