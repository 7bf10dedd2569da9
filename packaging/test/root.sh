# Sourced by scripts/test-packaging.sh: a Debian root, and the service in it as its unit would run it.
# shellcheck shell=bash

# make_root: a minimal Debian of this release in $root, without interactive questions.
make_root() {
    local suite mirror
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # shellcheck disable=SC2016
    mirror=$(apt-get indextargets --format '$(SITE)' "Created-By: Packages" "Label: Debian" "Component: main" | sed -n 1p)
    mmdebstrap --quiet --variant=minbase --skip=cleanup/apt/lists "$suite" "$root" "$mirror" >"$scratch/root.log" 2>&1 ||
        { cat "$scratch/root.log"; return 1; }
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    mount -t proc proc "$root/proc"
    # Stands in for systemd: records the calls of maintainer scripts.
    mkdir -p "$root/run/systemd/system"
    printf '#!/bin/sh\necho "$*" >>/systemctl.log\n' >"$root/usr/bin/systemctl"
    chmod 755 "$root/usr/bin/systemctl"
}

# in_root COMMAND...: as root.
in_root() {
    DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$root" "$@"
}

# setting NAME: what the installed unit says of it.
setting() {
    sed -n "s/^$1=//p" "$root/usr/lib/systemd/system/dwar.service" "$root/lib/systemd/system/dwar.service" \
        2>/dev/null | head -n 1
}

# service_command COMMAND...: the array `command` that runs it as the unit runs its own: its user and folder, its
# environment and no other, nothing to write to but its own folder and an empty /tmp, no capability. It replaces
# itself until it is COMMAND.
service_command() {
    local environment=()
    [ ! -e "$root/etc/dwar/secrets.env" ] || mapfile -t environment <"$root/etc/dwar/secrets.env"
    # shellcheck disable=SC2016
    command=(unshare --mount sh -euc '
        root=$1 state=$2 user=$3 folder=$4
        shift 4
        mount --rbind "$root" "$root"
        mount --bind "$state" "$state"
        mount -o remount,bind,ro "$root"
        mount -t tmpfs tmpfs "$root/tmp"
        umask 0077
        exec env -i /usr/sbin/chroot "$root" setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs \
            --bounding-set=-all --inh-caps=-all sh -c "cd \"\$1\" && shift && exec env \"\$@\"" sh "$folder" "$@"
    ' sh "$root" "$root/var/lib/$(setting StateDirectory)" "$(setting User)" "$(setting WorkingDirectory)"
        "${environment[@]}" "$@")
}

as_service() {
    local command
    service_command "$@"
    "${command[@]}"
}

# dwar ARGUMENTS...: a command, as the service.
dwar() {
    as_service /usr/bin/dwar --config /etc/dwar/dwar.toml "$@"
}

# start_service: the unit's command; waits until it is ready.
start_service() {
    local command
    # shellcheck disable=SC2046
    service_command $(setting ExecStart)
    "${command[@]}" >>"$scratch/service.log" 2>&1 &
    service=$!
    for _ in $(seq 150); do
        dwar health >/dev/null 2>&1 && return
        kill -0 "$service" 2>/dev/null || break
        sleep 0.2
    done
    tail -n 20 "$scratch/service.log"
    fail "the service did not become ready"
}

# stop_service: as systemd does; the service has to end by itself, with success.
stop_service() {
    local stopping=$service
    [ -n "$stopping" ] || return 0
    service=""
    kill "$stopping" 2>/dev/null || true
    wait "$stopping" || fail "the service ended with $?"
}
