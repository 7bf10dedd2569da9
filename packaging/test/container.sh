# Sourced by scripts/test-packaging.sh: the last stage of the container, built and run without any base image.
# shellcheck shell=bash

# MB, of a million bytes each: the image, and the program in it as it is released.
readonly LARGEST_IMAGE=60 OPTIMISED=45
# Only test keys, and a port that no other process has.
readonly CONTAINED=(DWAR__GATEWAYS__WHATSAPP= DWAR__GATEWAYS__SMS= DWAR__HTTP__ADDRESS=127.0.0.1:18411)

test_container() {
    step "the container"
    local storage=(--storage-driver vfs --root "$scratch/storage" --runroot "$scratch/run") name=dwar-test size
    strip --strip-all -o "$scratch/dwar" "$binary"
    ./packaging/container/root.sh "$scratch/dwar" "$scratch/build/image"
    # In place of the first stage, what it lays out.
    buildah "${storage[@]}" build --quiet --isolation chroot --format docker --build-context build="$scratch/build" \
        -f packaging/container/Containerfile -t "$name" . >"$scratch/image.log" 2>&1 ||
        { cat "$scratch/image.log"; fail "the image"; }
    buildah "${storage[@]}" inspect --type image "$name" >"$scratch/image.json"
    root=$(buildah "${storage[@]}" mount "$(buildah "${storage[@]}" from "$name")")

    size=$(du -s --apparent-size --block-size=1000 "$root" | cut -f1)
    step "the image has $((size / 1000)) MB"
    # A debug build is larger than what is released; what is around it is not.
    [[ $binary != */debug/* ]] || size=$((size - $(stat -c %s "$scratch/dwar") / 1000 + OPTIMISED * 1000))
    [ "$size" -lt $((LARGEST_IMAGE * 1000)) ] || fail "the image is too large"
    [ -z "$(find "$root" -perm /6000)" ] || fail "something in the image is setuid"
    [ "$(image User | cut -d: -f1)" -gt 0 ] || fail "the image runs as root"

    local command check ready=""
    contained "$(image Entrypoint)" try
    "${command[@]}" >"$scratch/try" || { cat "$scratch/try"; fail "try in the container"; }
    contained "${CONTAINED[@]}" "$(image Entrypoint)"
    "${command[@]}" >"$scratch/service.log" 2>&1 &
    service=$!
    mapfile -t check < <(image Healthcheck Test)
    [ "${check[0]}" = CMD ] || fail "the health check needs a shell"
    contained "${CONTAINED[@]}" "${check[@]:1}"
    for _ in $(seq 50); do
        ! "${command[@]}" >"$scratch/health" 2>&1 || { ready=1; break; }
        sleep 0.2
    done
    cat "$scratch/health"
    [ -n "$ready" ] || { cat "$scratch/service.log"; fail "the service in the container"; }
    stop_service
}

# image NAME...: a value of the image's configuration, or each of its values on a line.
image() {
    python3 - "$scratch/image.json" "$@" <<'PYTHON'
import json, sys
value = json.load(open(sys.argv[1]))["Docker"]["config"]
for name in sys.argv[2:]:
    value = value[name]
print(value if isinstance(value, str) else "\n".join(value))
PYTHON
}

# contained [NAME=VALUE...] COMMAND...: the array `command` that runs it as the image's configuration says, on a
# read-only root. It replaces itself until it is COMMAND.
contained() {
    local environment user folder
    user=$(image User)
    folder=$(image WorkingDir)
    mapfile -t environment < <(image Env)
    while [[ $1 == *=* ]]; do
        environment+=("$1")
        shift
    done
    # shellcheck disable=SC2016
    command=(unshare --mount sh -euc '
        root=$1 folder=$2
        shift 2
        mount --rbind "$root" "$root"
        mount --bind "$root$folder" "$root$folder"
        mount -o remount,bind,ro "$root"
        mount -t tmpfs tmpfs "$root/tmp"
        exec env -i "$@"
    ' sh "$root" "$folder" "${environment[@]}" \
        /usr/bin/unshare --root="$root" --wd="$folder" --setgid "${user#*:}" --setuid "${user%:*}" "$@")
}
