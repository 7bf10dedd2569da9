"""Loads a service that a Prometheus of its own scrapes, then queries Prometheus for every expression of the dashboard
and the rules. An expression without a series fails: it would show nothing and never fire.

live.py BINARY SCRATCH
"""

import json
import math
import re
import socket
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

from check import DASHBOARD, RULES, panels
from world import METRICS_TOKEN, Outside, People, Service, call

EXAMPLE = RULES.with_name("prometheus.yml")
# Counters are written every 15 s by some loops; the slowest machine of CI gets the rest.
PATIENCE = 75
# A comparison drops series for which it is false; with `bool` it returns 0 or 1.
COMPARISON = re.compile(r"(==|!=|<=|>=|<(?!=)|>(?!=))(?! bool)(?=\s*[\d(a-z-])")
SELECTOR = re.compile(r"\b(?:dwar_\w+|process_\w+|up)\b(?:\{[^}]*\})?")


class Prometheus:
    """A Prometheus with the example configuration and our rules, which scrapes every second."""

    def __init__(self, folder, port, target):
        (folder / "token").write_text(METRICS_TOKEN, encoding="utf-8")
        example = EXAMPLE.read_text(encoding="utf-8")
        config = example.replace("/etc/prometheus/dwar-token", str(folder / "token"))
        config = re.sub(r"127\.0\.0\.1:\d+", target, config).replace("dwar.rules.yml", str(RULES))
        config = re.sub(r"(scrape|evaluation)_interval: \w+", r"\1_interval: 1s", config)
        (folder / "prometheus.yml").write_text(config, encoding="utf-8")
        self.base = f"http://127.0.0.1:{port}"
        with open(folder / "prometheus.log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
                 f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)

    def ask(self, path, **query):
        status, answer = call(f"{self.base}/api/v1/{path}?{urllib.parse.urlencode(query)}")
        if status != 200:
            raise SystemExit(f"{query}: {answer.get('error')}")
        return answer["data"]

    def finds(self, expression):
        """Whether there is a series whose value is a number."""
        found = self.ask("query", query=expression)["result"]
        return any(not math.isnan(float(one["value"][1])) for one in found)

    def rules(self):
        """Every alert, its expression as Prometheus has read it."""
        for _ in range(100):
            try:
                groups = self.ask("rules")["groups"]
            except OSError:
                groups = []
            if groups:
                return {rule["name"]: rule["query"] for group in groups for rule in group["rules"]}
            time.sleep(0.1)
        raise SystemExit("Prometheus does not start")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


def asked_by_dashboard():
    """Every expression of a panel or of a variable, as Grafana queries it with all values selected."""
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    for panel in panels(dashboard):
        for target in panel["targets"]:
            yield f"panel {panel['title']}", grafana(target["expr"])
    for variable in dashboard["templating"]["list"]:
        found = re.fullmatch(r"label_values\((.+), \w+\)", variable["query"]["query"]) \
            if variable["type"] == "query" else None
        if found:
            yield f"variable {variable['name']}", found[1]


def grafana(expression):
    for name, value in (("$__rate_interval", "15s"), ("$__range", "1m"), ("$instance", ".*")):
        expression = expression.replace(name, value)
    return expression


def asked_by_rules(rules):
    """Every selector of each rule, and the whole of it without its comparisons."""
    for name, query in rules.items():
        yield f"alert {name}", COMPARISON.sub(r"\1 bool", query)
        for selector in SELECTOR.findall(query):
            yield f"alert {name}", selector


def free_ports(number):
    sockets = [socket.socket() for _ in range(number)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_for(prometheus, asked):
    """Queries until every expression finds something; returns those that never do."""
    deadline = time.monotonic() + PATIENCE
    while asked and time.monotonic() < deadline:
        time.sleep(2)
        asked = [one for one in asked if not prometheus.finds(one[1])]
    return asked


def main(binary, folder):
    api, metrics, own = free_ports(3)
    outside = Outside()
    running = []
    try:
        service = Service(binary, folder, outside, (api, metrics))
        running.append(service)
        outside.service = service.base
        service.ready()
        prometheus = Prometheus(folder, own, f"127.0.0.1:{metrics}")
        running.append(prometheus)
        people = People(service, outside)
        people.start()
        running.append(people)
        asked = sorted({*asked_by_dashboard(), *asked_by_rules(prometheus.rules())})
        began = time.monotonic()
        empty = wait_for(prometheus, asked)
        if not people.is_alive():
            sys.exit("the people who log in have stopped:\n" + (folder / "log").read_text(encoding="utf-8"))
        if empty:
            sys.exit("\n".join(f"finds nothing: {where}: {expression}" for where, expression in empty))
        print(f"  {len(asked)} expressions of dashboard and rules find series, after {time.monotonic() - began:.0f} s")
    finally:
        for one in reversed(running):
            one.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
