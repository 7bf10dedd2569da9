# Sourced by scripts that measure the service by the programs of benches/, each case in a folder of its own that may hold
# a PostgreSQL. Exports what these programs read.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/postgres.sh"

postgres=$(find_postgres)
[ -n "$postgres" ] || { echo "$(basename "$0"): PostgreSQL is not installed"; exit 1; }
export PATH="$postgres:$PATH"

# dist_program PACKAGE PROGRAM [BINARY]: prints the path of BINARY, or of a `dist` build of this checkout.
dist_program() {
    [ -n "${3:-}" ] || cargo build --profile dist --locked -p "$1" >&2 || return 1
    realpath "${3:-${CARGO_TARGET_DIR:-target}/dist/$2}"
}

COMPARE_DWAR=$(dist_program dwar dwar "${COMPARE_DWAR:-}")
export COMPARE_DWAR

scratch=""

# new_scratch [FOLDER]: makes a folder for the services of a case, in FOLDER or among temporary files.
new_scratch() {
    scratch=$(mktemp -d -p "${1:-${TMPDIR:-/tmp}}")
    chmod 755 "$scratch"
    mkdir "$scratch/services"
    export COMPARE_FOLDER=$scratch/services
}

# scratch_postgres SETTINGS [COMMAND...]: starts a server in there, with fsync on, by COMMAND if there is one.
scratch_postgres() {
    local port settings=$1
    shift
    port=$(free_port)
    start_postgres "$postgres" "$scratch/pg" "$port" "$settings" "$@"
    export COMPARE_POSTGRES_DATA=$scratch/pg/data
    export COMPARE_POSTGRES=postgres://dwar@127.0.0.1:$port/postgres
}

# drop_scratch: stops the server, and removes the folder.
drop_scratch() {
    [ -n "$scratch" ] || return 0
    stop_postgres "$postgres" "$scratch/pg"
    rm -rf "$scratch"
    scratch=""
}
trap drop_scratch EXIT
