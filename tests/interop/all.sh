#!/usr/bin/env bash
# Everything of this folder, as README.md tells it.
#
# usage: all.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for script in pages issuer hooks proxies algorithms offline; do
    printf '\n-- %s\n' "$script"
    "$here/$script.sh" "$@"
done
