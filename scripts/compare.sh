#!/usr/bin/env bash
# Measures Dwar on SQLite and PostgreSQL beside a bare handler and better-auth; docs/benchmarks.md says
# how to read it.
#
# The services run on one core, the clients, the provider and a PostgreSQL of its own with fsync on
# another. Needs node, npm, taskset and the programs of PostgreSQL. By environment variables:
#   COMPARE_DWAR      a binary to measure in place of a `dist` build of this checkout
#   COMPARE_LOAD      the generator of load, likewise
#   COMPARE_BASELINE  another binary to measure beside it, such as that of the last release
#   COMPARE_BASELINE_SETTINGS  NAME=VALUE ..., variables by which that one differs; with the same binary, what they cost
#   COMPARE_GUARD     what the guard of the project of Dwar does (enforce); that of the baseline is off
#   COMPARE_ROUNDS    how many rounds (5), and
#   COMPARE_SECONDS   how long each phase of a round is measured (5), once the service is warm
#   COMPARE_CLIENTS   how many connections ask at once (32)
#   COMPARE_INSTANCES how many instances share one database where there are several (2)
#   COMPARE_SESSIONS  how many sessions are on record where many are validated (10000)
#   COMPARE_ONLY      words, separated by commas: measure only the contestants that one of them names
#   COMPARE_PHASES    likewise for phases; without these, all contestants and phases
#   COMPARE_RESULTS   a folder that gets all figures as benchmark.json and a picture of them
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/measure.sh
load=$(dist_program dwar-benches compare "${COMPARE_LOAD:-}")
[ benches/peer/node_modules/.package-lock.json -nt benches/peer/package-lock.json ] ||
    (cd benches/peer && npm ci --silent)

server_cpu=0
load_cpu=1
new_scratch
# As many as several instances of two binaries take at once.
scratch_postgres "-c max_connections=300" taskset -c "$load_cpu"
export COMPARE_SERVER_CPU=$server_cpu
taskset -c "$load_cpu" "$load"
