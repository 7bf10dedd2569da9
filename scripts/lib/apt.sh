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
