#!/usr/bin/env bash
# As run.sh, but without a server: has the signer make keys and tokens of each algorithm, serves the
# keys from a file, and has foreign JWT libraries check the tokens.
#
# usage: offline.sh
# Needs bash, cargo, jq, python3 with venv, node 20 or later with npm, and a way to PyPI and npm.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TEMP=$(mktemp -d)
SERVER=
trap '[ -z "$SERVER" ] || kill "$SERVER"; rm -rf "$TEMP"' EXIT
# shellcheck source=lib.sh
. "$HERE/lib.sh"

(cd "$HERE" && cargo run --quiet -p dwar-josekit --example interop_fixture) >"$TEMP/fixture"
install_libraries

mkdir "$TEMP/www"
python3 -u - "$TEMP/www" >"$TEMP/port" 2>/dev/null <<'PYTHON' &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port)
server.serve_forever()
PYTHON
SERVER=$!
for _ in $(seq 50); do [ -s "$TEMP/port" ] && break || sleep 0.1; done
BASE=http://127.0.0.1:$(cat "$TEMP/port")

FAILED=0
while read -r LINE; do
    field() { jq -r ".$1" <<<"$LINE"; }
    field jwks >"$TEMP/www/$(field alg).json"
    check_token "$(field token)" "$BASE/$(field alg).json" "$(field issuer)" "$(field audience)" \
        "$(field alg)"
done <"$TEMP/fixture"
exit "$FAILED"
