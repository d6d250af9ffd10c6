# SPDX-License-Identifier: MIT
"""What is shipped for Prometheus and Grafana, against the real Prometheus and Grafana's published schema."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse

import ce
from ce import expect
from live import free_port, get, model, stored_results, wait_for_page

SDK = os.environ.get("CE_SDK_ROOT", "/opt/ce-sdks")
RULES = ce.SRC / "dashboards/prometheus/ce-alerts.yml"
BOARDS = sorted(glob.glob(str(ce.SRC / "dashboards/grafana/dashboards/*.json")))


def tool(name):
    if not shutil.which(name):
        raise ce.Skip(f"{name} is not installed")
    return name


def start_run(place):
    """A run with three finished tasks that does not end by itself."""
    port = free_port()
    place.start("eval", "--suite", "internal", "--model-id", model(place), "--model-id",
                model(place, "slow.json", 60000), "--limit", 3, "--budget-usd", 5, "--http", port)
    wait_for_page(place, port)
    place.wait("three results", lambda: sum(stored_results(place).values()) == 3)
    place.wait("them in the totals", lambda: "ce_results_total" in get(port, "/metrics")[1])
    return port


def names_of(text):
    """Metrics that an expression or an exposition speaks of."""
    return set(re.findall(r"\bce_[a-z_]+", text))


def test_the_exposition_and_the_rules_are_clean(place):
    tool("promtool")
    port = start_run(place)
    for path in ("/metrics",):
        text = get(port, path)[1]
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
        expect(checked.returncode == 0 and not checked.stderr.strip(), checked.stdout, checked.stderr, text)
    checked = subprocess.run(["promtool", "check", "config", str(RULES.parent / "prometheus.yml")],
                             capture_output=True, text=True)
    expect(checked.returncode == 0, checked.stdout, checked.stderr)


def test_a_prometheus_scrapes_a_run_and_says_what_the_database_says(place):
    tool("prometheus")
    port, own = start_run(place), free_port()
    config = place.write("prometheus.yml", f"""
global: {{scrape_interval: 500ms, evaluation_interval: 500ms}}
rule_files: [{RULES}]
scrape_configs:
  - job_name: ce
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
""")
    log = open(place.dir / "prometheus.log", "w")
    place.children.append(server := subprocess.Popen(
        ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={place.dir / 'tsdb'}",
         f"--web.listen-address=127.0.0.1:{own}"], stdout=log, stderr=log))
    server.log = place.dir / "prometheus.log"

    def ask(query):
        try:
            status, text = get(own, "/api/v1/query?query=" + urllib.parse.quote(query))
        except OSError:
            return []
        return json.loads(text)["data"]["result"] if status == 200 else []

    def told():
        return {row["metric"]["outcome"]: int(row["value"][1]) for row in ask("ce_results_total")}

    place.wait("a scrape", lambda: ask('up{job="ce"} == 1'))
    place.wait("equal counters", lambda: told() == stored_results(place))
    rules = json.loads(get(own, "/api/v1/rules")[1])["data"]["groups"][0]["rules"]
    expect(all(rule["health"] in ("ok", "unknown") for rule in rules), rules)
    server.terminate()
    server.wait()


def test_every_expression_asks_for_a_metric_that_there_is(place):
    port = start_run(place)
    source = (ce.SRC / "dashboards/metrics.c").read_text()
    told = names_of(get(port, "/metrics")[1])
    known = told | names_of(source) | {name + "_total" for name in names_of(source)}
    asked = names_of(re.sub(r"#.*", "", RULES.read_text()))
    for board in BOARDS:
        for panel in json.load(open(board))["panels"]:
            asked |= set().union(*(names_of(target["expr"]) for target in panel["targets"]))
    asked = {re.sub("_bucket$", "", name) for name in asked}
    expect(asked <= known, "nobody tells", *sorted(asked - known))
    expect(len(told) >= 15, told)


def test_the_boards_are_of_grafanas_schema(place):
    if not os.path.isdir(SDK):
        raise ce.Skip("scripts/deps installs the SDK")
    sys.path.insert(0, SDK)
    try:
        from grafana_foundation_sdk.models.dashboard import Dashboard
    except ImportError as reason:
        raise ce.Skip(str(reason))
    uids = set()
    for name in BOARDS:
        with open(name) as f:
            stored = json.load(f)
        board = Dashboard.from_json(stored)
        uids.add(board.uid)
        expect(board.title.startswith("ce: ") and board.panels and not board.editable, name)
        ids = [panel.id_val for panel in board.panels]
        expect(len(set(ids)) == len(ids), f"{name}: an id stands twice")
        for panel in board.panels:
            expect(panel.targets and panel.datasource.uid == "ce-prometheus", f"{name}: {panel.title}")
            place_of = panel.grid_pos
            expect(place_of.x + place_of.w <= 24, f"{name}: {panel.title} is outside the page")
    expect(len(uids) == len(BOARDS) == 5, uids)


if __name__ == "__main__":
    ce.main(globals())
