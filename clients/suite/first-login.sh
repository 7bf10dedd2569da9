#!/usr/bin/env bash
# From an empty folder to a login, with the client of this checkout and the first program of its README: at most ten
# lines of one's own, and five minutes. Imports, comments, and lines of brackets alone are nobody's own.
#
# usage: DWAR_BIN=… first-login.sh typescript|python|go|rust
# typescript wants `npm install` in the client's folder before; rust builds in CARGO_TARGET_DIR, or this checkout's target.
set -euo pipefail
clients=$(cd "$(dirname "$0")/.." && pwd)
language=$1
client=$clients/$language
DWAR_BIN=$(realpath "$DWAR_BIN")
SECONDS=0
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT

fail() {
    echo "first-login.sh: $language: $*" >&2
    exit 1
}

# start_service: in memory, with a project whose test key it prints.
start_service() {
    mkdir "$scratch/service"
    cd "$scratch/service"
    DWAR__DATABASE__URL=memory: DWAR__HTTP__ADDRESS=127.0.0.1:0 DWAR__DASHBOARD__ADDRESS= DWAR__METRICS__ADDRESS=off \
        "$DWAR_BIN" serve >banner 2>log &
    for _ in $(seq 100); do
        ! grep -q 'Test key' banner || break
        sleep 0.1
    done
    DWAR_URL=$(sed -n 's/.* ready at //p' banner)
    DWAR_API_KEY=$(sed -n 's/.*Test key *//p' banner)
    [ -n "$DWAR_API_KEY" ] || fail "the service does not start: $(cat log)"
    export DWAR_URL DWAR_API_KEY
}

# write FENCE FILE: the first program of the README. Sets $lines, how many are one's own.
write() {
    awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } on && /^```/ { exit } on' "$client/README.md" >"$2"
    lines=$(sed '/^import ($/,/^)$/d' "$2" | grep -Evc '^\s*((//|# ).*|(package|import|from|use) .*|[])}]*[;,]?)$') ||
        fail "README.md has no program"
}

run_typescript() {
    write ts login.mts
    npm pack --silent --pack-destination "$scratch" "$client" >/dev/null
    npm install --silent --no-audit --no-fund "$scratch"/dwar-client-*.tgz tsx
    npx tsx login.mts
}

run_python() {
    write python login.py
    python3 -m venv venv
    venv/bin/pip install --quiet --disable-pip-version-check "$client"
    venv/bin/python login.py
}

run_go() {
    write go login.go
    go mod init shop
    go mod edit -replace "github.com/dwar-auth/dwar-go=$client"
    go mod tidy
    go run .
}

run_rust() {
    cargo init --quiet --name shop
    write rust,no_run src/main.rs
    cargo add --quiet --path "$client"
    cargo add --quiet tokio@1 --features macros,rt-multi-thread
    # With the dependencies of this checkout, so that they are built once.
    cp "$clients/../Cargo.lock" .
    cargo run --quiet --target-dir "${CARGO_TARGET_DIR:-$clients/../target}"
}

start_service
mkdir "$scratch/shop"
cd "$scratch/shop"
"run_$language" >"$scratch/output"
grep -q '^[0-9a-f-]\{36\} is logged in$' "$scratch/output" || fail "nobody is logged in: $(cat "$scratch/output")"

echo "first-login.sh: $language: $lines lines, $SECONDS seconds"
[ "$lines" -le 10 ] || fail "more than ten lines"
[ "$SECONDS" -le 300 ] || fail "more than five minutes"
