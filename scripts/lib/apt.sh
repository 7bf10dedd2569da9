# Sourced by scripts that need packages. They set $scratch, a folder of their own.

# in_turn COMMAND...: while no other script that sources this does the same.
in_turn() (
    exec 8<"${BASH_SOURCE[0]}"
    flock 8
    "$@" 8<&-
)

# again_until_done COMMAND...: up to four times, within a minute: a mirror may be away for a moment.
again_until_done() {
    local pause
    for pause in 5 15 40; do
        ! "$@" || return 0
        sleep "$pause"
    done
    "$@"
}

# apt_install PACKAGE...: as root on Debian or Ubuntu; elsewhere nothing.
apt_install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    echo "$(basename "$0"): installing $*"
    in_turn install_now "$@"
}

install_now() {
    local DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    {
        apt-get install -y -qq "$@" || again_until_done update_and_install "$@"
    } >"$scratch/apt.log" 2>&1 || cat "$scratch/apt.log"
}

update_and_install() {
    apt-get update -qq && apt-get install -y -qq "$@"
}

# apt_install_unstarted PACKAGE...: the same for packages that would start a server of their own.
apt_install_unstarted() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    echo "$(basename "$0"): installing $*"
    in_turn install_unstarted_now "$@"
}

install_unstarted_now() {
    local policy=/usr/sbin/policy-rc.d made=""
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
        made=1
    fi
    install_now "$@"
    [ -z "$made" ] || rm -f "$policy"
}
