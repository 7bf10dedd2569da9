#!/usr/bin/env bash
# As issuer.sh, by whole servers that take long to download and to build: Spring Boot 3 and 4, Quarkus
# and oauth2-proxy guard an address, told nothing but an issuer and the project's id.
#
# usage: servers.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
. "$(dirname "$0")/tokens.sh"

SPRING=(3.5.7 4.0.7)
OAUTH2_PROXY=v7.15.6

# guard VERIFIER COMMAND...: starts the server once for each type of token, and has it judge at the address $SHOP.
guard() {
    local type server
    for type in at+jwt JWT; do
        PORT=$(free_port)
        SHOP=http://127.0.0.1:$PORT/
        ISSUER=${issuer[$type]} AUDIENCE=${audience[$type]} PORT=$PORT "${@:2}" >"$1.log" 2>&1 &
        server=$!
        for _ in 1 2 3 4 5 6; do
            ! until_answered "$SHOP" || break
            kill -0 $server 2>/dev/null || fail "$1 does not start: $(tail -n 30 "$1.log")"
        done
        expect_type "$1" $type
        kill $server
        wait $server || true
    done
}

build() { mvn --batch-mode --quiet -Dstyle.color=never -f "$1/pom.xml" "${@:2}" package; }

command -v mvn >/dev/null || apt_install maven
for version in "${SPRING[@]}"; do
    cp -r "$here/spring" "spring-$version"
    build "spring-$version" "-Dspring-boot.version=$version" || leave_out "Spring Boot $version could not be built"
    guard "Spring Boot ${version%%.*}" bash -c \
        "exec java -jar spring-$version/target/shop-$version.jar --spring.profiles.active=jwt --server.port=\$PORT"
done
cp -r "$here/quarkus" .
build quarkus || leave_out "Quarkus could not be built"
guard Quarkus java -jar quarkus/target/quarkus-app/quarkus-run.jar
command -v go >/dev/null || leave_out "oauth2-proxy, since there is no Go"
GOBIN=$tools go install "github.com/oauth2-proxy/oauth2-proxy/v7@$OAUTH2_PROXY" ||
    leave_out "oauth2-proxy could not be built"
# It asks for an address of e-mail, and takes the id of the person for it. Every path is one of an API, so that nobody is
# sent to log in.
guard oauth2-proxy bash -c 'exec "$0" --http-address="127.0.0.1:$PORT" --provider=oidc --oidc-issuer-url="$ISSUER" \
    --client-id="$AUDIENCE" --client-secret=unused --cookie-secret=0123456789abcdef0123456789abcdef \
    --skip-jwt-bearer-tokens --oidc-email-claim=sub --email-domain="*" --api-route=^/ --upstream=static://200' \
    "$tools/oauth2-proxy"
exit "$failed"
