#!/usr/bin/env bash
# Plays the cases of the real service on a PostgreSQL of its own, which it starts and stops.
#
# usage: postgres.sh COMMAND [WORD…]   (the command that starts the adapter, as for run.mjs)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../scripts/lib/postgres.sh"

programs=$(find_postgres)
[ -n "$programs" ] || { echo "postgres.sh: no PostgreSQL is installed" >&2; exit 1; }
scratch=$(mktemp -d)
chmod 755 "$scratch"
trap 'stop_postgres "$programs" "$scratch/pg"; rm -rf "$scratch"' EXIT
port=$(free_port)
start_postgres "$programs" "$scratch/pg" "$port" "-c fsync=off"
DWAR_SUITE_DATABASE_URL=postgres://dwar@127.0.0.1:$port/postgres node "$here/run.mjs" --real "$@"
