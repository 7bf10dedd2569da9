# Sourced by scripts that put a proxy of docs/proxies.md before an application, or one of docs/operations/reverse-proxy.md
# before the service. They have sourced lib.sh.
# shellcheck shell=bash

# block PAGE LANGUAGE: the only program of the page in this language.
block() { awk -v fence="\`\`\`$2" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$here/../../docs/$1.md"; }

# placed PROXY_PORT APP_PORT: the configuration of a page, with the addresses of this test.
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

# stop_service: afterwards nothing answers at its address.
stop_service() {
    kill "$service"
    wait "$service" || true
}

# check_proxy NAME LIMITED: a proxy at $proxy passes only requests that are logged in with the live key of $project.
# LIMITED is its status if the key has made too many requests, DOWN if Dwar does not answer.
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

# settings_in_front ADDRESS: those of the page, with the dashboard at this address for browsers.
settings_in_front() {
    dashboard_port=$(free_port)
    export DWAR__HTTP__BEHIND_PROXY=true DWAR__DASHBOARD__ADDRESS=127.0.0.1:$dashboard_port
    export DWAR__DASHBOARD__PUBLIC_URL=$1 DWAR__DASHBOARD__BEHIND_TLS_PROXY=true
    export DWAR__GATEWAYS__WHATSAPP_CLOUD__PHONE_NUMBER_ID=1 DWAR__GATEWAYS__WHATSAPP_CLOUD__ACCESS_TOKEN=EAAGk7v2Qz9pLm4x
    export DWAR__GATEWAYS__WHATSAPP_CLOUD__APP_SECRET=b7f2c9d04e6a81357f0e2d4c6b8a9153
    export DWAR__GATEWAYS__WHATSAPP_CLOUD__VERIFY_TOKEN=c41d7e90ab3f5268d1e0f9a2b3c4d5e6
}

# certificate NAME...: for these hosts, in tls.pem and tls.key. $tls has the arguments for curl.
certificate() {
    local name names=""
    tls=(--cacert tls.pem)
    for name in "$@"; do
        names+=${names:+,}DNS:$name
        tls+=(--resolve "$name:$tls_port:127.0.0.1")
    done
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj "/CN=$1" -addext "subjectAltName=$names" \
        -keyout tls.key -out tls.pem 2>/dev/null
}

# in_front TLS_PORT: the configuration of the page, with the addresses of this test. This machine counts as the own
# network.
in_front() {
    sed -e "s/127\.0\.0\.1:8080/127.0.0.1:$port/; s/127\.0\.0\.1:8081/127.0.0.1:$dashboard_port/" \
        -e "s/listen 443 ssl/listen 127.0.0.1:$1 ssl/; s#10\.0\.0\.0/8#127.0.0.1#"
}

# check_front NAME: a proxy with TLS on $tls_port passes on only what the page says.
check_front() {
    local name=$1 proxy=https://otp.example.com:$tls_port key body signature used
    key=$(jq -r .test_key <<<"$project")
    is "$name: a send" "$(ask /v1/otp/send "${tls[@]}" -H "X-Api-Key: $key" -H 'Content-Type: application/json' \
        -H 'X-Forwarded-For: 203.0.113.9' -d '{"phone":"9876543299"}')" 200
    is "$name: the document" "$(ask /openapi.json "${tls[@]}")" 200
    is "$name: the keys" "$(ask /.well-known/jwks.json "${tls[@]}")" 200
    is "$name: health" "$(ask /readyz "${tls[@]}")" 404
    is "$name: the handshake of Meta" "$(ask "/webhooks/whatsapp_cloud?hub.mode=subscribe&hub.challenge=42&hub.verify_token=$DWAR__GATEWAYS__WHATSAPP_CLOUD__VERIFY_TOKEN" "${tls[@]}")" 200
    is "$name: the challenge" "$(cat answer)" 42
    body='{"entry":[],"padding":"'$(head -c 2900000 /dev/zero | tr '\0' a)'"}'
    printf %s "$body" >receipt
    signature=$(openssl dgst -sha256 -hmac "$DWAR__GATEWAYS__WHATSAPP_CLOUD__APP_SECRET" receipt | sed 's/.*= //')
    is "$name: a long receipt" "$(ask /webhooks/whatsapp_cloud "${tls[@]}" -H "X-Hub-Signature-256: sha256=$signature" \
        --data-binary @receipt)" 200
    head -c 3300000 /dev/zero >receipt
    is "$name: one that is too long" "$(ask /webhooks/whatsapp_cloud "${tls[@]}" -H "X-Hub-Signature-256: sha256=$signature" \
        --data-binary @receipt)" 413
    proxy=https://console.example.com:$tls_port
    is "$name: the dashboard" "$(ask /sign-in "${tls[@]}")" 200
    # The address of the proxy's client, not the one that the client claims. It is written a moment after the use.
    for _ in $(seq 50); do
        used=$("$binary" project show --project "$(jq -r .project_id <<<"$project")" --json)
        used=$(jq -r '.keys[] | select(.mode == "test").used_from' <<<"$used")
        [ "$used" = null ] || break
        sleep 0.1
    done
    is "$name: where a key is used from" "$used" 127.0.0.1
}

# caddy_in_front CADDY: this program, as the page configures it, stands in front of the service. Its certificate is of this
# test, in place of one from an authority.
caddy_in_front() {
    tls_port=$(free_port)
    stop_service
    # Its keys were not used yet.
    project=$(new_project)
    settings_in_front "https://console.example.com:$tls_port"
    serve
    certificate otp.example.com console.example.com
    {
        printf '{\n\tadmin off\n\tauto_https off\n}\n'
        block operations/reverse-proxy caddyfile | in_front "$tls_port" | sed -e "s/^\([a-z]*\.example\.com\) {/\1:$tls_port {\n\ttls tls.pem tls.key/"
    } >Frontfile
    XDG_DATA_HOME=$scratch XDG_CONFIG_HOME=$scratch "$1" run --adapter caddyfile --config Frontfile >front.log 2>&1 &
    until_answered "${tls[@]}" "https://otp.example.com:$tls_port/" || fail "Caddy does not start: $(tail -n 30 front.log)"
    check_front Caddy
}
