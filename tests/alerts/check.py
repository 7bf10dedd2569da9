"""Fails unless each alert has its two cases and its runbook, and the dashboard can be imported unchanged.

Promtool has read the rules and their cases before, so that lines are enough to look at here.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RULES = ROOT / "packaging/prometheus/dwar.rules.yml"
CASES = ROOT / "packaging/prometheus/dwar.rules.test.yml"
DASHBOARD = ROOT / "packaging/grafana/dwar.json"
RUNBOOKS = ROOT / "docs/runbooks.md"
GRID = 24


def alerts():
    """The name of each alert, with the text of its rule."""
    parts = re.split(r"^ +- alert: (\w+)$", RULES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def cases():
    """Which alerts fire in a case, and which stay silent."""
    found = re.findall(r"alertname: (\w+)\n +exp_alerts:( \[\])?", CASES.read_text(encoding="utf-8"))
    fires = {name for name, nothing in found if not nothing}
    silent = {name for name, nothing in found if nothing}
    return fires, silent


def faults_of_alerts():
    fires, silent = cases()
    headings = re.findall(r"^## (\w+)$", RUNBOOKS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name, rule in alerts().items():
        if name not in fires:
            yield f"{name} fires in no case of {CASES.name}"
        if name not in silent:
            yield f"{name} stays silent in no case of {CASES.name}"
        if name not in headings:
            yield f"{name} has no heading in {RUNBOOKS.name}"
        if f"runbook: docs/runbooks.md#{name.lower()}" not in rule:
            yield f"{name} does not name its heading in {RUNBOOKS.name}"
    for name in set(headings) - alerts().keys():
        yield f"{RUNBOOKS.name} has a section on {name}, which is not an alert"


def panels(dashboard):
    """Every panel but the titles of rows."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def faults_of_dashboard():
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    if dashboard["id"] is not None:
        yield "the dashboard has the id of one installation"
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(ids) != len(set(ids)):
        yield "two panels have one id"
    taken = {}
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        if place["x"] + place["w"] > GRID:
            yield f"{panel['title']}: wider than the page"
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                other = taken.setdefault((x, y), panel["title"])
                if other != panel["title"]:
                    yield f"{panel['title']} covers {other}"
    for panel in panels(dashboard):
        if not panel.get("description"):
            yield f"{panel['title']}: has no description"
        if "unit" not in panel["fieldConfig"]["defaults"]:
            yield f"{panel['title']}: has no unit"
        sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
        if any(source["uid"] != "${datasource}" for source in sources):
            yield f"{panel['title']}: asks another data source than the chosen one"


def main():
    faults = sorted(set(faults_of_alerts()) | set(faults_of_dashboard()))
    if faults:
        sys.exit("\n".join(faults))
    count = len(panels(json.loads(DASHBOARD.read_text(encoding="utf-8"))))
    print(f"  {len(alerts())} alerts with two cases and a runbook each, {count} panels")


if __name__ == "__main__":
    main()
