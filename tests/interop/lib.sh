# Sourced by the scripts of this folder: the libraries of others, and a service of one's own in the current folder.
# Sets $scratch, a folder that goes with the script, and with it whatever the script started.
# shellcheck shell=bash

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../scripts/lib/apt.sh"
. "$here/../../scripts/lib/port.sh"
PATH=$PATH:/usr/local/go/bin
target=$(realpath -m "${CARGO_TARGET_DIR:-$here/../../target}")
tools=$target/test-tools/interop
python=$tools/venv/bin/python
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT

leave_out() {
    echo "$(basename "$0"): !!! LEFT OUT: $* !!!"
    [ -z "${CI:-}" ]
    exit
}

fail() {
    echo "FAIL  $*" >&2
    exit 1
}

# install_libraries: installs libraries from PyPI and npm, once for all scripts.
install_libraries() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    command -v node >/dev/null && command -v npm >/dev/null || apt_install nodejs npm
    command -v jq >/dev/null || apt_install jq
    mkdir -p "$tools"
    [ -x "$tools/venv/bin/django-admin" ] || {
        python3 -m venv "$tools/venv" &&
            "$tools/venv/bin/pip" install --quiet --disable-pip-version-check \
                'pyjwt[crypto]==2.*' 'standardwebhooks==1.*' 'flask==3.*' 'authlib==1.*' 'django==5.*' \
                'djangorestframework==3.*' 'djangorestframework-simplejwt==5.*'
    }
    [ -d "$tools/node_modules/hono" ] ||
        npm install --prefix "$tools" --silent --no-audit --no-fund --no-package-lock \
            jose@6 oauth4webapi@3 standardwebhooks@1 @logto/connector-http-sms@0.2 express@5 hono@4 \
            express-oauth2-jwt-bearer@1 1>&2
}

# build_go_oidc: discover.go.
build_go_oidc() {
    mkdir -p "$tools/go" && cp "$here/discover.go" "$tools/go/" && cd "$tools/go" || return
    [ -e go.sum ] || { go mod init interop && go get github.com/coreos/go-oidc/v3/oidc@v3; }
    go build -o ../go-oidc .
}

install_libraries || leave_out "everything, since the libraries could not be installed"
# An ES module looks for its imports beside itself.
ln -s "$tools/node_modules" "$scratch/node_modules"
cp "$here"/*.mjs "$scratch/"

port=$(free_port)
DWAR_URL=http://127.0.0.1:$port
export DWAR_URL DWAR__HTTP__ADDRESS=127.0.0.1:$port DWAR__DASHBOARD__ADDRESS= DWAR__METRICS__ADDRESS=off DWAR__DEMO=false

# until_answered CURL_ARGUMENT...
until_answered() {
    for _ in $(seq 100); do
        ! curl -s -o /dev/null "$@" || return 0
        sleep 0.1
    done
    return 1
}

# new_project [SETTING...]: a project as JSON, with the keys.
new_project() {
    local made
    made=$("$binary" project create --name Shop --balance-rupees 10 --json)
    [ $# = 0 ] || "$binary" project set --project "$(jq -r .project_id <<<"$made")" "$@" >/dev/null
    echo "$made"
}

# serve: starts the service, whose process is $service. The file console has the messages of live keys.
serve() {
    "$binary" serve >console 2>log &
    service=$!
    until_answered -f "$DWAR_URL/readyz" || fail "the service does not start: $(cat log)"
}

# call KEY PATH [BODY]: the answer; anything but 200 ends the script.
call() {
    local status
    status=$(curl -sS --max-time 20 -o "$scratch/answer" -w '%{http_code}' "$DWAR_URL$2" -H "X-Api-Key: $1" \
        ${3:+-H 'Content-Type: application/json' -d "$3"}) || fail "$2: no answer"
    [ "$status" = 200 ] || fail "$2: $status $(cat "$scratch/answer")"
    cat "$scratch/answer"
}

# login KEY PHONE: the answer of verify. The code of a live key is on the console, that of a test key in the sandbox.
login() {
    local code
    call "$1" /v1/otp/send "{\"phone\":\"$2\"}" >/dev/null
    case $1 in
    svc_live_*) code=$(jq -rR 'fromjson? | .text // empty' console | tail -n 1 | cut -c 1-6) ;;
    *) code=$(call "$1" "/v1/sandbox/messages?phone=$2" | jq -r '.messages[0].code') ;;
    esac
    call "$1" /v1/otp/verify "{\"phone\":\"$2\",\"code\":\"$code\"}"
}

base64url() { base64 | tr -d '=\n' | tr '+/' '-_'; }

# part TOKEN NUMBER: its header (1) or claims (2), unverified.
part() { cut -d. -f"$2" <<<"$1" | jq -rR 'gsub("-"; "+") | gsub("_"; "/") | @base64d'; }

ALTERATIONS=("other claims" "other signature" "no signature" "other kid")

# altered HOW TOKEN
altered() {
    local header payload signature
    IFS=. read -r header payload signature <<<"$2"
    case $1 in
    "other claims") payload=$(part "$2" 2 | jq -c '.sub = .sid' | base64url) ;;
    "other signature") case $signature in A*) signature=B${signature#?} ;; *) signature=A${signature#?} ;; esac ;;
    "no signature") header=$(part "$2" 1 | jq -c '.alg = "none"' | base64url) signature= ;;
    "other kid") header=$(part "$2" 1 | jq -c '.kid = "other"' | base64url) ;;
    esac
    echo "$header.$payload.$signature"
}

# check WITH TOKEN ARGUMENT...: lets a library check the token, and prints its result.
check() {
    local with=$1 token=$2
    shift 2
    case $with in
    jose) node "$scratch/verify.mjs" "$@" ;;
    PyJWT) "$python" "$here/verify.py" "$@" ;;
    oauth4webapi) node "$scratch/discover.mjs" "$@" ;;
    Hono) node "$scratch/frameworks.mjs" hono "$@" ;;
    "Hono, verification.typ") node "$scratch/frameworks.mjs" hono-typ "$@" ;;
    express-oauth2-jwt-bearer) node "$scratch/frameworks.mjs" express "$@" ;;
    "Django REST framework") "$python" "$here/frameworks.py" django "$@" ;;
    Authlib) "$python" "$here/frameworks.py" authlib "$@" ;;
    go-oidc) "$tools/go-oidc" discovery "$@" ;;
    "go-oidc, NewVerifier") "$tools/go-oidc" keys "$@" ;;
    *) ask_server "$token" ;;
    esac <<<"$token"
}

# ask_server TOKEN: lets the server at the address $SHOP check the token.
ask_server() {
    local status
    status=$(curl -sS --max-time 20 -o "$scratch/shown" -w '%{http_code}' "$SHOP" -H "Authorization: Bearer $1") || return 1
    case $status in
    200) echo accepted ;;
    401) echo refused && return 3 ;;
    *) echo "$status $(head -c 300 "$scratch/shown")" && return 1 ;;
    esac
}

# expect accepted|refused WHAT WITH TOKEN ARGUMENT...: sets $failed if the library says something else.
failed=0
expect() {
    local wanted=$1 what=$2 line status=0
    shift 2
    line=$(check "$@") || status=$?
    case $wanted:$status in
    accepted:0 | refused:3) printf 'ok    %-22s %s: %s\n' "$what" "$1" "$line" ;;
    *)
        printf 'FAIL  %-22s %s: %s (exit %s, %s wanted)\n' "$what" "$1" "$line" "$status" "$wanted"
        failed=1
        ;;
    esac
}

# expect_altered_refused WITH TOKEN ARGUMENT...
expect_altered_refused() {
    local with=$1 token=$2 how
    shift 2
    for how in "${ALTERATIONS[@]}"; do expect refused "$how" "$with" "$(altered "$how" "$token")" "$@"; done
}

# check_token TOKEN JWKS_URL ISSUER AUDIENCE ALG: jose and PyJWT accept it, and refuse altered versions of it.
check_token() {
    local token=$1 jwks=$2 issuer=$3 audience=$4 alg=$5 with
    for with in jose PyJWT; do
        expect accepted "the token" "$with" "$@"
        expect refused "other issuer" "$with" "$token" "$jwks" "$issuer/" "$audience" "$alg"
        expect refused "other audience" "$with" "$token" "$jwks" "$issuer" "x$audience" "$alg"
        expect refused "other algorithm" "$with" "$token" "$jwks" "$issuer" "$audience" HS256
        expect_altered_refused "$with" "$@"
    done
}
