#!/usr/bin/env bash
# Makes docs/images/*.png: ten pages of the dashboard.
#
# usage: screenshots.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
cd "$(dirname "$0")/.."
DWAR=$(realpath "${1:-target/debug/dwar}")
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
export DWAR CHROMIUM
# The button for Hindi is drawn as empty boxes without a font for Devanagari.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. scripts/lib/apt.sh
fc-list :lang=hi | grep -q . || apt_install fonts-lohit-deva
cd tests/browser
npm ci --silent --no-audit --no-fund
node screenshots.mjs
