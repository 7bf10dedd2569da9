#!/usr/bin/env bash
# Runs every test, those that need PostgreSQL, PgBouncer or a browser included.
#
# The server comes from DWAR_TEST_POSTGRES_URL if that is set; else one that is installed is
# started on loopback, in a temporary folder, and stopped at the end. As root on Debian or Ubuntu a
# missing server is installed first, and so are Chromium, node and npm. PgBouncer has to be 1.21 or newer: the program that DWAR_TEST_PGBOUNCER names, one that is
# installed, or, as root on Debian, one built from the source of its next release. Without them the
# rest runs, and a line says what was left out; with CI set that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/apt.sh
. scripts/lib/browser.sh
. scripts/lib/postgres.sh

scratch=$(mktemp -d)
postgres=""
built=${CARGO_TARGET_DIR:-$PWD/target}/test-tools/pgbouncer

stop() {
    [ -z "$postgres" ] || stop_postgres "$postgres" "$scratch/pg"
    rm -rf "$scratch"
}
trap stop EXIT

install_postgres() {
    # The package would start a cluster of its own; one of ours is enough.
    [ "$(id -u)" != 0 ] || mkdir -p /etc/postgresql-common
    [ "$(id -u)" != 0 ] || [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    apt_install postgresql
}

own_postgres() {
    local port
    port=$(free_port)
    chmod 755 "$scratch"
    # Data that a test leaves behind is thrown away: no need to wait for the disk.
    start_postgres "$postgres" "$scratch/pg" "$port" "-c max_connections=300 -c fsync=off"
    export DWAR_TEST_POSTGRES_URL="postgres://dwar@127.0.0.1:$port/postgres"
}

# is_pgbouncer PROGRAM: whether it keeps the prepared statements of its clients apart.
is_pgbouncer() {
    local version
    version=$("$1" --version 2>/dev/null | sed -n 's/^PgBouncer \([0-9.]*\).*/\1/p')
    [ -n "$version" ] && [ "$(printf '%s\n' 1.21 "$version" | sort -V | head -n 1)" = 1.21 ]
}

find_pgbouncer() {
    local found
    for found in "$(command -v pgbouncer || true)" /usr/sbin/pgbouncer "$built"; do
        if [ -x "$found" ] && is_pgbouncer "$found"; then
            echo "$found"
            return 0
        fi
    done
}

# The mirror of Debian that apt is set up with; nothing where it is none of Debian.
debian_mirror() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(SITE)' "Created-By: Packages" "Label: Debian" "Component: main" | sed -n 1p
}

# Where Debian's own package is too old: its next release's source, by apt and its signatures.
build_pgbouncer() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg mirror
    [ -e "$keys" ] || return 0
    mirror=$(debian_mirror)
    # What apt knows of its mirrors it knows from their lists.
    if [ -z "$mirror" ]; then
        apt-get -qq update >"$scratch/apt.log" 2>&1 || true
        mirror=$(debian_mirror)
    fi
    [ -n "$mirror" ] || return 0
    echo "test.sh: building PgBouncer"
    local sources=$scratch/pgbouncer
    mkdir -p "$sources/lists/partial" "$sources/code" "$(dirname "$built")"
    echo "deb-src [signed-by=$keys] $mirror trixie main" >"$sources/sources.list"
    local apt=(apt-get -qq -o "Dir::Etc::sourcelist=$sources/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$sources/lists")
    apt_install gcc make pkg-config libevent-dev libssl-dev
    (
        cd "$sources"
        chmod 755 .
        "${apt[@]}" update
        "${apt[@]}" source --download-only pgbouncer
        tar xf pgbouncer_*.orig.tar.gz -C code --strip-components=1
        cd code
        ./configure --without-cares --without-pam --without-systemd
        make pgbouncer
    ) >"$scratch/pgbouncer.log" 2>&1 && cp "$sources/code/pgbouncer" "$built" || tail -n 5 "$scratch/pgbouncer.log"
}

# The dashboard in a browser, with the binary that the tests have built.
browser_tests() {
    CHROMIUM=$(find_browser)
    command -v node >/dev/null && command -v npm >/dev/null || apt_install nodejs npm
    if [ -n "$CHROMIUM" ] && command -v npm >/dev/null; then
        export CHROMIUM
        ./tests/browser/run.sh "${CARGO_TARGET_DIR:-target}/debug/dwar"
    else
        echo "test.sh: !!! LEFT OUT: the browser tests; they want chromium, node and npm !!!"
        [ -z "${CI:-}" ]
    fi
}

# What clients of three instances, and of one on SQLite, are told while things go wrong, for a short time; the
# long run is by hand. It restarts its database, so it starts one of its own.
history_check() {
    local dwar=${CARGO_TARGET_DIR:-target}/debug/dwar
    ./scripts/check-history.sh --sqlite --seconds 30 --seed 3 --binary "$dwar"
    if [ -n "$(find_postgres)" ]; then
        ./scripts/check-history.sh --seconds 40 --seed 1 --binary "$dwar"
    else
        echo "test.sh: !!! LEFT OUT: the history checker on PostgreSQL; it wants its programs !!!"
        [ -z "${CI:-}" ]
    fi
}

if [ -z "${DWAR_TEST_POSTGRES_URL:-}" ]; then
    postgres=$(find_postgres)
    if [ -z "$postgres" ]; then
        install_postgres
        postgres=$(find_postgres)
    fi
    [ -z "$postgres" ] || own_postgres
fi

export DWAR_TEST_PGBOUNCER=${DWAR_TEST_PGBOUNCER:-$(find_pgbouncer)}
if [ -z "$DWAR_TEST_PGBOUNCER" ]; then
    build_pgbouncer
    DWAR_TEST_PGBOUNCER=$(find_pgbouncer)
fi

# What the commands of the pages use.
for tool in curl jq openssl sqlite3; do command -v "$tool" >/dev/null || apt_install "$tool"; done

left_out=()
skipped=()
[ -n "${DWAR_TEST_POSTGRES_URL:-}" ] ||
    left_out+=("every PostgreSQL test, since no server was found; install the package postgresql or set DWAR_TEST_POSTGRES_URL")
if [ -z "$DWAR_TEST_PGBOUNCER" ]; then
    left_out+=("every test behind a pooler, since no PgBouncer from 1.21 on was found; set DWAR_TEST_PGBOUNCER")
    skipped=(--skip through_a_pooler)
fi

if [ -n "${DWAR_TEST_POSTGRES_URL:-}" ]; then
    cargo test --workspace --locked "$@" -- --include-ignored "${skipped[@]}"
else
    cargo test --workspace --locked "$@"
fi
browser_tests
history_check

if [ "${#left_out[@]}" = 0 ]; then
    echo "test.sh: every test ran, on SQLite and PostgreSQL, with PgBouncer"
else
    printf 'test.sh: !!! LEFT OUT: %s !!!\n' "${left_out[@]}"
    [ -z "${CI:-}" ] || exit 1
fi
