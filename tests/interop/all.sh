#!/usr/bin/env bash
# Everything in this folder, as README.md describes it; tests with long downloads and builds only with --all.
#
# usage: all.sh [--all] [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scripts=(pages issuer hooks proxies algorithms offline)
if [ "${1:-}" = --all ]; then
    scripts+=(servers gateways kratos)
    shift
fi
for script in "${scripts[@]}"; do
    printf '\n-- %s\n' "$script"
    "$here/$script.sh" "$@"
done
