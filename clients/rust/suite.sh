#!/usr/bin/env bash
# Plays the suite with the client as it is now: suite.sh [--only TEXT]
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --quiet --locked -p dwar-client --example adapter
node clients/suite/run.mjs "$@" "${CARGO_TARGET_DIR:-target}/debug/examples/adapter"
