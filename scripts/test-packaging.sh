#!/usr/bin/env bash
# Tests what is installed: the Debian package in a Debian root of its own, the unit, and the container.
#
#   scripts/test-packaging.sh [BINARY]
#
# BINARY is what is packaged, without its symbols: by default the debug build of this checkout, which CI has built
# anyway; what a package adds to a program does not depend on how it was optimised. Needs root on a Debian, and
# installs there what else it needs. Elsewhere it says what it left out, which is a failure with CI set.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/apt.sh
. scripts/lib/postgres.sh
. scripts/lib/syscalls.sh
. packaging/test/root.sh
. packaging/test/package.sh
. packaging/test/container.sh
. packaging/test/files.sh

# Mounts are this script's own, and gone with it.
if [ "$(id -u)" = 0 ] && [ -z "${DWAR_OWN_MOUNTS:-}" ]; then
    DWAR_OWN_MOUNTS=1 exec unshare --mount "$0" "$@"
fi

target=${CARGO_TARGET_DIR:-$PWD/target}
binary=$(realpath "${1:-$target/debug/dwar}")
scratch=$(mktemp -d)
chmod 755 "$scratch"
root=$scratch/root
unit=packaging/deb/dwar.service
postgres=""
service=""

stop() {
    [ -z "$service" ] || kill -KILL "$service" 2>/dev/null || true
    [ -z "$postgres" ] || stop_postgres "$postgres" "$scratch/pg"
    umount "$scratch/root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$scratch"
}
trap stop EXIT

step() { echo "test-packaging.sh: $* (after $SECONDS s)"; }

fail() {
    echo "test-packaging.sh: FAILED: $*" >&2
    exit 1
}

leave_out() {
    echo "test-packaging.sh: !!! LEFT OUT: $* !!!"
    [ -z "${CI:-}" ] || exit 1
}

packages=(mmdebstrap lintian strace dpkg-dev binutils systemd buildah python3-venv ca-certificates curl zsh fish)
apt_install "${packages[@]}"

check_files
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap lintian strace buildah systemd-analyze >/dev/null; then
    leave_out "package and container; root on Debian is needed, with ${packages[*]}"
    exit 0
fi

postgres=$(find_postgres)
if [ -n "$postgres" ]; then
    port=$(free_port)
    start_postgres "$postgres" "$scratch/pg" "$port" "-c fsync=off"
else
    leave_out "packages on PostgreSQL; its programs are needed"
fi
test_package
test_system_calls
test_container
step "all is well"
