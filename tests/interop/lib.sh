# Shared by run.sh and offline.sh; sourced, not run. Wants HERE (this folder) and TEMP (a temporary
# one) set.

# Installs PyJWT and jose into TEMP.
install_libraries() {
    python3 -m venv "$TEMP/venv"
    "$TEMP/venv/bin/pip" install --quiet --disable-pip-version-check 'pyjwt[crypto]>=2.10,<3'
    # Next to node_modules, since that is where an ES module looks for its imports.
    cp "$HERE/verify.mjs" "$TEMP/"
    (cd "$TEMP" && npm install --silent --no-audit --no-fund --no-package-lock 'jose@^6' 1>&2)
}

# check WITH TOKEN JWKS_URL ISSUER AUDIENCE ALG, WITH being pyjwt or jose: prints the verdict.
check() {
    local with=$1 token=$2
    shift 2
    case $with in
        pyjwt) printf %s "$token" | "$TEMP/venv/bin/python" "$HERE/verify.py" "$@" ;;
        jose) printf %s "$token" | node "$TEMP/verify.mjs" "$@" ;;
    esac
}

# expect STATUS WHAT WITH TOKEN ...: runs check and fails unless it exits with STATUS.
expect() {
    local wanted=$1 what=$2 status=0 line
    shift 2
    line=$(check "$@") || status=$?
    if [ "$status" = "$wanted" ]; then
        printf 'ok    %-22s %s\n' "$what" "$line"
    else
        printf 'FAIL  %-22s %s (exit %s, wanted %s)\n' "$what" "$line" "$status" "$wanted"
        FAILED=1
    fi
}

base64url() {
    base64 | tr -d '=\n' | tr '+/' '-_'
}

# check_token TOKEN JWKS_URL ISSUER AUDIENCE ALG: both libraries must accept the token and refuse
# what is not quite it. Sets FAILED=1 if one does not.
check_token() {
    local token=$1 jwks=$2 issuer=$3 audience=$4 alg=$5 with
    local header payload signature kid unsigned other
    IFS=. read -r header payload signature <<<"$token"
    kid=$(curl --silent --show-error "$jwks" | jq -r '.keys[0].kid')
    unsigned="$(printf '{"alg":"none","typ":"at+jwt","kid":"%s"}' "$kid" | base64url).$payload."
    case $signature in A*) other=B${signature#?} ;; *) other=A${signature#?} ;; esac
    for with in pyjwt jose; do
        expect 0 "the token" "$with" "$token" "$jwks" "$issuer" "$audience" "$alg"
        expect 1 "other issuer" "$with" "$token" "$jwks" "$issuer/" "$audience" "$alg"
        expect 1 "other audience" "$with" "$token" "$jwks" "$issuer" "x$audience" "$alg"
        expect 1 "other algorithm" "$with" "$token" "$jwks" "$issuer" "$audience" HS256
        expect 1 "no signature" "$with" "$unsigned" "$jwks" "$issuer" "$audience" "$alg"
        expect 1 "changed signature" "$with" "$header.$payload.$other" \
            "$jwks" "$issuer" "$audience" "$alg"
        expect 1 "changed claims" "$with" "$header.$(printf '{"sub":"me"}' | base64url).$signature" \
            "$jwks" "$issuer" "$audience" "$alg"
    done
}
