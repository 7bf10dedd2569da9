#!/usr/bin/env bash
# Measures what requests cost as the work grows: every endpoint on a small database (10,000 requests, 5,000
# sessions) and on a large one, in turns, on SQLite and PostgreSQL; then sends and validations while old
# rows leave the large one. docs/benchmarks.md says how to read it.
#
#   scripts/bench-scale.sh [how many requests the large one has, 10000000; half as many sessions]
#
# The services run on one core, the clients, the provider and a PostgreSQL of its own with fsync on
# another. Needs node, sqlite3, taskset and the programs of PostgreSQL, and some 2 GB of disk per million
# requests, for one kind of database at a time. By environment variables:
#   COMPARE_DWAR       a binary to measure in place of a `dist` build of this checkout
#   COMPARE_LOAD       the generator of load, likewise
#   SCALE_FOLDER       where to put databases, if not in the folder for temporary files
#   SCALE_KINDS        sqlite, postgres or both: "sqlite postgres"
#   SCALE_ROUNDS       how often each endpoint has its turn (7), and
#   SCALE_SAMPLES      how often it is asked in each (2000)
#   SCALE_CONNECTIONS  by so many connections at once (4)
#   SCALE_SWEPT        how many old requests leave while others are answered (1000000)
#   SCALE_POSTGRES     settings of the server, such as "-c wal_compression=lz4"
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/measure.sh
load=$(dist_program dwar-benches compare "${COMPARE_LOAD:-}")

server_cpu=0
load_cpu=1
export SCALE_REQUESTS=${1:-10000000}
export COMPARE_SERVER_CPU=$server_cpu SCALE_KIND
for SCALE_KIND in ${SCALE_KINDS:-sqlite postgres}; do
    new_scratch "${SCALE_FOLDER:-}"
    [ "$SCALE_KIND" != postgres ] || scratch_postgres "${SCALE_POSTGRES:-}" taskset -c "$load_cpu"
    taskset -c "$load_cpu" "$load" scale
    drop_scratch
done
