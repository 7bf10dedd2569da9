# Sourced by the scripts that have others verify the live tokens of projects with an issuer of their own: one such
# project for each type of token, and tokens that their issuers do not name. Which types a verifier takes is read from
# the table of docs/own-issuers.md.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
binary=$(realpath "${1:-$target/debug/dwar}")
cd "$scratch"

export DWAR__TOKENS__ISSUER=$DWAR_URL DWAR__TOKENS__PUBLISH_BEFORE_SECONDS=7200
declare -A project token issuer audience
for type in at+jwt JWT; do
    project[$type]=$(new_project --own-issuer on --token-type $type --token-claims role=authenticated)
    audience[$type]=$(jq -r .project_id <<<"${project[$type]}")
    issuer[$type]=$DWAR_URL/p/${audience[$type]}
done
other=$(new_project --own-issuer on)
plain=$(new_project)
serve

# token_of PROJECT KEY
token_of() { login "$(jq -r ".$2" <<<"$1")" 9876543210 | jq -r .access_token; }
for type in at+jwt JWT; do
    token[$type]=$(token_of "${project[$type]}" live_key)
    [ "$(part "${token[$type]}" 1 | jq -r .typ)" = $type ] || fail "the token is not of type $type"
    token["test of $type"]=$(token_of "${project[$type]}" test_key)
done
of_other=$(token_of "$other" live_key)
of_plain=$(token_of "$plain" live_key)

LIBRARIES=(
    jose oauth4webapi Hono "Hono, verification.typ" express-oauth2-jwt-bearer PyJWT "Django REST framework" Authlib
    go-oidc "go-oidc, NewVerifier"
)
SERVERS=("Spring Boot 3" "Spring Boot 4" Quarkus oauth2-proxy)
rows=$(sed -n '/^| Verifier/,/^$/s/^| \[\([^]]*\)\].*/\1/p' "$here/../../docs/own-issuers.md" | sort)
[ "$rows" = "$(printf '%s\n' "${LIBRARIES[@]}" "${SERVERS[@]}" | sort)" ] ||
    fail "docs/own-issuers.md lists other verifiers than are run: $rows"

# takes VERIFIER TYPE: whether the table says so.
takes() {
    local row column=4
    [ "$2" = at+jwt ] || column=5
    row=$(grep -F "| [$1](" "$here/../../docs/own-issuers.md") || fail "docs/own-issuers.md does not list $1"
    case $(cut -d'|' -f$column <<<"$row") in
    *yes*) return 0 ;;
    *no*) return 1 ;;
    esac
    fail "docs/own-issuers.md does not say whether $1 takes $2"
}

# expect_type VERIFIER TYPE [ROLE]: it takes the tokens of that project, if the table says so, and nothing else.
expect_type() {
    local verifier=$1 type=$2 keys
    keys=$(curl -fsS "${issuer[$type]}/.well-known/openid-configuration" | jq -r .jwks_uri)
    local arguments=("$keys" "${issuer[$type]}" "${audience[$type]}" ES256)
    export TYP=$type
    if ! takes "$verifier" "$type"; then
        expect refused "$type" "$verifier" "${token[$type]}" "${arguments[@]}"
        return
    fi
    expect accepted "$type" "$verifier" "${token[$type]}" "${arguments[@]}" ${3:+"$3"}
    [ -z "${3:-}" ] || expect refused "other role" "$verifier" "${token[$type]}" "${arguments[@]}" service_role
    expect_altered_refused "$verifier" "${token[$type]}" "${arguments[@]}"
    expect refused "a test token" "$verifier" "${token["test of $type"]}" "${arguments[@]}"
    expect refused "of another issuer" "$verifier" "$of_other" "${arguments[@]}"
    expect refused "of no issuer of its own" "$verifier" "$of_plain" "${arguments[@]}"
}
