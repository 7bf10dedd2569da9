#!/usr/bin/env bash
# Runs the programs of docs/api.md and docs/events.md as they stand there, in JavaScript and Python: they have to take the
# tokens and events of a running service, and to refuse what is not quite one.
#
# usage: pages.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
# Needs bash, curl, jq, python3 with venv, node 20 or later with npm, and a way to PyPI and npm; as root on Debian or
# Ubuntu it installs what is missing. Without it says what it leaves out, and fails in CI.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/lib/apt.sh

target=${CARGO_TARGET_DIR:-$PWD/target}
binary=$(realpath "${1:-$target/debug/dwar}")
docs=$PWD/docs
libraries=$target/test-tools/pages
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT

leave_out() {
    echo "pages.sh: !!! LEFT OUT: the programs of the pages; $* !!!"
    [ -z "${CI:-}" ]
    exit
}

# block PAGE LANGUAGE: its one program in this language.
block() { awk -v fence="\`\`\`$2" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$docs/$1.md"; }

install_libraries() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    command -v node >/dev/null && command -v npm >/dev/null || apt_install nodejs npm
    command -v jq >/dev/null || apt_install jq
    mkdir -p "$libraries"
    [ -x "$libraries/venv/bin/flask" ] || {
        python3 -m venv "$libraries/venv" &&
            "$libraries/venv/bin/pip" install -q 'pyjwt[crypto]==2.*' 'flask==3.*' 'standardwebhooks==1.*'
    }
    [ -d "$libraries/node_modules/express" ] ||
        (cd "$libraries" && npm install --silent --no-audit --no-fund jose@6 express@5 standardwebhooks@1 1>&2)
}

install_libraries || leave_out "their libraries could not be installed"
cd "$scratch"
ln -s "$libraries/node_modules" node_modules
python=$libraries/venv/bin/python

# free_port: one that nothing listens on.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

port=$(free_port)
export DWAR_URL=http://127.0.0.1:$port
export DWAR__HTTP__ADDRESS=127.0.0.1:$port DWAR__DASHBOARD__ADDRESS= DWAR__DEMO=false DWAR__EVENTS__ALLOW_PRIVATE=true
project=$("$binary" project create --name Shop --balance-rupees 10 --json)
DWAR_PROJECT_ID=$(jq -r .project_id <<<"$project")
export DWAR_PROJECT_ID
"$binary" serve >console 2>log &
for _ in $(seq 100); do
    ! curl -fs -o /dev/null "$DWAR_URL/readyz" || break
    sleep 0.1
done

call() { curl -fsS "$DWAR_URL$2" -H "X-Api-Key: $1" -H 'Content-Type: application/json' ${3:+-d "$3"}; }

# login KEY: an access token. The code of a live key is on the console, that of a test key in the sandbox.
login() {
    call "$1" /v1/otp/send '{"phone":"9876543210"}' >sent
    local code
    case $1 in
        svc_live_*) code=$(jq -rR 'fromjson? | .text // empty' console | tail -n 1 | cut -c 1-6) ;;
        *) code=$(call "$1" '/v1/sandbox/messages?phone=9876543210' | jq -r '.messages[0].code') ;;
    esac
    call "$1" /v1/otp/verify '{"phone":"9876543210","code":"'"$code"'"}' | jq -r .access_token
}

live=$(login "$(jq -r .live_key <<<"$project")")
test=$(login "$(jq -r .test_key <<<"$project")")
IFS=. read -r head claims signature <<<"$live"
forged=$head.$claims.$(tr A-Za-z B-ZAb-za <<<"$signature")

block api js >api.mjs
cat >check.mjs <<'END'
import { check } from "./api.mjs";
const claims = await check(process.argv[2]);
if (!claims.sub || !claims.sid) throw new Error("no person, no session");
END
block api python >api.py
cat >check.py <<'END'
import sys
from api import check
claims = check(sys.argv[1])
assert claims["sub"] and claims["sid"]
END
for check in "node check.mjs" "$python check.py"; do
    $check "$live"
    for bad in "$test" "$forged"; do
        if $check "$bad" 2>/dev/null; then
            echo "pages.sh: $check takes a token that it should refuse"
            exit 1
        fi
    done
done

# receives NAME COMMAND...: the receiver takes a signed event, and refuses a forged one.
receives() {
    local name=$1 address made status
    address=http://127.0.0.1:$PORT/dwar-events
    made=$("$binary" webhook add --project "$DWAR_PROJECT_ID" --url "$address" --json)
    DWAR_WEBHOOK_SECRET=$(jq -r .secret <<<"$made") "${@:2}" >"$name" 2>"$name.log" &
    for _ in $(seq 100); do
        ! curl -s -o /dev/null "$address" || break
        sleep 0.1
    done
    "$binary" webhook test --project "$DWAR_PROJECT_ID" --endpoint "$(jq -r .webhook.webhook_id <<<"$made")"
    grep -q webhook.test "$name"
    status=$(curl -s -o /dev/null -w '%{http_code}' "$address" -H 'Content-Type: application/json' -H 'webhook-id: msg_1' \
        -H "webhook-timestamp: $(date +%s)" -H "webhook-signature: v1,$(printf x | base64)" -d '{"type":"otp.sent"}')
    [ "$status" = 401 ] || { echo "pages.sh: $name answers $status to a forged event"; exit 1; }
}

{
    echo 'globalThis.remember = (id, event) => console.log(id, event.type);'
    block events js
    echo 'app.listen(process.env.PORT, "127.0.0.1");'
} >receiver.mjs
{
    echo 'def remember(id, event): print(id, event["type"], flush=True)'
    block events python
    echo 'app.run(port=int(os.environ["PORT"]))'
} >receiver.py
export PORT
PORT=$(free_port)
receives javascript node receiver.mjs
PORT=$(free_port)
receives python "$python" receiver.py
echo "pages.sh: the programs of docs/api.md and docs/events.md do what they should, in JavaScript and Python"
