#!/usr/bin/env bash
# Runs the dashboard in headless Chromium. Wants node, npm and Chromium (CHROMIUM, or the one on the
# path); its two packages are installed beside this file, as package-lock.json says. On SQLite, and with
# DWAR_TEST_POSTGRES_URL and psql on PostgreSQL too.
#
# usage: run.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
DWAR=$(realpath "${1:-$here/../../target/debug/dwar}")
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
export DWAR CHROMIUM
cd "$here"
npm ci --silent --no-audit --no-fund
echo "the dashboard in a browser, on SQLite"
node --test --test-concurrency=1 ./*.test.mjs
if [ -n "${DWAR_TEST_POSTGRES_URL:-}" ] && command -v psql >/dev/null; then
    echo "the dashboard in a browser, on PostgreSQL"
    BROWSER_POSTGRES_URL=$DWAR_TEST_POSTGRES_URL node --test --test-concurrency=1 ./*.test.mjs
fi
