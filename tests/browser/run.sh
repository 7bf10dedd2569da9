#!/usr/bin/env bash
# Runs the dashboard in headless Chromium. Wants node, npm and Chromium (CHROMIUM, or the one on the
# path); its two packages are installed beside this file, as package-lock.json says.
#
# usage: run.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
DWAR=$(realpath "${1:-$here/../../target/debug/dwar}")
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
export DWAR CHROMIUM
cd "$here"
npm ci --silent --no-audit --no-fund
node --test dashboard.test.mjs
