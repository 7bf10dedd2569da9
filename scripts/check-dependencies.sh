#!/usr/bin/env bash
# Proves the rules of dependencies (docs/architecture.md): looks at what each crate really links.
set -euo pipefail
cd "$(dirname "$0")/.."
# The crates that a crate links when it is built alone.
unset CARGO_RESOLVER_FEATURE_UNIFICATION

failed=0

# crate, then the crates it must not reach, directly or not, outside its tests
never() {
    local crate=$1
    shift
    local tree
    tree=$(cargo tree --locked --offline -p "$crate" -e normal,build --prefix none --format '{p}' 2>/dev/null ||
        cargo tree --locked -p "$crate" -e normal,build --prefix none --format '{p}')
    for banned in "$@"; do
        if grep -q "^$banned v" <<<"$tree"; then
            echo "check-dependencies.sh: $crate must not depend on $banned"
            failed=1
        fi
    done
}

frameworks="tokio serde diesel actix-web reqwest josekit openssl opentelemetry"
domain="dwar-project dwar-otp dwar-session dwar-identity dwar-wallet dwar-ratelimit dwar-event dwar-operator dwar-activity"
adapters="dwar-http dwar-admin dwar-dashboard dwar-sqlite dwar-postgres dwar-memory dwar-gateways dwar-webhooks dwar-metrics dwar-otlp dwar-josekit dwar-passkeys dwar-system"

# shellcheck disable=SC2086 # lists of words
{
    never dwar-kernel $frameworks hmac sha2 async-trait $domain dwar-app dwar-console $adapters
    for crate in $domain; do
        others=$(tr ' ' '\n' <<<"$domain" | grep -vx "$crate")
        never "$crate" $frameworks $others dwar-app dwar-console $adapters
    done
    # The steps of a login use the aggregates, which know nothing of them.
    never dwar-login $frameworks dwar-project dwar-event dwar-operator dwar-activity dwar-app dwar-console $adapters
    for crate in dwar-kernel $domain; do never "$crate" dwar-login; done
    # Logins, embedded or served, depend on no operator, audit log or figure.
    console="dwar-operator dwar-activity dwar-console"
    never dwar-app $frameworks $console $adapters
    never dwar-http $console
    never dwar-metrics $console
    never dwar-console $frameworks $adapters
    for crate in $adapters; do
        others=$(tr ' ' '\n' <<<"$adapters" | grep -vx "$crate")
        case $crate in
        # The admin API is served on the dashboard's listener.
        dwar-dashboard) never "$crate" diesel josekit openssl $(tr ' ' '\n' <<<"$others" | grep -vx dwar-admin) ;;
        dwar-http | dwar-admin | dwar-metrics) never "$crate" diesel josekit openssl $others ;;
        dwar-josekit) never "$crate" actix-web dwar-app dwar-console dwar-wire $others ;;
        # The keys of access tokens sign nothing else.
        *) never "$crate" josekit actix-web dwar-app dwar-console dwar-wire $others ;;
        esac
        case $crate in
        dwar-sqlite | dwar-postgres) ;;
        dwar-system) never "$crate" dwar-sql ;;
        *) never "$crate" dwar-sql dwar-turns ;;
        esac
    done
    # The code that the SQL stores share has rows and no database: each store runs its own statements.
    # The code that both HTTP adapters share knows no use case.
    never dwar-wire dwar-app dwar-console $domain diesel josekit openssl $adapters
    # Queues do not depend on the kind of work.
    never dwar-turns $frameworks dwar-kernel $domain dwar-app dwar-console $adapters
    # Clients and checks from outside share no code with the service.
    for crate in dwar-history dwar-client; do
        never "$crate" dwar-kernel dwar-app dwar-console dwar-testkit $domain $adapters
    done
    never dwar-sql tokio serde actix-web reqwest josekit openssl pq-sys libsqlite3-sys dwar-app dwar-console $adapters
}

# Steps that fail on demand are for tests.
if cargo tree --locked -p dwar -e normal,build,features --prefix none 2>/dev/null | grep -q '^dwar-memory feature "faults"'; then
    echo "check-dependencies.sh: dwar must not be built with dwar-memory's faults"
    failed=1
fi

[ "$failed" = 0 ] && echo "check-dependencies.sh: every crate keeps to its place"
exit "$failed"
