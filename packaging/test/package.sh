# Sourced by scripts/test-packaging.sh: the life of the Debian package in a root, and the calls of the service.
# shellcheck shell=bash

# The highest exposure that `systemd-analyze security` may find, times ten.
readonly EXPOSURE=15
# From the package to a verified code, in seconds.
readonly QUICK=60

test_package() {
    step "the unit"
    systemd-analyze security --offline=yes --no-pager --threshold="$EXPOSURE" "$unit" >"$scratch/exposure" ||
        { cat "$scratch/exposure"; fail "the unit is more exposed than $EXPOSURE/10"; }
    tail -n 1 "$scratch/exposure"

    step "the package"
    old=$(./scripts/build-deb.sh --binary "$binary" --version 0.0.1 --output "$scratch")
    new=$(./scripts/build-deb.sh --binary "$binary" --output "$scratch")
    lintian --fail-on error,warning,info --display-info --allow-root --tag-display-limit 0 "$new" || fail "lintian"

    step "a bare root"
    make_root
    cp "$old" "$root/old.deb"
    cp "$new" "$root/new.deb"
    again_until_done in_root apt-get update -qq
    from_package_to_code
    check_manual
    check_completion

    life SQLite
    if [ -n "$postgres" ]; then
        life PostgreSQL
    fi
}

# No compiler, no configuration: the package alone, and what apt brings for it.
from_package_to_code() {
    local began=$SECONDS took
    in_root apt-get install -y -qq ./old.deb >"$scratch/apt.log" 2>&1 || { cat "$scratch/apt.log"; fail "install"; }
    in_root runuser -u dwar -- dwar try >"$scratch/try" || { cat "$scratch/try"; fail "try"; }
    grep '^ok *verify' "$scratch/try"
    took=$((SECONDS - began))
    step "from the package to a verified code: $took s"
    [ "$took" -lt "$QUICK" ] || fail "that is too long"
    ! in_root sh -c 'command -v cc gcc rustc' || fail "there is a compiler"
}

# The manual page names every command.
check_manual() {
    local command
    for command in $(in_root dwar --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
        [ "$command" = help ] || sed 's/\\-/-/g' packaging/deb/dwar.1 | grep -qw -- "$command" ||
            fail "the manual page lacks $command"
    done
}

# Each shell reads its script where the package puts it, and offers commands.
check_completion() {
    local offered
    offered=$(in_root bash -c '
        . /usr/share/bash-completion/completions/dwar
        COMP_WORDS=(dwar wal) COMP_CWORD=1
        _dwar dwar wal dwar
        echo "${COMPREPLY[*]}"')
    [ "$offered" = wallet ] || fail "bash completes wal to $offered"
    if ! command -v zsh fish >/dev/null; then
        leave_out "completion in zsh and fish; both are needed"
        return
    fi
    # shellcheck disable=SC2016 # zsh expands it
    offered=$(zsh -f -c 'fpath=("$1" $fpath); autoload -Uz compinit; compinit -D; echo "${_comps[dwar]}"' \
        zsh "$root/usr/share/zsh/vendor-completions")
    [ "$offered" = _dwar ] || fail "zsh does not find what completes dwar: $offered"
    zsh -n "$root/usr/share/zsh/vendor-completions/_dwar" || fail "zsh cannot read its script"
    offered=$(fish --no-config -c "source '$root/usr/share/fish/vendor_completions.d/dwar.fish'; complete -C 'dwar wal'" |
        cut -f1)
    [ "$offered" = wallet ] || fail "fish completes wal to $offered"
}

# managed: the calls of systemctl since the last call of this function.
managed() {
    cat "$root/systemctl.log" 2>/dev/null || true
    rm -f "$root/systemctl.log"
}

assert_idle() {
    local told
    told=$(managed)
    ! grep -Ew 'start|restart|enable' <<<"$told" || fail "systemd was told: $told"
    ! compgen -G "$root/etc/systemd/system/*.wants/dwar.service" || fail "the unit is enabled"
}

# life STORE: from an older version to its purge, with data.
life() {
    step "a life on $1"
    in_root apt-get install -y -qq --allow-downgrades ./old.deb >>"$scratch/apt.log" 2>&1
    assert_idle
    ! dwar serve >"$scratch/refused" 2>&1 || fail "it started before it was configured"
    grep -q 'production refuses' "$scratch/refused" || { cat "$scratch/refused"; fail "not a refusal"; }

    configure "$1"
    # By root, before the service ever ran.
    [ "$1" = PostgreSQL ] || in_root dwar --config /etc/dwar/dwar.toml migrate >/dev/null 2>&1 || fail "migrate by root"
    in_root dwar --config /etc/dwar/dwar.toml doctor >/dev/null 2>&1 || true
    [ -z "$(find "$root/var/lib/dwar" -user root)" ] || fail "a command of root left files of root"
    start_service
    local key before project
    project=$(dwar project create --name Shop --balance-rupees 100 --json)
    key=$(sed 's/.*"test_key":"\([^"]*\)".*/\1/' <<<"$project")
    project=$(sed 's/.*"project_id":"\([^"]*\)".*/\1/' <<<"$project")
    smoke_test "$key"
    before=$(state "$project")

    in_root apt-get install -y -qq ./new.deb >>"$scratch/apt.log" 2>&1
    managed | grep -qw 'try-restart' || fail "an upgrade does not restart a service that runs"
    cmp "$root/etc/dwar/dwar.toml" "$scratch/dwar.toml" || fail "the upgrade changed the configuration"
    stop_service
    start_service
    [ "$(state "$project")" = "$before" ] || fail "the upgrade lost data"
    smoke_test "$key"
    dwar doctor >"$scratch/doctor" || { cat "$scratch/doctor"; fail "doctor"; }
    stop_service

    in_root apt-get remove -y -qq dwar >>"$scratch/apt.log" 2>&1
    [ ! -e "$root/usr/bin/dwar" ] || fail "the program outlived the package"
    in_root apt-get install -y -qq ./new.deb >>"$scratch/apt.log" 2>&1
    cmp "$root/etc/dwar/dwar.toml" "$scratch/dwar.toml" || fail "the removal changed the configuration"
    managed >/dev/null
    start_service
    [ "$(state "$project")" = "$before" ] || fail "the removal lost data"
    smoke_test "$key"
    stop_service

    in_root apt-get purge -y -qq dwar >>"$scratch/apt.log" 2>&1
    [ ! -e "$root/var/lib/dwar" ] && [ ! -e "$root/etc/dwar" ] || fail "the purge left data or configuration"
    ! in_root getent passwd dwar || fail "the purge left the user"
    if [ "$1" = PostgreSQL ]; then
        [ "$(stat -c '%a %u' "$root"/var/backups/dwar-keys.*)" = "700 0" ] || fail "the purge left keys to others"
        grep -rq '^DWAR__SECRETS__MASTER_KEY=.' "$root"/var/backups/dwar-keys.* || fail "the purge lost the master key"
        grep -q /var/backups/dwar-keys "$scratch/apt.log" || fail "the purge does not say where the key is"
    else
        ! compgen -G "$root/var/backups/dwar-keys.*" >/dev/null || fail "the purge kept the key of what it deleted"
    fi
}

# configure STORE: writes the files of an administrator.
configure() {
    sed -i 's/^#\(whatsapp\|sms\) /\1 /' "$root/etc/dwar/dwar.toml"
    cp "$root/etc/dwar/dwar.toml" "$scratch/dwar.toml"
    [ "$1" != PostgreSQL ] || (
        umask 077
        cat >"$root/etc/dwar/secrets.env" <<SECRETS
DWAR__DATABASE__URL=postgres://dwar@127.0.0.1:$port/postgres
DWAR__SECRETS__MASTER_KEY=$(head -c 32 /dev/urandom | base64)
SECRETS
    )
}

# state PROJECT: the state that must not change by itself.
state() {
    dwar project show --project "$1"
    dwar wallet statement --project "$1"
    dwar signing-key list
}

smoke_test() {
    as_service DWAR_KEY="$1" /usr/bin/dwar try --url http://127.0.0.1:8080 >"$scratch/try" ||
        { cat "$scratch/try"; fail "the smoke test"; }
}

# Tests of the whole program, each with the calls that the unit forbids in view: parts of bins/dwar/tests/flows.
readonly SUITES=(start flow providers metrics)

# The calls of the service, on both databases, held against the filter of the unit.
test_system_calls() {
    step "system calls"
    local calls suite program count
    calls=$(allowed "$unit")
    # A filter that forbids what every program does has to be noticed.
    forbidden_calls "$scratch/calls" "$(grep -vx openat <<<"$calls")" "$binary" --version >/dev/null
    grep -q openat "$scratch/calls" || fail "a forbidden call goes unnoticed"
    [ -z "$postgres" ] || export DWAR_TEST_POSTGRES_URL=postgres://dwar@127.0.0.1:$port/postgres
    program=$(find "$target/debug/deps" -name "flows-*" -perm -u=x -type f -printf '%T@ %p\n' 2>/dev/null |
        sort -n | tail -n 1 | cut -d' ' -f2)
    if [ -z "$program" ]; then
        leave_out "the system calls of the flows; scripts/test.sh builds them"
        return
    fi
    for suite in "${SUITES[@]}"; do
        # They run as root, for whom SQLite gives files to the owner of their folder.
        (cd bins/dwar && forbidden_calls "$scratch/calls" "$calls"$'\n'fchown "$program" --quiet "$suite::" \
            ${postgres:+--include-ignored} >"$scratch/suite.log") || { cat "$scratch/suite.log"; fail "the suite $suite"; }
        count=$(wc -l <"$scratch/calls")
        [ "$count" = 0 ] || { head -n 20 "$scratch/calls"; fail "the suite $suite makes $count forbidden calls"; }
    done
}
