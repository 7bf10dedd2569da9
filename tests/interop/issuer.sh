#!/usr/bin/env bash
# A project with an issuer of its own: libraries that are told nothing but this issuer (oauth4webapi, go-oidc), or the
# keys that discovery names (jose, PyJWT), accept its live tokens. They refuse altered ones, those of its sandbox, and
# those of other projects.
#
# usage: issuer.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
binary=$(realpath "${1:-$target/debug/dwar}")
cd "$scratch"

(build_go_oidc) || leave_out "the issuer of a project, since go-oidc could not be built"
command -v openssl >/dev/null || apt_install openssl

# make_certificate NAME OPTION...
make_certificate() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=$1" -keyout "$1.key" -out "$1.pem" "${@:2}" 2>/dev/null
}
make_certificate ca
make_certificate proxy -CA ca.pem -CAkey ca.key -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=CA:FALSE
# The first is read by Node, the second by Go and Python.
export NODE_EXTRA_CA_CERTS=$scratch/ca.pem SSL_CERT_FILE=$scratch/ca.pem

node proxy.mjs proxy.key proxy.pem "$DWAR_URL" >address &
for _ in $(seq 100); do [ ! -s address ] || break; sleep 0.1; done
DWAR__TOKENS__ISSUER=$(cat address)
export DWAR__TOKENS__ISSUER DWAR__TOKENS__PUBLISH_BEFORE_SECONDS=7200

project=$(new_project --own-issuer on --token-claims role=authenticated)
other=$(new_project --own-issuer on)
plain=$(new_project)
serve

# token PROJECT KEY
token() { login "$(jq -r ".$2" <<<"$1")" 9876543210 | jq -r .access_token; }
live=$(token "$project" live_key)
test=$(token "$project" test_key)
of_other=$(token "$other" live_key)
of_plain=$(token "$plain" live_key)

id=$(jq -r .project_id <<<"$project")
issuer=$DWAR__TOKENS__ISSUER/p/$id
keys=$(curl -fsS --cacert ca.pem "$issuer/.well-known/openid-configuration" | jq -r .jwks_uri)
for with in oauth4webapi go-oidc jose PyJWT; do
    case $with in
    jose | PyJWT) arguments=("$keys" "$issuer" "$id" ES256) ;;
    *) arguments=("$issuer" "$id") ;;
    esac
    expect accepted "a live token" "$with" "$live" "${arguments[@]}" authenticated
    expect refused "other role" "$with" "$live" "${arguments[@]}" service_role
    expect_altered_refused "$with" "$live" "${arguments[@]}" authenticated
    expect refused "a test token" "$with" "$test" "${arguments[@]}"
    expect refused "of another issuer" "$with" "$of_other" "${arguments[@]}"
    expect refused "of no issuer of its own" "$with" "$of_plain" "${arguments[@]}"
done
exit "$failed"
