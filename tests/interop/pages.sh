#!/usr/bin/env bash
# Runs the programs of docs/api.md, docs/events.md and docs/reading-events.md unchanged, in JavaScript and Python: they
# must accept the tokens and events of a running service, and refuse altered ones.
#
# usage: pages.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
binary=$(realpath "${1:-$target/debug/dwar}")
cd "$scratch"

# block PAGE LANGUAGE: the only program of the page in this language.
block() { awk -v fence="\`\`\`$2" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$here/../../docs/$1.md"; }

export DWAR__EVENTS__ALLOW_PRIVATE=true
project=$(new_project)
DWAR_PROJECT_ID=$(jq -r .project_id <<<"$project")
export DWAR_PROJECT_ID
serve

# token KEY
token() { login "$(jq -r ".$1" <<<"$project")" 9876543210 | jq -r .access_token; }
live=$(token live_key)
test=$(token test_key)
forged=$(altered "other signature" "$live")

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
        ! $check "$bad" 2>/dev/null || fail "$check takes a token that it should refuse"
    done
done

# receives NAME COMMAND...: the receiver takes a signed event, and refuses a forged one.
receives() {
    local name=$1 address made status
    address=http://127.0.0.1:$PORT/dwar-events
    made=$("$binary" webhook add --project "$DWAR_PROJECT_ID" --url "$address" --json)
    DWAR_WEBHOOK_SECRET=$(jq -r .secret <<<"$made") "${@:2}" >"$name" 2>"$name.log" &
    until_answered "$address" || fail "$name does not start: $(cat "$name.log")"
    "$binary" webhook test --project "$DWAR_PROJECT_ID" --webhook "$(jq -r .webhook.webhook_id <<<"$made")"
    grep -q webhook.test "$name"
    status=$(curl -s -o /dev/null -w '%{http_code}' "$address" -H 'Content-Type: application/json' -H 'webhook-id: msg_1' \
        -H "webhook-timestamp: $(date +%s)" -H "webhook-signature: v1,$(printf x | base64)" -d '{"type":"otp.sent"}')
    [ "$status" = 401 ] || fail "$name answers $status to a forged event"
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

# The job that loads a warehouse gets each event exactly once, also after it was killed.
"$binary" project set --project "$DWAR_PROJECT_ID" --events-feed on
block reading-events python >load.py
DWAR_KEY=$(jq -r .test_key <<<"$project")
export DWAR_KEY DWAR_URL
loaded() { "$python" -c 'import sqlite3; print(*sqlite3.connect("warehouse.db").execute("SELECT count(*) FROM events").fetchone())'; }
# A login makes three: sent, delivered, verified.
for wanted in 3 6; do
    login "$DWAR_KEY" "987654321$wanted" >/dev/null
    "$python" load.py 2>load.log &
    job=$!
    for _ in $(seq 100); do
        [ "$(loaded 2>/dev/null || true)" != "$wanted" ] || break
        sleep 0.1
    done
    kill -9 "$job"
    wait "$job" 2>/dev/null || true
    [ "$(loaded)" = "$wanted" ] || fail "the warehouse has $(loaded) events, not $wanted: $(cat load.log)"
done
echo "pages.sh: the programs of docs/api.md, docs/events.md and docs/reading-events.md do what they should, in JavaScript and Python"
