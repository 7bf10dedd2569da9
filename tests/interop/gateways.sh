#!/usr/bin/env bash
# Whole servers that take long to download and to build, configured as docs/proxies.md has it: Spring Boot and Oathkeeper
# introspect, and Caddy asks forward auth and stands in front of the service. Run by `all.sh --all` alone.
#
# usage: gateways.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$here/proxy-checks.sh"
binary=$(realpath "${1:-$target/debug/dwar}")
cd "$scratch"

# sample PAGE FIRST_LINE: the only sample of the page that begins with this line.
sample() {
    awk -v first="$2" '/^```/ { on = 0; begins = 1; next } begins && $0 == first { on = 1 } { begins = 0 } on' \
        "$here/../../docs/$1.md"
}

# build_go NAME MODULE VERSION IMPORTS MAIN: a program around the module of another one.
build_go() {
    command -v go >/dev/null || return
    mkdir -p "$tools/$1-source" && cd "$tools/$1-source" || return
    printf 'package main\n\nimport (\n%s\n)\n\nfunc main() { %s }\n' "$4" "$5" >main.go
    [ -e go.sum ] || { go mod init interop && go get "$2@$3"; } || return
    go build -mod=mod -o "../$1" .
}

build_spring() {
    command -v mvn >/dev/null || apt_install maven
    cp -r "$here/spring" spring && mvn --batch-mode --quiet -f spring/pom.xml package
}

project=$(new_project)
serve
DWAR_API_KEY=$(jq -r .live_key <<<"$project")
export DWAR_API_KEY
app_port=$(free_port)
node app.mjs "$app_port" &
left_out=()

# at_proxy NAME LOG COMMAND...: starts the server to test from now on, at $proxy.
at_proxy() {
    "${@:3}" >"$2" 2>&1 &
    for _ in 1 2 3 4 5 6; do ! until_answered "$proxy/" || return 0; done
    fail "$1 does not start: $(tail -n 30 "$2")"
}

new_proxy() {
    proxy_port=$(free_port)
    proxy=http://127.0.0.1:$proxy_port
}

# check_introspection NAME DOWN: only a request with a live token passes. DOWN is the status where Dwar does not answer.
check_introspection() {
    local pair token of_test person
    pair=$(login "$DWAR_API_KEY" 9876543212)
    token=$(jq -r .access_token <<<"$pair")
    of_test=$(login "$(jq -r .test_key <<<"$project")" 9876543212 | jq -r .access_token)
    is "$1: no token" "$(ask /)" 401
    is "$1: a bad token" "$(ask / -H 'Authorization: Bearer a.b.c')" 401
    is "$1: a token of the sandbox" "$(ask / -H "Authorization: Bearer $of_test")" 401
    is "$1: a refresh token" "$(ask / -H "Authorization: Bearer $(jq -r .refresh_token <<<"$pair")")" 401
    is "$1: a good token" "$(ask / -H "Authorization: Bearer $token")" 200
    person=$(reached x-user 2>/dev/null) || person=$(cat answer)
    is "$1: the identity" "$person" "$(jq -r .identity_id <<<"$pair")"
    call "$DWAR_API_KEY" /v1/session/logout "{\"access_token\":\"$token\"}" >/dev/null
    is "$1: logged out" "$(ask / -H "Authorization: Bearer $token")" 401
    token=$(login "$DWAR_API_KEY" 9876543213 | jq -r .access_token)
    stop_service
    is "$1: nobody to ask" "$(ask / -H "Authorization: Bearer $token")" "$2"
    is "$1: nobody to ask, the token is not at fault" "$(header www-authenticate | grep -c invalid_token)" 0
    serve
    is "$1: there again" "$(ask / -H "Authorization: Bearer $token")" 200
}

if (build_spring); then
    new_proxy
    sample proxies spring: | placed 0 0 >application-opaque.yaml
    at_proxy Spring spring.log java -jar spring/target/shop-*.jar --spring.profiles.active=opaque --server.port="$proxy_port"
    # An exception, whose page is then refused without a login.
    check_introspection Spring 401
else
    left_out+=("Spring Boot")
fi

if (build_go oathkeeper github.com/ory/oathkeeper v0.40.9 '"github.com/ory/oathkeeper/cmd"' 'cmd.Execute()'); then
    new_proxy
    {
        cat <<END
serve:
  proxy: { host: 127.0.0.1, port: $proxy_port }
  api: { host: 127.0.0.1, port: $(free_port) }
  prometheus: { host: 127.0.0.1, port: $(free_port) }
access_rules: { repositories: ["file://$scratch/rules.json"] }
authorizers: { allow: { enabled: true } }
mutators: { header: { enabled: true, config: { headers: { X-User: "{{ print .Subject }}" } } } }
END
        sample proxies authenticators: | placed 0 0 | sed "s/svc_live_…/$DWAR_API_KEY/"
    } >oathkeeper.yaml
    jq -n --arg app "http://127.0.0.1:$app_port" --arg match "$proxy/<.*>" '[{
        id: "all", upstream: { url: $app }, match: { url: $match, methods: ["GET", "POST"] },
        authenticators: [{ handler: "oauth2_introspection" }], authorizer: { handler: "allow" },
        mutators: [{ handler: "header" }] }]' >rules.json
    at_proxy Oathkeeper oathkeeper.log "$tools/oathkeeper" serve --config oathkeeper.yaml --sqa-opt-out
    check_introspection Oathkeeper 500
else
    left_out+=(Oathkeeper)
fi

if (build_go caddy github.com/caddyserver/caddy/v2 v2.11.2 \
    'caddycmd "github.com/caddyserver/caddy/v2/cmd"; _ "github.com/caddyserver/caddy/v2/modules/standard"' \
    'caddycmd.Main()'); then
    new_proxy
    { printf '{\n\tadmin off\n}\n' && block proxies caddyfile | placed "$proxy_port" "$app_port"; } >Caddyfile
    XDG_DATA_HOME=$scratch XDG_CONFIG_HOME=$scratch at_proxy Caddy caddy.log "$tools/caddy" run --config Caddyfile
    check_proxy Caddy 429 502

    caddy_in_front "$tools/caddy"
else
    left_out+=(Caddy)
fi
[ ${#left_out[@]} = 0 ] || leave_out "${left_out[*]}, since it could not be built"
