#!/usr/bin/env bash
# Runs every test, those that need PostgreSQL and those that need a browser included.
#
# The server comes from DWAR_TEST_POSTGRES_URL if that is set; else one that is installed is
# started on loopback, in a temporary folder, and stopped at the end. As root on Debian or Ubuntu a
# missing server is installed first, and so are Chromium, node and npm. Without them the rest runs,
# and a line says what was left out; with CI set that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

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

find_postgres() {
    local found
    for found in "$(command -v initdb || true)" /usr/lib/postgresql/*/bin/initdb; do
        if [ -x "$found" ]; then dirname "$(readlink -f "$found")"; fi
    done | sort -V | tail -n 1
}

install_postgres() {
    # The package would start a cluster of its own; one of ours is enough.
    [ "$(id -u)" != 0 ] || mkdir -p /etc/postgresql-common
    [ "$(id -u)" != 0 ] || [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    apt_install postgresql
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' 2>/dev/null ||
        echo $((20000 + RANDOM % 20000))
}

start_postgres() {
    local port
    port=$(free_port)
    mkdir "$scratch/pg"
    chmod 755 "$scratch"
    [ "$(id -u)" != 0 ] || chown postgres "$scratch/pg"
    # Data that a test leaves behind is thrown away: no need to wait for the disk.
    as_postgres "$postgres/initdb" -D "$scratch/pg/data" -U dwar -A trust --no-sync >"$scratch/initdb.log"
    as_postgres "$postgres/pg_ctl" -D "$scratch/pg/data" -l "$scratch/pg/log" -w -t 60 \
        -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$scratch/pg -c max_connections=300 -c fsync=off" \
        start >/dev/null || { cat "$scratch/pg/log"; return 1; }
    export DWAR_TEST_POSTGRES_URL="postgres://dwar@127.0.0.1:$port/postgres"
}

find_browser() {
    local name
    for name in chromium chromium-browser google-chrome; do
        if command -v "$name"; then return 0; fi
    done
}

# apt_install PACKAGE...: as root on Debian or Ubuntu; elsewhere nothing.
apt_install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    echo "test.sh: installing $*"
    local DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    { apt-get install -y -qq "$@" || { apt-get update -qq && apt-get install -y -qq "$@"; }; } \
        >"$scratch/apt.log" 2>&1 || cat "$scratch/apt.log"
}

# The dashboard in a browser, with the binary that the tests have built.
browser_tests() {
    CHROMIUM=${CHROMIUM:-$(find_browser)}
    [ -n "$CHROMIUM" ] || { apt_install chromium && CHROMIUM=$(find_browser); }
    command -v node >/dev/null && command -v npm >/dev/null || apt_install nodejs npm
    if [ -n "$CHROMIUM" ] && command -v npm >/dev/null; then
        export CHROMIUM
        ./tests/browser/run.sh "${CARGO_TARGET_DIR:-target}/debug/dwar"
    else
        echo "test.sh: !!! LEFT OUT: the browser tests; they want chromium, node and npm !!!"
        [ -z "${CI:-}" ]
    fi
}

if [ -z "${DWAR_TEST_POSTGRES_URL:-}" ]; then
    postgres=$(find_postgres)
    if [ -z "$postgres" ]; then
        install_postgres
        postgres=$(find_postgres)
    fi
    [ -z "$postgres" ] || start_postgres
fi

if [ -n "${DWAR_TEST_POSTGRES_URL:-}" ]; then
    cargo test --workspace --locked "$@" -- --include-ignored
    browser_tests
    echo "test.sh: every test ran, on SQLite and PostgreSQL"
else
    cargo test --workspace --locked "$@"
    browser_tests
    echo "test.sh: !!! LEFT OUT: every PostgreSQL test, since no server was found; install the package postgresql or set DWAR_TEST_POSTGRES_URL !!!"
    [ -z "${CI:-}" ] || exit 1
fi
