# Sourced by scripts that put a proxy of docs/proxies.md before an application. They have sourced lib.sh.
# shellcheck shell=bash

# block PAGE LANGUAGE: its one program in this language.
block() { awk -v fence="\`\`\`$2" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$here/../../docs/$1.md"; }

# placed PROXY_PORT APP_PORT: what a page says, with the addresses of this test.
placed() { sed -e "s/127\.0\.0\.1:8090/127.0.0.1:$1/; s/127\.0\.0\.1:9000/127.0.0.1:$2/; s/127\.0\.0\.1:8080/127.0.0.1:$port/"; }

# is WHAT FOUND WANTED
is() {
    [ "$2" = "$3" ] || fail "$1: $2, $3 wanted"
    printf 'ok    %s\n' "$1"
}

# ask PATH [CURL_ARGUMENT...]: the status; the answer is in the file answer, its headers in the file head.
ask() {
    curl -sS --max-time 20 --path-as-is -o answer -D head -w '%{http_code}' "$proxy$1" "${@:2}"
}

# reached [HEADER]: what the application saw of a header, several of them separated by commas.
reached() { jq -r --arg name "$1" '[.headers[] | select(.[0] == $name)[1]] | join(",")' answer; }

# header NAME: of the answer.
header() { tr -d '\r' <head | sed -n "s/^$1: //Ip" | tail -n 1; }

# stop_service: nobody answers at its address any more.
stop_service() {
    kill "$service"
    wait "$service" || true
}

# check_proxy NAME LIMITED: a proxy at $proxy lets pass who is logged in with the live key of $project, and nobody else.
# LIMITED is its status where the key has asked too often, DOWN where Dwar does not answer.
check_proxy() {
    local name=$1 limited=$2 down=$3 key pair token bearer cookie other
    key=$(jq -r .live_key <<<"$project")
    pair=$(login "$key" 9876543210)
    token=$(jq -r .access_token <<<"$pair")
    bearer=(-H "Authorization: Bearer $token")
    cookie=(-H "Cookie: theme=dark; __Host-dwar_access=$token; a=b")

    is "$name: no token" "$(ask /orders)" 401
    is "$name: no token, the challenge" "$(header www-authenticate)" 'Bearer realm="v1"'
    is "$name: a bad token" "$(ask /orders -H "Authorization: Bearer x${token}")" 401
    is "$name: a bad token, the challenge" "$(header www-authenticate)" 'Bearer realm="v1", error="invalid_token"'
    is "$name: another scheme" "$(ask /orders -u "a:$token")" 401

    is "$name: a good token" "$(ask '/orders/7?a=b%20c&d=%2F' "${bearer[@]}")" 200
    is "$name: the identity" "$(reached x-dwar-identity)" "$(jq -r .identity_id <<<"$pair")"
    is "$name: the session" "$(reached x-dwar-session)" "$(jq -r .session_id <<<"$pair")"
    is "$name: the path" "$(jq -r .url answer)" '/orders/7?a=b%20c&d=%2F'
    is "$name: no key for the application" "$(reached x-api-key)" ""
    is "$name: what the client calls itself" "$(ask /orders "${bearer[@]}" -H 'X-Dwar-Identity: root' \
        -H 'x-dwar-session: root' -H 'X_Dwar_Identity: root' -H 'X_DWAR_SESSION: root')" 200
    is "$name: is not believed" "$(reached x-dwar-identity)" "$(jq -r .identity_id <<<"$pair")"
    is "$name: nowhere in its headers" "$(jq '[.headers[][1] | select(. == "root")] | length' answer)" 0
    is "$name: without a token neither" "$(ask /orders -H 'X-Dwar-Identity: root')" 401

    for other in POST PUT PATCH DELETE; do
        is "$name: $other" "$(ask /orders -X "$other" "${bearer[@]}" -d a=b)" 200
        is "$name: $other reaches the application whole" "$(jq -r '"\(.method) \(.body)"' answer)" "$other a=b"
    done
    head -c 300000 /dev/zero | tr '\0' a >large
    is "$name: a large body" "$(ask /orders "${bearer[@]}" -T large)" 200
    is "$name: is whole" "$(jq '.body | length' answer)" 300000
    is "$name: a large body without a token" "$(ask /orders -T large)" 401
    is "$name: HEAD" "$(ask /orders -I "${bearer[@]}")" 200
    is "$name: OPTIONS" "$(ask /orders -X OPTIONS "${bearer[@]}")" 200
    is "$name: large cookies" "$(ask /orders "${bearer[@]}" -H "Cookie: a=$(head -c 6000 large)")" 200
    is "$name: a handshake of a web socket" "$(ask /orders "${bearer[@]}" -H 'Connection: Upgrade' \
        -H 'Upgrade: websocket')" 200
    is "$name: a 500 of the application stays one" "$(ask /fails "${bearer[@]}")" 500
    is "$name: with what the application says" "$(header x-app)" here

    is "$name: a token in the cookie" "$(ask /orders "${cookie[@]}")" 200
    is "$name: and whose" "$(reached x-dwar-identity)" "$(jq -r .identity_id <<<"$pair")"
    is "$name: cookie, a form of its own" "$(ask /orders "${cookie[@]}" -H 'Sec-Fetch-Site: same-origin' -d a=b)" 200
    is "$name: cookie, a link of another site" "$(ask /orders "${cookie[@]}" -H 'Sec-Fetch-Site: cross-site')" 200
    is "$name: cookie, a form of another site" "$(ask /orders "${cookie[@]}" -H 'Sec-Fetch-Site: cross-site' -d a=b)" 401
    is "$name: cookie, a form of a sibling" "$(ask /orders "${cookie[@]}" -H 'Sec-Fetch-Site: same-site' -d a=b)" 401
    is "$name: a cookie of a longer name" "$(ask /orders -H "Cookie: x__Host-dwar_access=$token")" 401
    is "$name: the header goes before" "$(ask /orders "${cookie[@]}" -H 'Authorization: Bearer bad')" 401
    is "$name: a bad token in the cookie" "$(ask /orders -H 'Cookie: __Host-dwar_access=bad')" 401

    for _ in $(seq 30); do [ "$(ask /orders "${bearer[@]}")" = 200 ] || fail "$name: one of many"; done
    call "$key" /v1/session/logout "{\"access_token\":\"$token\"}" >/dev/null
    is "$name: logged out" "$(ask /orders "${bearer[@]}")" 401
    is "$name: logged out, by cookie" "$(ask /orders "${cookie[@]}")" 401

    token=$(login "$key" 9876543211 | jq -r .access_token)
    stop_service
    DWAR__LIMITS__LIVE__VALIDATE_PER_MINUTE=1 serve
    ask /orders -H "Authorization: Bearer $token" >/dev/null
    is "$name: asked too often" "$(ask /orders -H "Authorization: Bearer $token")" "$limited"
    [ "$(header retry-after)" -ge 1 ] || fail "$name: asked too often, when to come again: $(cat head)"
    stop_service
    is "$name: nobody to ask" "$(ask /orders -H "Authorization: Bearer $token")" "$down"
    serve
    is "$name: there again" "$(ask /orders -H "Authorization: Bearer $token")" 200
}
