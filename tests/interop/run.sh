#!/usr/bin/env bash
# Logs in at a running server through the sandbox and has foreign JWT libraries check the access token against the
# published keys.
#
# usage: run.sh BASE_URL TEST_KEY [ALG]
#   BASE_URL   such as http://127.0.0.1:8080
#   TEST_KEY   a test key (svc_test_…): nothing is sent, nothing is charged
#   ALG        ES256 (default), EdDSA or RS256: what the server signs with
# environment (optional): ISSUER, PROJECT_ID: what iss and aud must be; without them the token's own
#   iss and client_id are taken, which proves less.
set -euo pipefail

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
fi
. "$(dirname "$0")/lib.sh"
DWAR_URL=${1%/}

# A sandbox number without magic, and seldom the same twice: numbers have limits.
login=$(login "$2" 900000$((1000 + RANDOM % 9000)))
token=$(jq -r .access_token <<<"$login")
claims=$(part "$token" 2)
jq -e --argjson login "$login" '.sub == $login.identity_id and .sid == $login.session_id' <<<"$claims" >/dev/null ||
    fail "sub and sid are not the identity and the session"

check_token "$token" "$DWAR_URL/.well-known/jwks.json" \
    "${ISSUER:-$(jq -r .iss <<<"$claims")}" "${PROJECT_ID:-$(jq -r .client_id <<<"$claims")}" "${3:-ES256}"
exit "$failed"
