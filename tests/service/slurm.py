# SPDX-License-Identifier: MIT
"""Nodes in a real one-host Slurm (slurmctld, slurmd, munge): they join, and the walltime's warning drains them; a
second allocation takes the rest of the same tasks. Needs root and Debian's packages (scripts/deps), else it is skipped."""
import os
import re
import shutil
import socket
import subprocess
import time

from ce import BIN, Skip, expect, main
from node_killed import served

CONF = """ClusterName=ce
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.log
SlurmctldPort={ctld}
SlurmdPort={slurmd}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
ReturnToService=2
KillWait=10
NodeName={host} CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Slurm:
    def __init__(self, place):
        self.place = place
        self.dir = place.dir / "slurm"
        self.children = []
        for name in ("state", "spool"):
            (self.dir / name).mkdir(parents=True)
        conf = self.dir / "slurm.conf"
        conf.write_text(CONF.format(host=socket.gethostname().split(".")[0], dir=self.dir, ctld=free_port(),
                                    slurmd=free_port(), cpus=os.cpu_count()))
        self.env = dict(os.environ, SLURM_CONF=str(conf))
        self.munge()
        self.begin("slurmctld", "-D", "-f", str(conf))
        self.begin("slurmd", "-D", "-f", str(conf))
        place.wait("Slurm has its host", lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T"), 120)

    def begin(self, *words):
        log = open(self.dir / (words[0] + ".out"), "w")
        self.children.append(subprocess.Popen([shutil.which(words[0], path="/usr/sbin:/usr/bin"), *words[1:]], env=self.env,
                                              stdout=log, stderr=log))

    def munge(self):
        """Commands find munge at its usual socket: one that runs is used, else one is begun for the test."""
        if subprocess.run(["munge", "-n"], capture_output=True).returncode == 0:
            return
        os.makedirs("/run/munge", mode=0o755, exist_ok=True)
        shutil.chown("/run/munge", "munge", "munge")
        self.children.append(subprocess.Popen(["runuser", "-u", "munge", "--", "/usr/sbin/munged", "--foreground"],
                                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        end = time.monotonic() + 30
        while subprocess.run(["munge", "-n"], capture_output=True).returncode != 0:
            expect(time.monotonic() < end, "munge does not begin")
            time.sleep(0.2)

    def ask(self, *words):
        return subprocess.run(words, env=self.env, capture_output=True, text=True, timeout=60).stdout

    def close(self):
        self.ask("scancel", "--user=root")
        time.sleep(1)
        for child in reversed(self.children):
            child.terminate()
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def launch(place, slurm, uri, *words):
    done = subprocess.run([str(BIN / "ce-coord"), "launch", "slurm", "--coordinator", uri, "--key",
                           str(place.dir / "pool.key"), "--device", "fake", "--slots", "2", *words], cwd=place.dir,
                          env=slurm.env, capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0 and done.stdout.startswith("job "), done)
    return done.stdout.split()[1]


def test_a_walltime_ends_and_another_allocation_takes_the_rest(place):
    if os.geteuid() != 0 or not all(shutil.which(p, path="/usr/sbin:/usr/bin") for p in
                                    ("slurmctld", "slurmd", "munged", "sbatch")):
        raise Skip("needs root and slurmctld, slurmd, slurm-client, munge")
    subprocess.run([str(BIN / "ce-coord"), "keys", "new", "pool", "--keys", str(place.dir / "keys")], cwd=place.dir,
                   check=True, capture_output=True)
    slurm = Slurm(place)
    try:
        coordinator = place.start("serve", "--out", place.dir / "runs", "--bind", "curve://127.0.0.1:*", "--keys",
                                  place.dir / "keys")
        coordinator.stdout.readline()
        uri = re.search(r"curve\S+", coordinator.stdout.readline())[0]
        run = place.start("eval", "--coordinator", f"ipc://{place.db}.sock", "--suite", "internal", "--model-id",
                          place.mock([{"gold": True, "latency_ms": 1500}]), "--only", "vector_add_fp32,silu_fp16",
                          "--samples", 12)
        # One minute of walltime; the warning comes within its last 50 seconds.
        first = launch(place, slurm, uri, "--time", "1", "--warning", "50")
        place.wait("the first node works", lambda: place.count("lease", "node LIKE 'pool.%'"), 120)
        place.wait("it is drained and gone", lambda: place.count("node", "state = 'left'"), 180)
        expect(place.count("lease", "ending = 'lost'") == 0, "nothing is lost with a walltime")
        waiting = place.count("task", "state = 'waiting'")
        expect(waiting > 0, "the run was too short for this test")
        tasks = place.rows("SELECT id FROM task ORDER BY id")
        place.wait("the first job is over", lambda: first not in slurm.ask("squeue", "-h", "-o", "%i"), 120)
        launch(place, slurm, uri, "--time", "30")
        place.wait("the run is over", lambda: run.poll() is not None, 400)
        expect(run.returncode == 0, run.log.read_text())
        expect(place.rows("SELECT id FROM task ORDER BY id") == tasks, "the same tasks")
        expect(place.count("task", "state = 'done'") == len(tasks))
        twice = [call for call, times in served(place).items() if times > 1]
        expect(not twice, f"asked again: {twice}")
        expect(len({row[0] for row in place.rows("SELECT DISTINCT node FROM lease")}) == 2, "two allocations worked")
    except BaseException:
        for name in ("slurmctld.log", "slurmd.log"):
            print((slurm.dir / name).read_text()[-2000:] if (slurm.dir / name).exists() else f"no {name}")
        for out in place.dir.glob("slurm-*.out"):
            print(out.name, out.read_text()[-1500:])
        raise
    finally:
        slurm.close()


if __name__ == "__main__":
    main(globals())
