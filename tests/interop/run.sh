#!/usr/bin/env bash
# Logs in at a running server through the sandbox and has foreign JWT libraries check the access
# token against the published keys.
#
# usage: run.sh BASE_URL TEST_KEY [ALG]
#   BASE_URL   such as http://127.0.0.1:8080
#   TEST_KEY   a test key (svc_test_…): nothing is sent, nothing is charged
#   ALG        ES256 (default), EdDSA or RS256: what the server signs with
# environment (optional): ISSUER, PROJECT_ID: what iss and aud must be; without them the token's own
#   iss and client_id are taken, which proves less.
# Needs bash, curl, jq, python3 with venv, node 20 or later with npm, and a way to PyPI and npm.
set -euo pipefail

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
fi
BASE=${1%/} KEY=$2 ALG=${3:-ES256}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TEMP=$(mktemp -d)
trap 'rm -rf "$TEMP"' EXIT
# shellcheck source=lib.sh
. "$HERE/lib.sh"

fail() {
    echo "FAIL  $*" >&2
    exit 1
}

# call METHOD PATH [BODY]: the answer's body; anything but 200 ends the run.
call() {
    local method=$1 path=$2 status
    status=$(curl --silent --show-error --max-time 20 --output "$TEMP/answer" \
        --write-out '%{http_code}' --request "$method" --header "X-Api-Key: $KEY" \
        ${3:+--header 'Content-Type: application/json' --data "$3"} "$BASE$path") ||
        fail "$method $path: no answer"
    [ "$status" = 200 ] || fail "$method $path: $status $(cat "$TEMP/answer")"
    cat "$TEMP/answer"
}

# The claims of a token, unverified.
claim() {
    local payload
    payload=$(cut -d. -f2 <<<"$TOKEN" | tr -- '-_' '+/')
    while [ $((${#payload} % 4)) -ne 0 ]; do payload+='='; done
    base64 -d <<<"$payload" | jq -r ".$1"
}

# A sandbox number that is none of the magic ones, and seldom the same twice: numbers have limits.
PHONE=900000$((1000 + RANDOM % 9000))
OTP=$(call POST /v1/otp/send "{\"phone\":\"$PHONE\"}" | jq -r .otp_id)
CODE=$(call GET "/v1/sandbox/messages?phone=$PHONE" |
    jq -r --arg otp "$OTP" 'first(.messages[] | select(.otp_id == $otp)).code')
LOGIN=$(call POST /v1/otp/verify "{\"phone\":\"$PHONE\",\"code\":\"$CODE\"}")
TOKEN=$(jq -r .access_token <<<"$LOGIN")
echo "ok    logged in              $PHONE, session $(jq -r .session_id <<<"$LOGIN")"

[ "$(claim sub)" = "$(jq -r .identity_id <<<"$LOGIN")" ] || fail "sub is not the identity"
[ "$(claim sid)" = "$(jq -r .session_id <<<"$LOGIN")" ] || fail "sid is not the session"

install_libraries
FAILED=0
check_token "$TOKEN" "$BASE/.well-known/jwks.json" \
    "${ISSUER:-$(claim iss)}" "${PROJECT_ID:-$(claim client_id)}" "$ALG"
exit "$FAILED"
