#!/usr/bin/env bash
# As issuer.sh, by whole servers that take long to download and to build: Spring Boot 3 and 4
# guard an address, told nothing but an issuer and the project's id.
#
# usage: servers.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
. "$(dirname "$0")/tokens.sh"

SPRING=(3.5.7 4.0.7)

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

build() { mvn --batch-mode --quiet -f "$1/pom.xml" "${@:2}" package; }

command -v mvn >/dev/null || apt_install maven
for version in "${SPRING[@]}"; do
    cp -r "$here/spring" "spring-$version"
    build "spring-$version" "-Dspring-boot.version=$version" || leave_out "Spring Boot $version could not be built"
    guard "Spring Boot ${version%%.*}" bash -c \
        "exec java -jar spring-$version/target/shop-$version.jar --spring.profiles.active=jwt --server.port=\$PORT"
done
exit "$failed"
