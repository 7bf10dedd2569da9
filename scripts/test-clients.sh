#!/usr/bin/env bash
# Tests the clients in clients/: each passes the suite against the service and against a fake, and against the service on
# PostgreSQL, has what docs/openapi.json has, and logs somebody in within ten lines and five minutes; each example of the
# login contract keeps it. And the login form, in Chromium.
#
# Needs node 20 and npm, python3 with venv, go, cargo, Chromium, and the programs of PostgreSQL, and installs what is missing as
# root on Debian or Ubuntu. What it cannot get it leaves out and says so; with CI set that is a failure. Parts run side by
# side, and each says how long it took. Packages stay in node_modules and target/test-tools until their manifest changes.
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
root=$PWD
DWAR_BIN=$(realpath "${1:-${CARGO_TARGET_DIR:-$root/target}/debug/dwar}")
export DWAR_BIN
clients=$root/clients
suite=$clients/suite
tools=$root/target/test-tools
export npm_config_cache=$tools/npm PIP_CACHE_DIR=$tools/pip PIP_DISABLE_PIP_VERSION_CHECK=1
scratch=$(mktemp -d)
. scripts/lib/jobs.sh
# Most of what they do is wait.
at_once=$((2 * at_once))

stop() {
    end_jobs
    rm -rf "$scratch"
}
trap stop EXIT

leave_out() {
    echo "test-clients.sh: !!! LEFT OUT: $* !!!"
    [ -z "${CI:-}" ] || exit 1
}

# has PART PROGRAM...: whether these programs are there, or else what is left out is said.
has() {
    local part=$1 program
    shift
    for program in "$@"; do
        command -v "$program" >/dev/null || { leave_out "the tests of clients/$part; $program is needed"; return 1; }
    done
}

# once FOLDER MANIFEST COMMAND...: the command fills the folder, unless it did so for this manifest before.
once() {
    local folder=$1 manifest=$2
    shift 2
    ! cmp --silent "$manifest" "$folder/.made-of" || return 0
    "$@"
    cp "$manifest" "$folder/.made-of"
}

npm_install() { once node_modules package.json npm install --silent --no-audit --no-fund --no-package-lock; }

# venv FOLDER MANIFEST PIP_ARGUMENT...: in the folder of the manifest.
venv() {
    local folder=$1 manifest=$2
    shift 2
    once "$folder" "$manifest" make_venv "$folder" "$@"
}

make_venv() {
    local folder=$1
    shift
    python3 -m venv --clear "$folder"
    "$folder/bin/pip" install --quiet --upgrade 'pip>=25.1'
    "$folder/bin/pip" install --quiet "$@"
}

on_postgres() { "$suite/postgres.sh" "$@"; }
first_login() { "$suite/first-login.sh" "$1"; }

install_typescript() {
    cd "$clients/typescript"
    npm_install
    npm run --silent build
    # The form logs in to it.
    cd "$clients/examples/express"
    npm_install
}

test_typescript() { cd "$clients/typescript"; node --test tests/*.test.mjs; }
typescript_on_postgres() { cd "$clients/typescript"; on_postgres node tests/adapter.mjs; }

test_examples_for_typescript() {
    local example
    for example in better-auth express nextjs; do
        cd "$clients/examples/$example"
        npm_install
        # A copy of the client would stay as it was.
        [ -L node_modules/dwar-client ] || {
            rm -r node_modules/dwar-client
            npm install --silent --no-audit --no-fund --no-package-lock
        }
        npm test
    done
    [ -n "$CHROMIUM" ] || return 0
    npm --prefix "$clients/examples/express" run test:browser
    cd "$clients/examples/proof"
    npm_install
    npm test
}

# The suite on Bun, on Deno, and on a Node that asks the environment for proxies.
test_typescript_on_other_runtimes() {
    cd "$clients/typescript"
    npm install --silent --no-audit --no-fund --no-package-lock --prefix "$scratch/runtimes" bun@1 deno@2 node@24
    local bin=$scratch/runtimes/node_modules/.bin runtime
    for runtime in bun "deno run --allow-all" node; do
        # shellcheck disable=SC2086 # words of a command
        node "$suite/run.mjs" "$bin"/$runtime tests/adapter.mjs
    done
}

test_form() {
    cd "$clients/form"
    npm_install
    npm test
}

install_python() {
    cd "$clients/python"
    venv "$tools/clients-python" pyproject.toml --editable . --group dev
}

check_python() {
    cd "$clients/python"
    mypy
    pyright
    ruff check
    ruff format --check
}

test_python() { cd "$clients/python"; pytest -q; }
python_on_postgres() { cd "$clients/python"; on_postgres python tests/adapter.py asyncio; }

# Their requirements; test_python plays all cases.
test_examples_for_python() {
    local example
    for example in fastapi django; do
        cd "$clients/examples/$example"
        venv "$scratch/$example" requirements.txt --requirement requirements.txt
        node "$suite/login.mjs" --only "the right code logs in" "$scratch/$example/bin/python" app.py
    done
}

# Go keeps the results of tests that read the same files, and knows nothing of the suite and the service.
test_go() {
    cd "$clients/go"
    go vet ./...
    go test -count=1 ./...
    cd "$clients/examples/net-http"
    go vet
    go test -count=1
}

go_on_postgres() {
    cd "$clients/go"
    go build -o "$scratch/go-adapter" ./internal/adapter
    on_postgres "$scratch/go-adapter"
}

test_rust() {
    cargo clippy --locked -p dwar-client --all-targets --features axum -- -D warnings
    cargo test --locked -p dwar-client --features axum
    # An application that chooses its TLS, and how much it gets by default.
    cargo check --locked -p dwar-client --no-default-features
    local crates
    crates=$(cargo tree --locked -p dwar-client --target x86_64-unknown-linux-gnu --edges normal --prefix none | sed 's/ (.*//' | sort -u | wc -l)
    [ "$crates" -le 95 ] || { echo "dwar-client brings $crates crates by default; 95 are enough"; return 1; }
    [ -z "$all" ] || with_rustls
    clients/rust/suite.sh
    first_login rust
    [ -z "$postgres" ] || on_postgres "${CARGO_TARGET_DIR:-$root/target}/debug/examples/adapter"
}

# An application with rustls, as the README of the client has it, but for the provider: that of `rustls` is C, and takes minutes.
with_rustls() {
    local client=$clients/rust target
    target=$(realpath "${CARGO_TARGET_DIR:-target}")
    cargo init --quiet --vcs none --name with-rustls "$scratch/with-rustls"
    (
        cd "$scratch/with-rustls"
        cargo add --quiet --path "$client" --no-default-features
        cargo add --quiet reqwest@0.13 --no-default-features --features rustls-no-provider
        cargo check --quiet --target-dir "$target"
        cargo tree --edges normal --prefix none >crates
        grep -q '^rustls ' crates && ! grep native-tls crates
    )
}

# Laravel as Debian has it, since Composer's own packages need a registry more. Its cache is the files of one machine.
test_php() {
    php clients/examples/php-laravel/addresses_test.php
    TMPDIR=$scratch node "$suite/login.mjs" php clients/examples/php-laravel/server.php
}

test_java() {
    cp -r clients/examples/spring "$scratch/spring"
    mvn --batch-mode --quiet --file "$scratch/spring" package
    node "$suite/login.mjs" java -jar "$scratch/spring/target/login.jar"
}

# Seeded faults change the sources of the client, so nothing else runs with it. The form's tests use that for TypeScript.
typescript_and_form_mutants() {
    local failed=""
    (cd "$clients/typescript"; npm run --silent mutants) || failed=1
    (cd "$clients/form"; npm run --silent mutants) || failed=1
    [ -z "$failed" ]
}
python_mutants() { cd "$clients/python"; "$suite/mutants.sh" . python tests/suite.py; }
go_mutants() {
    "$suite/mutants.sh" clients/go bash -o pipefail -c \
        "(go test -count=1 ./... && cd ../examples/net-http && go test -count=1) | sed 's/^--- FAIL:/not ok /'"
}
rust_mutants() { "$suite/mutants.sh" clients/rust ./suite.sh; }

command -v npm >/dev/null || apt_install nodejs npm
python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
[ -n "$(find_postgres)" ] || apt_install_unstarted postgresql
[ -e /usr/share/php/Illuminate/autoload.php ] && command -v php >/dev/null ||
    apt_install php-cli php-curl php-mbstring php-laravel-framework php-guzzlehttp-guzzle
[ -z "$all" ] || command -v mvn >/dev/null || apt_install maven
postgres=$(find_postgres)
[ -n "$postgres" ] || leave_out "the cases of the service on PostgreSQL"
CHROMIUM=$(find_browser)
export CHROMIUM
[ -n "$CHROMIUM" ] || leave_out "the form and the Express example in Chromium"
node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null || {
    leave_out "every client; node 20 is needed"
    exit 0
}
go="" rust="" python=""
! has go go || go=1
! has rust cargo || rust=1
! has python python3 || python=1
node "$suite/packages.mjs" || echo "packages.mjs" >>"$jobs_failed"

# What several parts use.
job "install typescript" install_typescript
[ -z "$python" ] || job "install python" install_python
wait
PATH=$tools/clients-python/bin:$PATH

# The longest first.
[ -z "$rust" ] || job "rust" test_rust
[ -z "$python" ] || job "python" test_python
[ -z "$CHROMIUM" ] || job "form" test_form
job "typescript" test_typescript
[ -z "$go" ] || job "go" test_go
job "examples for typescript" test_examples_for_typescript
if [ -n "$postgres" ]; then
    job "typescript on PostgreSQL" typescript_on_postgres
    [ -z "$python" ] || job "python on PostgreSQL" python_on_postgres
    [ -z "$go" ] || job "go on PostgreSQL" go_on_postgres
fi
[ -z "$python" ] || job "examples for python" test_examples_for_python
[ -z "$python" ] || job "types and style of python" check_python
! has php php || if [ -e /usr/share/php/Illuminate/autoload.php ]; then
    job "php" test_php
else
    leave_out "the Laravel example; Laravel is needed"
fi
job "first login in typescript" first_login typescript
[ -z "$python" ] || job "first login in python" first_login python
[ -z "$go" ] || job "first login in go" first_login go
if [ -n "$all" ]; then
    ! has java mvn java || job "java" test_java
    job "typescript on other runtimes" test_typescript_on_other_runtimes
    job "consumers of typescript" clients/typescript/consumers/run.sh
    [ -z "$CHROMIUM" ] || job "form in frameworks" npm --prefix clients/form run --silent frameworks
    job "messages in Kotlin" "$suite/messages/run.sh"
fi
wait
if [ -n "$mutants" ]; then
    job "seeded faults of typescript and the form" typescript_and_form_mutants
    [ -z "$python" ] || job "seeded faults of python" python_mutants
    [ -z "$go" ] || job "seeded faults of go" go_mutants
    [ -z "$rust" ] || job "seeded faults of rust" rust_mutants
fi
wait_for_jobs
