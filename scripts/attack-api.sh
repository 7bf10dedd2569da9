#!/usr/bin/env bash
# Attacks the public API and the admin API by their own OpenAPI documents with schemathesis: every phase, every
# check, on SQLite and on PostgreSQL at once. What is not as the documents say fails it.
#
# Needs python3 with venv, which it installs as root on Debian or Ubuntu, and for PostgreSQL its programs. Schemathesis
# itself goes into the target folder.
#
#   attack-api.sh [BINARY]     the debug build of this checkout by default
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/apt.sh
. scripts/lib/postgres.sh

target=${CARGO_TARGET_DIR:-$PWD/target}
dwar=$(realpath "${1:-$target/debug/dwar}")
tools=$target/test-tools/schemathesis
version=4.32.5
attacks=$PWD/tests/attack
scratch=$(mktemp -d)
chmod 755 "$scratch"
postgres=""

stop() {
    kill $(jobs -p) 2>/dev/null || true
    wait
    [ -z "$postgres" ] || stop_postgres "$postgres" "$scratch/pg"
    rm -rf "$scratch"
}
trap stop EXIT

leave_out() {
    echo "attack-api.sh: !!! LEFT OUT: $* !!!"
    [ -z "${CI:-}" ] || exit 1
}

install_schemathesis() {
    [ -x "$tools/bin/st" ] && "$tools/bin/st" --version | grep -qF "$version" && return 0
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    python3 -m venv "$tools" && "$tools/bin/pip" install -q "schemathesis==$version"
}

# start FOLDER DATABASE: a seeded service whose limits hide nothing; exports what the hooks need of it.
start() {
    local folder=$1
    mkdir -p "$folder"
    export DWAR__DATABASE__URL=$2 DWAR__LOG__LEVEL=warn DWAR__EVENTS__ALLOW_PRIVATE=true
    local api_port admin_port limit
    api_port=$(free_port)
    admin_port=$(free_port)
    export DWAR__HTTP__ADDRESS=127.0.0.1:$api_port DWAR__DASHBOARD__ADDRESS=127.0.0.1:$admin_port
    export DWAR__METRICS__ADDRESS=off
    # As a project needs it that has an issuer of its own.
    export DWAR__TOKENS__ISSUER=https://otp.example.com DWAR__TOKENS__PUBLISH_BEFORE_SECONDS=7200
    for limit in SEND SEND_REACH VERIFY_ATTEMPTS VALIDATE_PER_MINUTE GENERAL_PER_MINUTE SENDS_PER_MINUTE \
        VERIFIES_PER_MINUTE; do
        export "DWAR__LIMITS__TEST__$limit=1000000"
    done
    (cd "$folder" && exec "$dwar" serve) >"$folder/out" 2>"$folder/log" &
    service=$!
    for _ in $(seq 300); do
        curl -fs "http://127.0.0.1:$api_port/readyz" >/dev/null && break
        sleep 0.1
    done
    local made
    made=$(cd "$folder" && "$dwar" project create --name Attacked --balance-rupees 100000 --json)
    ATTACK_PROJECT=$(member "$made" project_id)
    ATTACK_TEST_KEY=$(member "$made" test_key)
    (cd "$folder" && "$dwar" project set --project "$ATTACK_PROJECT" --events-feed on --identity-lookup on --identity-delete on \
        --relay-test on --own-issuer on --last-lines login.example.com,FA+9qCX9VSu) >/dev/null
    made=$(cd "$folder" && "$dwar" admin-token add --name attack --everything --may-delegate --json)
    ATTACK_TOKEN=$(member "$made" secret)
    ATTACK_PUBLIC=http://127.0.0.1:$api_port
    ATTACK_ADMIN=http://127.0.0.1:$admin_port
    export ATTACK_PROJECT ATTACK_TEST_KEY ATTACK_TOKEN ATTACK_PUBLIC ATTACK_ADMIN
}

# member JSON NAME
member() {
    python3 -c 'import json, sys; print(json.loads(sys.argv[1])[sys.argv[2]])' "$1" "$2"
}

# attack WHAT DOCUMENT CONFIGURATION HEADER EXAMPLES: so many generated requests per operation.
attack() {
    echo "attack-api.sh: $1"
    export ATTACK_TALLY=$PWD/tally.json
    SCHEMATHESIS_HOOKS=hooks PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$attacks "$tools/bin/st" --config-file "$attacks/$3.toml" \
        run "$2" --phases examples,coverage,fuzzing,stateful --continue-on-failure --request-timeout 30 --seed 1 \
        --max-examples "$5" --header "$4"
    python3 "$attacks/tally.py" "$ATTACK_TALLY"
}

# attack_both DATABASE URL: both APIs on it, in a shell of its own.
attack_both() (
    service=""
    trap 'kill "$service" 2>/dev/null || true' EXIT
    start "$scratch/$1" "$2"
    cd "$scratch/$1"
    attack "the public API on $1" "$ATTACK_PUBLIC/openapi.json" public "X-Api-Key: $ATTACK_TEST_KEY" 400
    attack "the admin API on $1" "$ATTACK_ADMIN/admin/v1/openapi.json" admin "Authorization: Bearer $ATTACK_TOKEN" 70
)

if ! install_schemathesis; then
    leave_out "everything; python3 with venv and an index of packages are needed"
    exit 0
fi
attack_both SQLite sqlite://dwar.db >"$scratch/SQLite.out" 2>&1 &
attacks_running=$!
postgres=$(find_postgres)
if [ -n "$postgres" ]; then
    port=$(free_port)
    start_postgres "$postgres" "$scratch/pg" "$port" "-c fsync=off"
    attack_both PostgreSQL "postgres://dwar@127.0.0.1:$port/postgres" >"$scratch/PostgreSQL.out" 2>&1 &
    attacks_running+=" $!"
else
    leave_out "PostgreSQL; its programs are needed"
fi
failed=0
for one in $attacks_running; do wait "$one" || failed=1; done
cat "$scratch"/*.out
exit "$failed"
