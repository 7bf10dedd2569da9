# What the commands of a page are run with; sourced by the script that the test writes for it. WORK is the folder of the
# page's session, BASE the address of its service. A page says what else its commands need.
set -e
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT

# field NAME: the last value of this name in the JSON on standard input.
field() { grep -oE "\"$1\": ?\"[^\"]*" | tail -n 1 | cut -d '"' -f 4; }

# start: the service, until the session ends.
start() {
    command dwar serve >"$WORK/service.out" 2>"$WORK/service.log" &
    local _
    for _ in $(seq 200); do
        ! curl -fs -o /dev/null "$BASE/readyz" || return 0
        sleep 0.1
    done
    cat "$WORK/service.log"
    return 1
}

# stop: no service any more.
stop() {
    kill $(jobs -p)
    wait
}

# make_project: its id and keys, as pages name them.
make_project() {
    local made
    made=$(command dwar project create --name Shop --balance-rupees 100 --json)
    ID=$(field project_id <<<"$made")
    LIVE_KEY=$(field live_key <<<"$made")
    TEST_KEY=$(field test_key <<<"$made")
    KEY=$TEST_KEY
}

# dwar ...: the program that is tested. One that serves is stopped once it is ready.
dwar() {
    if [ $# -gt 0 ] && [ "$1" != serve ]; then
        command dwar "$@"
        return
    fi
    local said=$WORK/serves served _
    command dwar "$@" >"$said" 2>&1 &
    served=$!
    for _ in $(seq 200); do
        if grep -q "Dwar is ready" "$said" || ! kill -0 "$served" 2>/dev/null; then break; fi
        sleep 0.1
    done
    ! grep -q "Dwar is ready" "$said" || kill "$served"
    local status=0
    wait "$served" || status=$?
    cat "$said"
    return "$status"
}

# cargo run --release ...: the build that is tested, in place of another one.
cargo() {
    [ "$1 $2" = "run --release" ] || { echo "cargo $*: only its run is known here"; return 1; }
    shift 2
    if [ "${1:-}" = -- ]; then
        dwar "${@:2}"
    else
        start
        # The keys come a moment after it is ready.
        local _
        for _ in $(seq 100); do
            ! grep -q svc_test_ "$WORK/service.out" || break
            sleep 0.1
        done
        cat "$WORK/service.out"
        KEY=$(grep -o 'svc_test_[0-9A-Za-z]*' "$WORK/service.out" | head -n 1)
    fi
}

# send KEY PHONE: the answer of a send.
send() {
    curl -s "$BASE/v1/otp/send" -H "X-Api-Key: $1" -H 'Content-Type: application/json' -d '{"phone":"'"$2"'"}'
}

# guess KEY PHONE CODE: the answer of a verify.
guess() {
    curl -s "$BASE/v1/otp/verify" -H "X-Api-Key: $1" -H 'Content-Type: application/json' \
        -d '{"phone":"'"$2"'","code":"'"$3"'"}'
}

# remember FILE: what an answer held is a variable of the same name afterwards; CODE is that of the last message.
remember() {
    local name value
    for name in otp_id access_token refresh_token session_id identity_id webhook_id; do
        value=$(field "$name" <"$1" || true)
        [ -z "$value" ] || declare -g "${name^^}=$value"
    done
    CODE=$(curl -s "$BASE/v1/sandbox/messages?phone=9876543210" -H "X-Api-Key: $KEY" |
        grep -o '"code":"[0-9]*' | head -n 1 | cut -d '"' -f 4 || true)
}

# step NUMBER: runs a step of the page, and what the test does before it. A step after `$ ` may fail.
step() {
    local steps=$WORK/steps/$1 status=0
    [ ! -f "$steps.before" ] || . "$steps.before" >"$steps.said" 2>&1
    if [ -f "$steps.may_fail" ]; then
        set +e
        . "$steps.sh" >"$steps.said" 2>&1
        status=$?
        set -e
    else
        . "$steps.sh" >"$steps.said" 2>&1
    fi
    echo "$status" >"$steps.status"
    remember "$steps.said"
}
