#!/usr/bin/env bash
# Plays the suite with the client as it is now, and the suite of the login contract with the example for axum.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath "${CARGO_TARGET_DIR:-target}")
cargo build --quiet --locked -p dwar-client --example adapter
node clients/suite/run.mjs "$target/debug/examples/adapter"
# With the dependencies of this checkout; the example has no lock file of its own.
cp Cargo.lock clients/examples/axum/
cargo build --quiet --manifest-path clients/examples/axum/Cargo.toml --target-dir "$target"
node clients/suite/login.mjs "$target/debug/dwar-example-axum"
