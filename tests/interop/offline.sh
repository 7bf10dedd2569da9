#!/usr/bin/env bash
# As run.sh, but without a server: has the signer make keys and tokens of each algorithm, serves the
# keys from a file, and has foreign JWT libraries check the tokens.
#
# usage: offline.sh
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# With the features of the whole workspace, so that what its tests have built is used.
(cd "$here" && cargo build --quiet --workspace --example interop_fixture)
"$target/debug/examples/interop_fixture" >"$scratch/fixture"
mkdir "$scratch/www"
python3 -m http.server --bind 127.0.0.1 --directory "$scratch/www" "$port" >"$scratch/log" 2>&1 &
until_answered "$DWAR_URL" || fail "no server of files: $(cat "$scratch/log")"

while read -r line; do
    field() { jq -r ".$1" <<<"$line"; }
    field jwks >"$scratch/www/$(field alg).json"
    check_token "$(field token)" "$DWAR_URL/$(field alg).json" "$(field issuer)" "$(field audience)" "$(field alg)"
done <"$scratch/fixture"
exit "$failed"
