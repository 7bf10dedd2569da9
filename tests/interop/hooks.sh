#!/usr/bin/env bash
# Hooks of a project, called as other login systems call them: by Logto's own connector, and with Supabase's payloads
# (internal/hooks/v0hooks of supabase/auth), signed by the standardwebhooks of npm and of PyPI.
#
# usage: hooks.sh [PATH_OF_THE_BINARY]   (target/debug/dwar by default)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
binary=$(realpath "${1:-$target/debug/dwar}")
cd "$scratch"

project=$(new_project)
key=$(jq -r .test_key <<<"$project")
# new_hook KIND: prints its JSON.
new_hook() {
    "$binary" hook add --project "$(jq -r .project_id <<<"$project")" --kind "$1" --mode test --expires-in 600 --json
}
supabase=$(new_hook supabase)
logto=$(new_hook logto)
serve

# codes PHONE: the codes sent to it, newest first, in one line.
codes() { call "$key" "/v1/sandbox/messages?phone=$1" | jq -r '[.messages[].code] | join(" ")'; }

# is WHAT FOUND WANTED
is() {
    [ "$2" = "$3" ] || fail "$1: $2, $3 wanted"
    printf 'ok    %s\n' "$1"
}

# deliver PHONE CODE [AUTHORIZATION]: by Logto's connector.
deliver() {
    AUTHORIZATION=${3:-$(jq -r .secret <<<"$logto")} \
        node logto.mjs "$DWAR_URL$(jq -r .hook.path <<<"$logto")" "$1" "$2" 2>&1
}
deliver +919876543210 135790
deliver 919876543210 246801
is "logto: both forms of a number" "$(codes 9876543210)" "246801 135790"
! refusal=$(deliver +919876543210 112233 "Bearer another") || fail "logto: another header is accepted"
grep -q WEBHOOK_UNAUTHENTICATED <<<"$refusal" || fail "logto: another header: $refusal"
is "logto: another header" "$(codes 9876543210)" "246801 135790"

now=$(date +%s)
secret=$(jq -r '.secret | ltrimstr("v1,")' <<<"$supabase")
another=whsec_$(head -c 32 /dev/urandom | base64)

# payload PHONE CODE [NEW_PHONE]: the last if a user changes numbers, and in every call of newer versions.
payload() {
    jq -c --arg phone "$1" --arg code "$2" --arg new "${3:-}" \
        '.user.phone = $phone | .sms.otp = $code | if $new == "" then . else .sms.phone = $new end' "$here/supabase.json"
}

# sign ID BODY [SECRET] [SECONDS_SINCE_1970]: by the library that $with names.
sign() {
    local command=(node sign.mjs)
    [ "$with" = npm ] || command=("$python" "$here/sign.py")
    printf %s "$2" | SECRET=${3:-$secret} "${command[@]}" "$1" "${4:-$now}"
}

# post ID BODY SIGNATURES [SECONDS_SINCE_1970]: status and body of the answer.
post() {
    curl -sS -w ' %{http_code}' "$DWAR_URL$(jq -r .hook.path <<<"$supabase")" -H 'Content-Type: application/json' \
        -H "webhook-id: $1" -H "webhook-timestamp: ${4:-$now}" -H "webhook-signature: $3" -d "$2"
}

# refuses WHAT ID BODY SIGNATURES [SECONDS_SINCE_1970]
refuses() { is "$with: $1" "$(post "${@:2}" | jq -rs '"\(.[0].code) \(.[1])"')" "WEBHOOK_UNAUTHENTICATED 401"; }

for with in npm pypi; do
    case $with in npm) phone=9876543211 ;; pypi) phone=9876543212 ;; esac
    body=$(payload 91$phone 100001)
    is "$with: without plus" "$(post 1 "$body" "$(sign 1 "$body")")" "{} 200"
    is "$with: again, under another id" "$(post 2 "$body" "$(sign 2 "$body")")" "{} 200"
    body=$(payload +91$phone 100002)
    is "$with: with plus, two signatures" "$(post 3 "$body" "$(sign 3 "$body"), $(sign 3 "$body" "$another")")" "{} 200"
    body=$(payload 919876543213 100003 91$phone)
    is "$with: new number, two signatures" "$(post 4 "$body" "$(sign 4 "$body" "$another"), $(sign 4 "$body")")" "{} 200"
    body=$(payload 919876543213 100004 +91$phone)
    is "$with: new number with plus" "$(post 5 "$body" "$(sign 5 "$body")")" "{} 200"

    body=$(payload 91$phone 100009)
    refuses "another secret" 6 "$body" "$(sign 6 "$body" "$another")"
    refuses "another body" 7 "$(payload 91$phone 100008)" "$(sign 7 "$body")"
    refuses "another id" 8 "$body" "$(sign 9 "$body")"
    refuses "another time" 10 "$body" "$(sign 10 "$body" "$secret" $((now - 1)))"
    refuses "an old time" 11 "$body" "$(sign 11 "$body" "$secret" $((now - 600)))" $((now - 600))
    refuses "no signature" 12 "$body" ""
    is "$with: what arrived" "$(codes $phone)" "100004 100003 100002 100001"
done
is "nothing at the old number" "$(codes 9876543213)" ""
