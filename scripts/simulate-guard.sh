#!/usr/bin/env bash
# Plays 30 days of one project against seven attackers, through the use cases of the service with a moved clock, and
# prints a table: what each attacker got and how many honest people were asked for a proof, with the guard, with a
# limit per address, and with blocked prefixes. docs/guard.md quotes it. Fails if asking does not end within five
# minutes after a flood or an outage, or if a sale asks anyone.
#
#   scripts/simulate-guard.sh [NEW NUMBERS A DAY, 10000 [SEED, 39]]
#
# An equal seed prints an equal table. Takes three minutes of one core, more while others use it.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-0}${2:-0} in *[!0-9]*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;; esac
cargo bench --quiet --locked -p dwar-testkit --bench guard -- "$@"
