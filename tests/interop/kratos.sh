#!/usr/bin/env bash
# Ory Kratos, whose courier sends the codes of a login to Dwar as in docs/hooks.md, while answers get lost: one message
# and one charge. Its registration by SMS fails before it makes any call.
#
# usage: kratos.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
# Builds Kratos from its Go module, which takes minutes and 1 GB the first time.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
binary=$(realpath "${1:-$target/debug/dwar}")

# The replacements are those of Kratos' own go.mod, but for its generated client, which its tests alone use.
build_kratos() {
    mkdir -p "$tools/kratos" && cp "$here/kratos/main.go" "$tools/kratos/" && cd "$tools/kratos" || return
    if [ ! -e go.sum ]; then
        printf '%s\n' 'module kratos.example' 'go 1.23' 'require github.com/ory/kratos v1.3.1' 'replace (' \
            'github.com/gobuffalo/pop/v6 => github.com/ory/pop/v6 v6.2.0' \
            'github.com/gorilla/sessions => github.com/ory/sessions v1.2.2-0.20220110165800-b09c17334dc2' \
            'github.com/mattn/go-sqlite3 => github.com/mattn/go-sqlite3 v1.14.22' ')' >go.mod
        go mod tidy || { rm -f go.sum; return 1; }
    fi
    go build -tags sqlite -o ../kratos-serve .
}

command -v go >/dev/null || leave_out "Kratos, since Go is not there"
command -v cc >/dev/null || apt_install gcc libc6-dev || leave_out "Kratos, since there is no C compiler"
(build_kratos) || leave_out "Kratos, since it could not be built"
cd "$scratch"

made=$(new_project --relay-live on)
key=$(jq -r .live_key <<<"$made")
project=$(jq -r .project_id <<<"$made")
serve

# lose HOW_MANY: starts the proxy in between; sets $between.
lose() {
    node lossy.mjs "$DWAR_URL" "$1" >address 2>told &
    for _ in $(seq 50); do [ -s address ] && break || sleep 0.1; done
    between=$(cat address)
}
lose 2

public=http://127.0.0.1:$(free_port)
admin=http://127.0.0.1:$(free_port)
awk '/^```jsonnet/ { on = 1; next } /^```/ { on = 0 } on' "$here/../../docs/hooks.md" >dwar.jsonnet
cat >kratos.yml <<YML
version: v1.3.1
dsn: memory
serve:
  public: { host: 127.0.0.1, port: ${public##*:}, base_url: $public }
  admin: { host: 127.0.0.1, port: ${admin##*:}, base_url: $admin }
identity:
  default_schema_id: default
  schemas: [{ id: default, url: file://$here/kratos/identity.schema.json }]
selfservice:
  default_browser_return_url: $public
  methods:
    password: { enabled: false }
    code: { enabled: true, passwordless_enabled: true }
courier:
  worker: { pull_wait: 200ms }
  channels:
    - id: sms
      type: http
      request_config:
        url: $between/v1/otp/relay
        method: POST
        body: file://$scratch/dwar.jsonnet
        headers:
          Content-Type: application/json
        auth:
          type: api_key
          config: { in: header, name: X-Api-Key, value: $key }
YML
"$tools/kratos-serve" serve -c kratos.yml --dev --watch-courier >kratos.log 2>&1 &
until_answered -f "$admin/admin/health/ready" || fail "Kratos does not start: $(tail -n 20 kratos.log)"

# post URL BODY: the answer of Kratos.
post() { curl -sS --max-time 20 "$1" -H 'Content-Type: application/json' -H 'Accept: application/json' -d "$2"; }

# flow KIND: where a flow of an app is submitted.
flow() { curl -sS "$public/self-service/$1/api" -H 'Accept: application/json' | jq -r .ui.action; }

# messages: how many the console has for the phone.
messages() { jq -rR 'fromjson? | select(.to == "+919876543210") | .text' console | wc -l; }

phone=+919876543210
made=$(post "$admin/admin/identities" "{\"schema_id\":\"default\",\"traits\":{\"phone\":\"$phone\"}}")
jq -e .id <<<"$made" >/dev/null || fail "no identity: $made"
action=$(flow login)
post "$action" "{\"method\":\"code\",\"identifier\":\"$phone\"}" >asked
for _ in $(seq 150); do ! grep -qx '200 replayed' told || break; sleep 0.2; done
grep -qx '200 replayed' told || fail "no repetition was answered: $(cat told) $(tail -n 5 kratos.log)"
grep -q lost told || fail "no answer was lost: $(cat told)"
[ "$(messages)" = 1 ] || fail "$(messages) messages, one wanted"
printf 'ok    kratos: a code whose answer was lost twice arrives once\n'

held=$("$binary" wallet balance --project "$project" --json)
spent=$("$binary" wallet statement --project "$project" --json | jq '[.items[]? | select(.kind == "capture")] | length')
[ "$spent" = 1 ] || fail "$spent charges, one wanted: $held"
printf 'ok    kratos: it is charged once\n'

code=$(jq -rR 'fromjson? | select(.to == "+919876543210") | .text' console | cut -c 1-6)
session=$(post "$action" "{\"method\":\"code\",\"identifier\":\"$phone\",\"code\":\"$code\"}")
jq -e .session_token <<<"$session" >/dev/null || fail "the code opens nothing: $session"
printf 'ok    kratos: the code logs in\n'

before=$(wc -l <told)
refused=$(post "$(flow registration)" '{"method":"code","traits":{"phone":"+919876543211"}}')
grep -q 'Expected sms template' <<<"$refused" || fail "a registration by SMS did not fail as it did: $refused"
[ "$(wc -l <told)" = "$before" ] || fail "a registration called the service"
printf 'ok    kratos: its registration by SMS still fails inside\n'
