#!/usr/bin/env bash
# Measures how long the pages of the dashboard take, and what they weigh, with many requests on record:
#   scripts/bench-dashboard.sh [how many requests, 1000000]
#
# On SQLite, and on PostgreSQL if BENCH_POSTGRES_URL names a server on which databases may be made.
# Needs node, sqlite3 and psql; some 1.5 GB of disk per million requests, for one database at a time.
# The pages are listed in benches/dashboard/pages.txt.
#
#   BENCH_DWAR        a binary to measure in place of a `dist` build
#   BENCH_SCRATCH     where to put databases, if not in the folder for temporary files
#   BENCH_SQLITE=0    leaves SQLite out
#   BENCH_PORT        where the dashboard listens, 18099; the API one below
set -euo pipefail
cd "$(dirname "$0")/.."

count=${1:-1000000}
export BENCH_FOLDER=""
made=""

tidy() {
    [ -z "$made" ] || psql -q -c "DROP DATABASE $made WITH (FORCE)" "$BENCH_POSTGRES_URL"
    [ -z "$BENCH_FOLDER" ] || rm -rf "$BENCH_FOLDER"
    made="" BENCH_FOLDER=""
}
trap tidy EXIT

if [ -z "${BENCH_DWAR:-}" ]; then
    cargo build --profile dist --locked -p dwar
fi
export DWAR=${BENCH_DWAR:-$PWD/target/dist/dwar}

echo "| page | database | p50 ms | p95 ms | page, kB | with its files, kB |"
echo "|---|---|---|---|---|---|"
if [ "${BENCH_SQLITE:-1}" != 0 ]; then
    BENCH_FOLDER=$(mktemp -d -p "${BENCH_SCRATCH:-${TMPDIR:-/tmp}}")
    node benches/dashboard/measure.mjs SQLite "sqlite://$BENCH_FOLDER/dwar.db" "$count"
    tidy
fi
if [ -n "${BENCH_POSTGRES_URL:-}" ]; then
    BENCH_FOLDER=$(mktemp -d -p "${BENCH_SCRATCH:-${TMPDIR:-/tmp}}")
    made="dwar_bench_dashboard_$$"
    psql -q -c "CREATE DATABASE $made" "$BENCH_POSTGRES_URL"
    node benches/dashboard/measure.mjs PostgreSQL "${BENCH_POSTGRES_URL%/*}/$made" "$count"
fi
