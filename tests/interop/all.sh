#!/usr/bin/env bash
# Starts the service once per algorithm and has both libraries check its tokens.
#
# usage: all.sh [PATH_OF_THE_BINARY]   (target/release/dwar by default)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=$(realpath "${1:-$here/../../target/release/dwar}")
scratch=$(mktemp -d)
service=""
trap '[ -z "$service" ] || kill "$service" 2>/dev/null; rm -rf "$scratch"' EXIT

for algorithm in ES256 EdDSA RS256; do
    mkdir "$scratch/$algorithm"
    cd "$scratch/$algorithm"
    DWAR__TOKENS__ALGORITHM=$algorithm DWAR__HTTP__ADDRESS=127.0.0.1:0 DWAR__LOG__FORMAT=json \
        "$binary" >welcome 2>log &
    service=$!
    for _ in $(seq 100); do
        grep -q svc_test_ welcome && break
        sleep 0.1
    done
    base=$(grep -o 'listening on http://[0-9.:]*' log | grep -o 'http://.*')
    key=$(grep -o 'svc_test_[0-9A-Za-z]*' welcome | head -n 1)
    ISSUER=dwar "$here/run.sh" "$base" "$key" "$algorithm"
    kill "$service"
    wait "$service" || true
    service=""
done
echo "all.sh: PyJWT and jose accept ES256, EdDSA and RS256 tokens of the running service, and no forgery"
