#!/usr/bin/env bash
# Measures Dwar on SQLite and PostgreSQL beside a bare handler and better-auth; docs/benchmarks.md says
# how to read it.
#
# The services run on one core, the clients, the provider and a PostgreSQL of its own with fsync on
# another. Needs node, npm, taskset and the programs of PostgreSQL. By environment variables:
#   COMPARE_DWAR      a binary to measure in place of a release build of this checkout
#   COMPARE_BASELINE  another binary to measure beside it, such as that of the last release
#   COMPARE_ROUNDS    how many rounds (5), and
#   COMPARE_SECONDS   how long each phase of a round is measured (5)
#   COMPARE_SESSIONS  how many sessions are on record where many are validated (10000)
#   COMPARE_ONLY      words, separated by commas: measure whom one of them names, and
#   COMPARE_PHASES    likewise what is measured; everybody and everything if not set
#   COMPARE_RESULTS   a folder that gets all figures as benchmark.json and a picture of them
set -euo pipefail
cd "$(dirname "$0")/.."

server_cpu=0
load_cpu=1
scratch=$(mktemp -d)
postgres=""

# PostgreSQL refuses to run as root; its package brings a user of its own.
as_postgres() {
    if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

stop() {
    if [ -n "$postgres" ]; then
        as_postgres "$postgres/pg_ctl" -D "$scratch/pg/data" -m immediate stop >/dev/null 2>&1 || true
    fi
    rm -rf "$scratch"
}
trap stop EXIT

for found in "$(command -v initdb || true)" /usr/lib/postgresql/*/bin/initdb; do
    [ ! -x "$found" ] || postgres=$(dirname "$(readlink -f "$found")")
done
[ -n "$postgres" ] || { echo "compare.sh: PostgreSQL is not installed"; exit 1; }
export PATH="$postgres:$PATH"

[ benches/peer/node_modules/.package-lock.json -nt benches/peer/package-lock.json ] ||
    (cd benches/peer && npm ci --silent)
if [ -z "${COMPARE_DWAR:-}" ]; then
    cargo build --release --locked -p dwar
    COMPARE_DWAR=${CARGO_TARGET_DIR:-$PWD/target}/release/dwar
fi
cargo build --release --locked -p dwar-benches

port=$(node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})')
mkdir "$scratch/pg" "$scratch/services"
chmod 755 "$scratch"
[ "$(id -u)" != 0 ] || chown postgres "$scratch/pg"
as_postgres initdb -D "$scratch/pg/data" -U dwar -A trust >"$scratch/initdb.log"
as_postgres taskset -c "$load_cpu" pg_ctl -D "$scratch/pg/data" -l "$scratch/pg/log" -w \
    -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$scratch/pg" start >/dev/null

export COMPARE_DWAR COMPARE_FOLDER="$scratch/services" COMPARE_SERVER_CPU=$server_cpu
export COMPARE_POSTGRES_DATA="$scratch/pg/data"
export COMPARE_POSTGRES="postgres://dwar@127.0.0.1:$port/postgres"
taskset -c "$load_cpu" "${CARGO_TARGET_DIR:-target}/release/compare"
