#!/usr/bin/env bash
# Starts the service once per algorithm and has both libraries of run.sh check its tokens.
#
# usage: algorithms.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
binary=$(realpath "${1:-$target/debug/dwar}")

for algorithm in ES256 EdDSA RS256; do
    mkdir "$scratch/$algorithm"
    cd "$scratch/$algorithm"
    export DWAR__TOKENS__ALGORITHM=$algorithm
    project=$(new_project)
    serve
    ISSUER=dwar PROJECT_ID=$(jq -r .project_id <<<"$project") \
        "$here/run.sh" "$DWAR_URL" "$(jq -r .test_key <<<"$project")" "$algorithm"
    kill "$service"
    wait "$service" || true
done
echo "algorithms.sh: PyJWT and jose accept ES256, EdDSA and RS256 tokens of the running service, and no forgery"
