#!/usr/bin/env bash
# Runs the dashboard in headless Chromium. Needs node, npm and Chromium (CHROMIUM, or the one on the path); its two
# packages are installed beside this file, as package-lock.json says. On SQLite, and with DWAR_TEST_POSTGRES_URL and
# psql on PostgreSQL too. With --smoke the playground alone, on SQLite.
#
# usage: run.sh [--smoke] [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
smoke=""
[ "${1:-}" != --smoke ] || { smoke=1; shift; }
here=$(cd "$(dirname "$0")" && pwd)
DWAR=$(realpath "${1:-$here/../../target/debug/dwar}")
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
export DWAR CHROMIUM
cd "$here"
npm ci --silent --no-audit --no-fund
suites=(./*.test.mjs)
[ -z "$smoke" ] || suites=(./playground.test.mjs)

# on DATABASE [SERVER]
on() {
    echo "the dashboard in a browser, on $1"
    BROWSER_POSTGRES_URL=${2:-} node --test --test-concurrency=1 "${suites[@]}"
}

failed=0
other=""
if [ -z "$smoke" ] && [ -n "${DWAR_TEST_POSTGRES_URL:-}" ] && command -v psql >/dev/null; then
    # At the same time: a browser waits more than it works.
    said=$(mktemp)
    on PostgreSQL "$DWAR_TEST_POSTGRES_URL" >"$said" 2>&1 &
    other=$!
fi
on SQLite || failed=1
if [ -n "$other" ]; then
    wait "$other" || failed=1
    cat "$said"
    rm "$said"
fi
exit "$failed"
