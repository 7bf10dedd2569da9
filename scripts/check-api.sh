#!/usr/bin/env bash
# Fails if the public API breaks its clients: docs/openapi.json against docs/released/openapi.json, which is the copy
# of the last release. A release copies the one over the other.
#
# Needs go, with which it builds oasdiff into the target folder.
set -euo pipefail
PATH=$PATH:/usr/local/go/bin
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
version=v1.36.0
oasdiff=$target/test-tools/oasdiff-$version/oasdiff

if [ ! -x "$oasdiff" ]; then
    if ! command -v go >/dev/null ||
        ! GOBIN=$(dirname "$oasdiff") go install "github.com/oasdiff/oasdiff@$version" 2>/dev/null; then
        echo "check-api.sh: !!! LEFT OUT: whether the API breaks its clients; go and its proxy are needed !!!"
        [ -z "${CI:-}" ]
        exit
    fi
fi
"$oasdiff" breaking --fail-on ERR docs/released/openapi.json docs/openapi.json
