# Sourced by scripts that need packages. They set $scratch, a folder of their own.

# apt_install PACKAGE...: as root on Debian or Ubuntu; elsewhere nothing.
apt_install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    echo "$(basename "$0"): installing $*"
    local DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    { apt-get install -y -qq "$@" || { apt-get update -qq && apt-get install -y -qq "$@"; }; } \
        >"$scratch/apt.log" 2>&1 || cat "$scratch/apt.log"
}

# apt_install_unstarted PACKAGE...: the same for packages that would start a server of their own.
apt_install_unstarted() {
    local policy=/usr/sbin/policy-rc.d made=""
    if [ "$(id -u)" = 0 ] && [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
        made=1
    fi
    apt_install "$@"
    [ -z "$made" ] || rm -f "$policy"
}
