# Sourced by scripts that want a PgBouncer that keeps the prepared statements of its clients apart: 1.21 or newer. They
# have set $scratch and sourced apt.sh.
# shellcheck shell=bash

built_pgbouncer=${CARGO_TARGET_DIR:-$PWD/target}/test-tools/pgbouncer

# is_pgbouncer PROGRAM: whether it keeps the prepared statements of its clients apart.
is_pgbouncer() {
    local version
    version=$("$1" --version 2>/dev/null | sed -n 's/^PgBouncer \([0-9.]*\).*/\1/p')
    [ -n "$version" ] && [ "$(printf '%s\n' 1.21 "$version" | sort -V | head -n 1)" = 1.21 ]
}

find_pgbouncer() {
    local found
    for found in "$(command -v pgbouncer || true)" /usr/sbin/pgbouncer "$built_pgbouncer"; do
        if [ -x "$found" ] && is_pgbouncer "$found"; then
            echo "$found"
            return 0
        fi
    done
}

# The mirror of Debian that apt uses; empty if its mirror is not for Debian.
debian_mirror() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(SITE)' "Created-By: Packages" "Label: Debian" "Component: main" | sed -n 1p
}

# Where Debian's own package is too old: its next release's source, by apt and its signatures.
build_pgbouncer() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg mirror
    [ -e "$keys" ] || return 0
    mirror=$(debian_mirror)
    # What apt knows of its mirrors it knows from their lists.
    if [ -z "$mirror" ]; then
        apt-get -qq update >"$scratch/apt.log" 2>&1 || true
        mirror=$(debian_mirror)
    fi
    [ -n "$mirror" ] || return 0
    echo "$(basename "$0"): building PgBouncer"
    local sources=$scratch/pgbouncer
    mkdir -p "$sources/lists/partial" "$sources/code" "$(dirname "$built_pgbouncer")"
    # Apt checks signatures as a user of its own, which cannot write to /tmp on every machine.
    mkdir -m 1777 "$sources/tmp"
    chmod 755 "$sources"
    echo "deb-src [signed-by=$keys] $mirror trixie main" >"$sources/sources.list"
    apt_install gcc make pkg-config libevent-dev libssl-dev
    { again_until_done fetch_pgbouncer && make_pgbouncer; } >"$scratch/pgbouncer.log" 2>&1 || cat "$scratch/pgbouncer.log"
}

# By default an update that could not fetch a list is a warning of apt's, and the list is then missing.
fetch_pgbouncer() {
    local apt=(apt-get -qq -o "Dir::Etc::sourcelist=$sources/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$sources/lists" -o APT::Update::Error-Mode=any)
    (cd "$sources" && export TMPDIR=$sources/tmp && "${apt[@]}" update && "${apt[@]}" source --download-only pgbouncer)
}

make_pgbouncer() (
    cd "$sources" && tar xf pgbouncer_*.orig.tar.gz -C code --strip-components=1 && cd code &&
        ./configure --without-cares --without-pam --without-systemd && make pgbouncer && cp pgbouncer "$built_pgbouncer"
)
