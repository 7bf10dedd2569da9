#!/usr/bin/env bash
# Makes docs/images/*.png: every page of the dashboard in both themes.
#
# usage: screenshots.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
cd "$(dirname "$0")/.."
DWAR=$(realpath "${1:-target/debug/dwar}")
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
export DWAR CHROMIUM
cd tests/browser
npm ci --silent --no-audit --no-fund
node screenshots.mjs
