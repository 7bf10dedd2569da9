# Sourced by scripts that start a PostgreSQL of their own.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/port.sh"

# PostgreSQL refuses to run as root; its package brings a user of its own.
as_postgres=()
[ "$(id -u)" != 0 ] || as_postgres=(runuser -u postgres --)

# find_postgres: the folder of the newest programs that are installed; nothing if there are none.
find_postgres() {
    local found
    for found in "$(command -v initdb || true)" /usr/lib/postgresql/*/bin/initdb; do
        if [ -x "$found" ]; then dirname "$(readlink -f "$found")"; fi
    done | sort -V | tail -n 1
}

# start_postgres PROGRAMS FOLDER PORT SETTINGS [COMMAND...]: makes FOLDER with a new server in it, and
# starts it on loopback, by COMMAND if there is one. Its superuser is dwar, without a password. The folders
# above have to let everybody through.
start_postgres() {
    local programs=$1 folder=$2 port=$3 settings=$4
    shift 4
    mkdir "$folder"
    [ "$(id -u)" != 0 ] || chown postgres "$folder"
    "${as_postgres[@]}" "$programs/initdb" -D "$folder/data" -U dwar -A trust --no-sync >"$folder.log"
    "${as_postgres[@]}" "$@" "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 \
        -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$folder $settings" \
        start >/dev/null || { cat "$folder/log"; return 1; }
}

# stop_postgres PROGRAMS FOLDER: at once, without a word.
stop_postgres() {
    "${as_postgres[@]}" "$1/pg_ctl" -D "$2/data" -m immediate stop >/dev/null 2>&1 || true
}
