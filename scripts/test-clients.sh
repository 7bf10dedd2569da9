#!/usr/bin/env bash
# Tests the clients in clients/: each passes the suite against the service and against a fake, and against the service on
# PostgreSQL, has what docs/openapi.json has, and logs somebody in within ten lines and five minutes; each example of the
# login contract keeps it. And the login form, in Chromium.
#
# Needs node 20 and npm, python3 with venv, go, cargo, Chromium, and the programs of PostgreSQL, and installs what is missing as
# root on Debian or Ubuntu. What it cannot get it leaves out and says so; with CI set that is a failure.
#
#   test-clients.sh [--mutants] [--all] [BINARY]     the debug build of this checkout by default; --mutants wants each seeded
#                                                    fault of each client to be found, which takes minutes; --all adds what
#                                                    downloads much: the form in six frameworks, the examples in Kotlin
#                                                    and for Spring, the client for TypeScript on Bun, Deno and Node 24,
#                                                    in Nest and in Jest
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/apt.sh
. scripts/lib/browser.sh
. scripts/lib/postgres.sh
PATH=$PATH:/usr/local/go/bin

mutants="" all=""
while [[ ${1:-} == --* ]]; do
    case $1 in
    --mutants) mutants=1 ;;
    --all) all=1 ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
    shift
done
DWAR_BIN=$(realpath "${1:-${CARGO_TARGET_DIR:-$PWD/target}/debug/dwar}")
export DWAR_BIN
suite=$PWD/clients/suite
scratch=$(mktemp -d)
. scripts/lib/jobs.sh

stop() {
    end_jobs
    rm -rf "$scratch"
}
trap stop EXIT

leave_out() {
    echo "test-clients.sh: !!! LEFT OUT: $* !!!"
    [ -z "${CI:-}" ] || exit 1
}

# on_postgres COMMAND: the cases of the service, by this adapter, on a PostgreSQL.
on_postgres() {
    if [ -n "$(find_postgres)" ]; then
        "$suite/postgres.sh" "$@"
    else
        leave_out "the cases of the service on PostgreSQL"
    fi
}

of_typescript() {
    cd clients/typescript
    npm install --silent --no-audit --no-fund --no-package-lock
    npm test
    "$suite/first-login.sh" typescript
    on_postgres node tests/adapter.mjs
    [ -z "$mutants" ] || npm run --silent mutants
    [ -z "$all" ] || { on_other_runtimes; consumers/run.sh; }
    for example in better-auth express nextjs; do
        cd "$suite/../examples/$example"
        # A copy of the client would stay as it was, since its version is the same.
        rm -rf node_modules/dwar-client
        npm install --silent --no-audit --no-fund --no-package-lock
        npm test
    done
    if [ -n "$CHROMIUM" ]; then
        npm --prefix "$suite/../examples/express" run test:browser
    else
        leave_out "the Express example in Chromium"
    fi
}

# The suite on Bun, on Deno, and on a Node that asks the environment for proxies.
on_other_runtimes() {
    npm install --silent --no-audit --no-fund --no-package-lock --prefix "$scratch/runtimes" bun@1 deno@2 node@24
    local bin=$scratch/runtimes/node_modules/.bin runtime
    for runtime in bun "deno run --allow-all" node; do
        # shellcheck disable=SC2086 # words of a command
        node "$suite/run.mjs" "$bin"/$runtime tests/adapter.mjs
    done
}

of_python() {
    python3 -m venv "$scratch/python"
    PATH=$scratch/python/bin:$PATH
    cd clients/python
    pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
    pip install --quiet --editable . --group dev
    mypy
    pyright
    ruff check
    ruff format --check
    pytest -q
    "$suite/first-login.sh" python
    on_postgres python tests/adapter.py asyncio
    [ -z "$mutants" ] || "$suite/mutants.sh" . python tests/suite.py
    for example in fastapi django; do
        cd "$suite/../examples/$example"
        python -m venv "$scratch/$example"
        "$scratch/$example/bin/pip" install --quiet --disable-pip-version-check -r requirements.txt
        node "$suite/login.mjs" "$scratch/$example/bin/python" app.py
    done
}

of_go() {
    cd clients/go
    go vet ./...
    # The service is no input of the cache.
    go test -count=1 ./...
    "$suite/first-login.sh" go
    go build -o "$scratch/adapter" ./internal/adapter
    on_postgres "$scratch/adapter"
    (cd ../examples/net-http && go vet && go test -count=1)
    [ -z "$mutants" ] ||
        "$suite/mutants.sh" . bash -o pipefail -c \
            "(go test -count=1 ./... && cd ../examples/net-http && go test -count=1) | sed 's/^--- FAIL:/not ok /'"
}

of_rust() {
    cargo clippy --locked -p dwar-client --all-targets --features axum -- -D warnings
    cargo test --locked -p dwar-client --features axum
    # An application that chooses its TLS, and how much it gets by default.
    cargo check --locked -p dwar-client --no-default-features
    local crates
    crates=$(cargo tree --locked -p dwar-client --edges normal --prefix none | sed 's/ (.*//' | sort -u | wc -l)
    [ "$crates" -le 95 ] || { echo "dwar-client brings $crates crates by default; 95 are enough"; return 1; }
    [ -z "$all" ] || with_rustls
    clients/rust/suite.sh
    "$suite/first-login.sh" rust
    on_postgres "${CARGO_TARGET_DIR:-$PWD/target}/debug/examples/adapter"
    [ -z "$mutants" ] || "$suite/mutants.sh" clients/rust ./suite.sh
}

# An application with rustls, as the README of the client has it.
with_rustls() {
    local client=$PWD/clients/rust target
    target=$(realpath "${CARGO_TARGET_DIR:-target}")
    cargo init --quiet --vcs none --name with-rustls "$scratch/with-rustls"
    (
        cd "$scratch/with-rustls"
        cargo add --quiet --path "$client" --no-default-features
        cargo add --quiet reqwest@0.13 --no-default-features --features rustls
        cargo check --quiet --target-dir "$target"
        cargo tree --edges normal --prefix none | grep -q '^rustls ' && ! cargo tree --edges normal | grep native-tls
    )
}

of_form() {
    # Its login against the real service has the Express example for a backend, which of_typescript installs.
    cd clients/form
    npm install --silent --no-audit --no-fund --no-package-lock
    npm test
    [ -z "$mutants" ] || npm run --silent mutants
    if [ -n "$all" ]; then
        command -v mvn >/dev/null || apt_install maven
        npm run --silent frameworks
        "$suite/messages/run.sh"
    fi
}

# Laravel as Debian has it, since Composer's own packages need a registry more. Its cache is the files of one machine.
of_php() {
    [ -e /usr/share/php/Illuminate/autoload.php ] || { leave_out "the Laravel example; Laravel is wanted"; return; }
    php clients/examples/php-laravel/addresses_test.php
    TMPDIR=$scratch node "$suite/login.mjs" php clients/examples/php-laravel/server.php
}

of_java() {
    cp -r clients/examples/spring "$scratch/spring"
    mvn --batch-mode --quiet --file "$scratch/spring" package
    node "$suite/login.mjs" java -jar "$scratch/spring/target/login.jar"
}

# try PART PROGRAM...: its tests, if these programs are there.
try() {
    local part=$1 program
    shift
    for program in "$@"; do
        command -v "$program" >/dev/null || { leave_out "the tests of clients/$part; $program is wanted"; return; }
    done
    printf '\n-- clients: %s\n' "$part"
    "of_$part"
}

# lane 'PART PROGRAM...'...: one after the other, each also if one before it failed, and notes those that did.
lane() {
    local part
    exec </dev/null
    # In a condition the shell would not stop at the first command of a part that fails.
    set +e
    for part; do
        # shellcheck disable=SC2086 # words of a command
        (set -e; try $part)
        [ $? = 0 ] || echo "clients: ${part%% *}" >>"$jobs_failed"
    done
}

command -v npm >/dev/null || apt_install nodejs npm
python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
[ -n "$(find_postgres)" ] || apt_install_unstarted postgresql
[ -e /usr/share/php/Illuminate/autoload.php ] && command -v php >/dev/null ||
    apt_install php-cli php-curl php-mbstring php-laravel-framework php-guzzlehttp-guzzle
[ -z "$all" ] || command -v mvn >/dev/null || apt_install maven
CHROMIUM=$(find_browser)
export CHROMIUM
node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null || {
    leave_out "every client; node 20 is wanted"
    exit 0
}
node "$suite/packages.mjs" || echo "packages.mjs" >>"$jobs_failed"
# Two at a time, as most of what they do is wait. The form logs in to an example of the first.
lane "typescript node npm" "form node npm ${CHROMIUM:-chromium}" >"$scratch/pages.out" 2>&1 &
pages=$!
lane "python node python3" "go node go" "rust node cargo" "php node php" ${all:+"java node mvn"} >"$scratch/backends.out" 2>&1 &
backends=$!
wait "$pages" || echo "clients: those of pages, which ended early" >>"$jobs_failed"
cat "$scratch/pages.out"
wait "$backends" || echo "clients: those of backends, which ended early" >>"$jobs_failed"
cat "$scratch/backends.out"
wait_for_jobs
