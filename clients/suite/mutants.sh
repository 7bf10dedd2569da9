#!/usr/bin/env bash
# Applies each mutant of a client (FOLDER/mutants/*.patch, relative to FOLDER), wants the command to fail, and takes the
# mutant back. Prints the first case that failed, at which the suite ends.
#
# usage: mutants.sh FOLDER COMMAND [WORD…]   (run in FOLDER)
set -euo pipefail
cd "$1"
shift
applied=""
output=$(mktemp)
export DWAR_SUITE_STOP=1
take_back() { [ -z "$applied" ] || patch --reverse --strip=1 --silent --no-backup-if-mismatch <"$applied"; applied=""; }
trap 'take_back; rm -f "$output"' EXIT

survived=0
for mutant in mutants/*.patch; do
    patch --forward --strip=1 --silent --no-backup-if-mismatch <"$mutant"
    applied=$mutant
    if "$@" >"$output" 2>&1; then
        echo "SURVIVED  $(basename "$mutant" .patch)"
        survived=1
    elif ! grep -q '^not ok' "$output"; then
        echo "BROKEN    $(basename "$mutant" .patch): the command failed before any case"
        tail -n 5 "$output"
        survived=1
    else
        first=$(grep -m 1 '^not ok' "$output" | sed 's/^not ok *//')
        echo "caught    $(basename "$mutant" .patch): «$first»"
    fi
    take_back
done
exit "$survived"
