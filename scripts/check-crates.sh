#!/usr/bin/env bash
# Whether the crates that other programs embed (docs/embedding.md) can be packaged: each is built from what its package
# holds. From the first release on, also whether they break those programs without a new version that says so.
#
# Needs nothing until there is a tag of a release; then cargo-semver-checks, which it installs from crates.io.
set -euo pipefail
cd "$(dirname "$0")/.."

crates=(-p dwar-app -p dwar-console -p dwar-testkit)
for folder in crates/domain/*/; do crates+=(-p "dwar-$(basename "$folder")"); done

# Cargo unpacks and compiles a package once for each version, and a version changes at a release alone: nothing of an
# earlier run may be left.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/crates
rm -rf "$CARGO_TARGET_DIR" "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/dwar-*
# What is packaged is what is there, committed or not.
cargo package --locked --allow-dirty --quiet "${crates[@]}"
echo "check-crates.sh: $((${#crates[@]} / 2)) crates are built from their packages"

release=$(git tag --list 'v*' --sort=-version:refname | head -n 1)
if [ -z "$release" ]; then
    echo "check-crates.sh: nothing is released yet that their interfaces could break"
    exit
fi
command -v cargo-semver-checks >/dev/null || cargo install --locked cargo-semver-checks
cargo semver-checks --baseline-rev "$release" "${crates[@]}"
