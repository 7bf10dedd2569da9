#!/usr/bin/env bash
# Tests what watches the service: the rules of Prometheus, each alert with its cases and its runbook, and the dashboard.
# Prometheus then scrapes a service under load, and has to find every series that rules and panels ask for.
#
#   scripts/test-alerts.sh [BINARY]   (target/debug/dwar by default)
#
# Needs Prometheus and promtool, which it installs as root on Debian or Ubuntu (package prometheus), and python3.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/apt.sh

rules=packaging/prometheus
export PYTHONDONTWRITEBYTECODE=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

has_prometheus() {
    command -v prometheus >/dev/null && command -v promtool >/dev/null
}

has_prometheus || apt_install_unstarted --no-install-recommends prometheus
if ! has_prometheus; then
    echo "test-alerts.sh: !!! LEFT OUT: everything; the package prometheus is needed !!!"
    [ -z "${CI:-}" ]
    exit
fi
promtool check config --syntax-only "$rules/prometheus.yml"
promtool check rules "$rules/dwar.rules.yml"
promtool test rules "$rules/dwar.rules.test.yml"
python3 tests/alerts/check.py
python3 tests/alerts/live.py "${1:-${CARGO_TARGET_DIR:-$PWD/target}/debug/dwar}" "$scratch"
