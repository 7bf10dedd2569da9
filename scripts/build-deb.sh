#!/usr/bin/env bash
# Builds the Debian package dwar_VERSION_ARCHITECTURE.deb, and prints where it is.
#
#   scripts/build-deb.sh [--binary FILE] [--version VERSION] [--output FOLDER]
#
#   --binary   a program that is there already, for tests; else the profile `dist` is built
#   --version  the package's version; else the one of Cargo.toml
#   --output   where the package goes; else target/debian
#
# Needs dpkg-dev, and builds cargo-deb into the target folder if it is not there.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
binary="" compression=() output=$target/debian
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
while [ $# -gt 0 ]; do
    case $1 in
    --binary) binary=$(realpath "$2") compression=(--fast) ;;
    --version) version=$2 ;;
    --output) output=$(realpath "$2") ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
    shift 2
done

cargo_deb=3.7.0
tool=$target/test-tools/cargo-deb-$cargo_deb
[ -x "$tool/bin/cargo-deb" ] ||
    cargo install --quiet --locked --debug --no-default-features --root "$tool" \
        --target-dir "$target/test-tools/build" "cargo-deb@$cargo_deb" >&2
if [ -z "$binary" ]; then
    cargo build --profile dist --locked -p dwar >&2
    binary=$target/dist/dwar
fi

# cargo-deb looks for what was built in a target folder; in this one is nothing but what goes into the package.
stage=$target/package
rm -rf "$stage"
mkdir -p "$stage/dist" "$output"
strip --strip-all --remove-section=.comment -o "$stage/dist/dwar" "$binary"
gzip -9n <packaging/deb/dwar.1 >"$stage/dist/dwar.1.gz"
for shell in bash zsh fish; do
    "$stage/dist/dwar" completion "$shell" >"$stage/dist/dwar.$shell"
done
./scripts/third-party.py | gzip -9n >"$stage/dist/third-party.txt.gz"
# Debian's own form; CHANGELOG.md says what changed.
gzip -9n >"$stage/dist/changelog.gz" <<CHANGELOG
dwar ($version) unstable; urgency=medium

  * See https://keepachangelog.com and the CHANGELOG.md of this version.

 -- The Dwar authors <maintainers@dwar.invalid>  $(git log -1 --format=%cD)
CHANGELOG
CARGO_TARGET_DIR=$stage "$tool/bin/cargo-deb" deb --no-build --no-strip --profile dist -p dwar \
    --deb-version "$version" --output "$output" --quiet "${compression[@]}" >&2
echo "$output/dwar_${version}_$(dpkg --print-architecture).deb"
