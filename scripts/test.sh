#!/usr/bin/env bash
# Tests what a change breaks most often: all rules and use cases, what the three stores promise, both APIs, the binary's
# flows on SQLite and PostgreSQL, and the playground in a browser.
#
#   scripts/test.sh [--all] [OPTION OF CARGO TEST | NAME]...
#
# --all adds what takes long: the command lines of the pages, the doors, the canary, crashes, outages and attacks, the
# whole dashboard in a browser on both databases, histories, and the examples in the documentation of the code.
# With a name, or what `cargo test` takes to choose packages and targets, only those tests run, as long as they may take.
#
# Test binaries run side by side; those named `long` and the whole browser suite one after the other at the end. What
# measures time or memory is in modules named `alone`, and runs last, by itself.
#
# The server comes from DWAR_TEST_POSTGRES_URL if that is set; else one that is installed is started on loopback, in a
# temporary folder, and stopped at the end. PgBouncer has to be 1.21 or newer: the program that DWAR_TEST_PGBOUNCER names,
# one that is installed, or, as root on Debian, one built from the source of its next release. As root on Debian or Ubuntu
# what is missing is installed first, Chromium, node and npm included. Without it the rest runs, and a line says what was
# left out; with CI set that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/apt.sh
. scripts/lib/browser.sh
. scripts/lib/postgres.sh
. scripts/lib/pgbouncer.sh

all="" chosen=""
options=() names=()
while [ $# -gt 0 ]; do
    case $1 in
    --all) all=1 ;;
    --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit ;;
    # Every test runs whatever fails.
    --no-fail-fast) ;;
    -p | --package | --exclude | --test | --bin | --example | --bench) options+=("$1" "$2"); chosen=1; shift ;;
    -p* | --package=* | --exclude=* | --test=* | --bin=* | --lib | --bins | --tests) options+=("$1"); chosen=1 ;;
    -F | --features | --profile | -j | --jobs | --config) options+=("$1" "$2"); shift ;;
    -*) options+=("$1") ;;
    *) names+=("$1"); chosen=1 ;;
    esac
    shift
done

scratch=$(mktemp -d)
. scripts/lib/jobs.sh
postgres=""

stop() {
    end_jobs
    [ -z "$postgres" ] || stop_postgres "$postgres" "$scratch/pg"
    rm -rf "$scratch"
}
trap stop EXIT

left_out=()

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

# tests_of BINARY [OPTION]...: the tests of a binary, in the folder and with the variables that cargo gives them.
tests_of() {
    local folder
    folder=$(dirname "$(jq -r --arg it "$1" 'select(.executable == $it) | .manifest_path' "$scratch/built")")
    cd "$folder"
    env "CARGO_MANIFEST_DIR=$folder" "${programs[@]}" "$1" --quiet "${ran[@]}" "${@:2}"
}

# Builds what is chosen, or all that this run wants.
build() {
    local wanted=() unit
    if [ -z "$chosen" ]; then
        wanted=(--workspace)
        # What is long has a binary of its own, which need not be built.
        # shellcheck disable=SC2207
        [ -n "$all" ] || wanted+=(--lib --bins $(cargo metadata --no-deps --format-version 1 | jq -r '
            [.packages[].targets[] | select(.kind == ["test"] and .name != "long").name] | unique[] | "--test", .'))
    elif [[ " ${options[*]}" != *" -p"* && " ${options[*]}" != *" --package"* ]]; then
        wanted=(--workspace)
    fi
    cargo test --locked --no-run --message-format=json-render-diagnostics "${wanted[@]}" "${options[@]}" >"$scratch/built"
    mapfile -t programs < <(jq -r 'select(.executable and .target.kind == ["bin"] and (.profile.test | not)) |
        "CARGO_BIN_EXE_\(.target.name)=\(.executable)"' "$scratch/built")
    # The slowest first: integration tests before unit tests, and large programs before small ones.
    mapfile -t binaries < <(for unit in false true; do
        jq -r "select(.executable and .profile.test and (.target.kind != [\"test\"]) == $unit).executable" "$scratch/built" |
            xargs -r ls -S
    done)
}

# start_tests [long]: the binaries that are not long, or those that are.
start_tests() {
    local binary name
    for binary in "${binaries[@]}"; do
        name=$(jq -r --arg it "$binary" 'select(.executable == $it) |
            (.manifest_path | split("/")[-2]) + ", " + .target.name' "$scratch/built")
        [[ $name == *", long" && -n ${1:-} || $name != *", long" && -z ${1:-} ]] || continue
        job "$name" tests_of "$binary" "${names[@]}" --skip alone::
    done
}

# Tests that need the machine for themselves.
test_alone() {
    local binary tests
    for binary in "${binaries[@]}"; do
        mapfile -t tests < <("$binary" --list "${names[@]}" "${ran[@]}" | sed -n 's/^\(.*alone::.*\): test$/\1/p')
        [ "${#tests[@]}" = 0 ] || job "alone: ${tests[0]} …" tests_of "$binary" --exact "${tests[@]}"
    done
}

# The dashboard in a browser, with the binary that the tests have built.
start_browser() {
    CHROMIUM=$(find_browser)
    command -v node >/dev/null && command -v npm >/dev/null || apt_install nodejs npm
    if [ -z "$CHROMIUM" ] || ! command -v npm >/dev/null; then
        left_out+=("the browser tests; they want chromium, node and npm")
        return
    fi
    export CHROMIUM
    local smoke=(--smoke)
    [ -z "$all" ] || smoke=()
    job "browser" ./tests/browser/run.sh "${smoke[@]}" "$dwar"
}

# What clients of three instances, and of one on SQLite, are told while things go wrong, for a short time; the
# long run is by hand. It restarts its database, so it starts one of its own.
start_histories() {
    job "histories, SQLite" ./scripts/check-history.sh --sqlite --seconds 30 --seed 3 --binary "$dwar"
    if [ -n "$(find_postgres)" ]; then
        job "histories, PostgreSQL" ./scripts/check-history.sh --seconds 40 --seed 1 --binary "$dwar"
    else
        left_out+=("the history checker on PostgreSQL; it needs its programs")
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

# A wall clock that tests set; the form of the library that is for programs with threads.
find_faketime() { find /usr/lib /usr/local/lib -name libfaketimeMT.so.1 2>/dev/null | head -n 1; }
export DWAR_TEST_FAKETIME=${DWAR_TEST_FAKETIME:-$(find_faketime)}
if [ -z "$DWAR_TEST_FAKETIME" ] && [ -n "$all$chosen" ]; then
    apt_install libfaketime
    DWAR_TEST_FAKETIME=$(find_faketime)
fi

# The last three are what the commands of the pages use.
for tool in jq curl openssl sqlite3; do command -v "$tool" >/dev/null || apt_install "$tool"; done

# What each test binary is given.
ran=()
if [ -n "${DWAR_TEST_POSTGRES_URL:-}" ]; then
    ran+=(--include-ignored)
else
    left_out+=("every PostgreSQL test, since no server was found; install the package postgresql or set DWAR_TEST_POSTGRES_URL")
fi
if [ -z "$DWAR_TEST_PGBOUNCER" ]; then
    left_out+=("every test behind a pooler, since no PgBouncer from 1.21 on was found; set DWAR_TEST_PGBOUNCER")
    ran+=(--skip through_a_pooler)
fi
if [ -z "$DWAR_TEST_FAKETIME" ]; then
    [ -z "$all$chosen" ] || left_out+=("every test that sets the clock, since no libfaketime was found; set DWAR_TEST_FAKETIME")
    ran+=(--skip clocks::)
fi
# Thousands of generated requests, values and sends.
[ -n "$all$chosen" ] || ran+=(--skip provoked:: --skip ten_thousand --skip alike_tests:: --skip a_thousand_sends)

dwar=${CARGO_TARGET_DIR:-target}/debug/dwar
build
# Else a test that builds something would be given the compiler that a crate of others asks for.
! command -v rustup >/dev/null || export RUSTUP_TOOLCHAIN=${RUSTUP_TOOLCHAIN:-$(rustup show active-toolchain | cut -d' ' -f1)}
# Most of them wait for a part of their time.
at_once=$(($(nproc) + 1))
[ -n "$all$chosen" ] || start_browser
# A run of named tests shows what they print.
jobs_shown=$chosen
start_tests
if [ -n "$all" ] && [ -z "$chosen" ]; then
    start_histories
    job "examples in the documentation" cargo test --locked --workspace --doc --no-fail-fast
fi
wait
# What breaks or floods a service, or looks at a page while it changes, says more while nothing else takes its time.
at_once=1
[ -z "$all" ] || [ -n "$chosen" ] || start_browser
start_tests long
[ -z "$all$chosen" ] || test_alone
status=0
wait_for_jobs || status=1

if [ "${#left_out[@]}" != 0 ]; then
    printf 'test.sh: !!! LEFT OUT: %s !!!\n' "${left_out[@]}"
    [ -z "${CI:-}" ] || status=1
elif [ "$status$chosen" = 0 ]; then
    echo "test.sh: all is well, on SQLite and PostgreSQL, with PgBouncer, after $SECONDS s"
fi
exit "$status"
