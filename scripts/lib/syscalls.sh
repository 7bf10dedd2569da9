# Sourced by scripts that hold a program to the system calls that a unit allows.
# shellcheck shell=bash

# members GROUP: the system calls of one of systemd's groups, such as @process.
members() {
    local name
    systemd-analyze syscall-filter "$1" | sed -n 's/^ \+\([-@a-z0-9_]\+\)$/\1/p' | while read -r name; do
        case $name in
        @*) members "$name" ;;
        *) echo "$name" ;;
        esac
    done
}

# allowed UNIT: every system call that the unit's SystemCallFilter= lines allow. The first list allows, and those
# that begin with ~ take away.
allowed() {
    local line name all=""
    while read -r line; do
        local taken=""
        for name in ${line#\~}; do
            case $name in
            @*) taken+=$(members "$name")$'\n' ;;
            *) taken+=$name$'\n' ;;
            esac
        done
        case $line in
        \~*) all=$(comm -23 <(sort -u <<<"$all") <(sort -u <<<"$taken")) ;;
        *) all+=$'\n'$taken ;;
        esac
    done < <(sed -n 's/^SystemCallFilter=//p' "$1")
    sort -u <<<"$all" | sed '/^$/d'
}

# forbidden_calls LOG ALLOWED COMMAND...: runs COMMAND, and writes each call to LOG that it or its children made
# and that is not ALLOWED. The kernel stops at those alone, so that it is as fast as without.
forbidden_calls() {
    local log=$1 calls=$2 status=0
    shift 2
    # The `?` accepts calls that this kernel does not have.
    strace -f --seccomp-bpf -qq --signal=none -o "$log" \
        -e trace="!$(sed 's/^/?/' <<<"$calls" | paste -sd,)" "$@" || status=$?
    # A process that was killed leaves a line without the name of a call.
    sed -i -e '/ ???(/d' -e '/ +++ /d' "$log"
    return "$status"
}
