#!/usr/bin/env bash
# Puts everything at once on the service, for MINUTES per case: sends with signed receipts, half of them before the
# provider's answer, fallbacks, verifies, refreshes, validates, events to three endpoints (quick, slow, dead), the
# feed of events, figures, sweeps of rows a day old, and an open dashboard. Prints rates, times, what waits, processor
# time and disk, and fails with the name of what grows, is too old at the end or was refused. docs/benchmarks.md says
# how to read it.
#
#   scripts/soak.sh MINUTES    on SQLite, on PostgreSQL, and with three instances on PostgreSQL
#   scripts/soak.sh --calls    calls to endpoints alone, on SQLite and PostgreSQL; takes two minutes
#
# Service, load and a PostgreSQL of its own with fsync on share all cores. Needs node, sqlite3, taskset and the
# programs of PostgreSQL. By environment variables:
#   COMPARE_DWAR   a binary to measure in place of a `dist` build of this checkout
#   COMPARE_LOAD   the generator of load, likewise
#   SOAK_CASES     database:instances:logins a second ("sqlite:1:300 postgres:1:200 postgres:3:100")
#   SOAK_FOLDER    where to put databases, if not in the folder for temporary files
#   SOAK_POSTGRES  settings of the server; with "-c shared_preload_libraries=pg_stat_statements" the statements are shown
#                  that took most of its time
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
--calls) mode=events cases="sqlite:1:0 postgres:1:0" ;;
"" | *[!0-9.]*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
*) mode=soak cases=${SOAK_CASES:-sqlite:1:300 postgres:1:200 postgres:3:100} SOAK_MINUTES=$1 ;;
esac
. scripts/lib/measure.sh
load=$(dist_program dwar-benches compare "${COMPARE_LOAD:-}")

status=0
export SOAK_MINUTES COMPARE_SERVER_CPU SOAK_KIND SOAK_INSTANCES SOAK_RATE
COMPARE_SERVER_CPU=0-$(($(nproc) - 1))
for case in $cases; do
    IFS=: read -r SOAK_KIND SOAK_INSTANCES SOAK_RATE <<<"$case"
    new_scratch "${SOAK_FOLDER:-}"
    [ "$SOAK_KIND" != postgres ] || scratch_postgres "-c max_connections=200 ${SOAK_POSTGRES:-}"
    "$load" "$mode" || status=1
    drop_scratch
done
exit "$status"
