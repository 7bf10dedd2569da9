#!/usr/bin/env bash
# Whether the canary sings: plants each leak of bins/dwar/tests/long/canary/leaks, or those named, in a copy of
# HEAD, and expects the canary (bins/dwar/tests/long/canary) to find what the patch's first line names. Before that
# it has to find nothing in HEAD itself. On SQLite.
#
#   scripts/check-canary.sh [NAME...]
#
# CANARY_LEAKS_TARGET names a folder for what is built, which makes the next time faster. It must serve nothing
# else: Cargo tells the crates of two checkouts apart by the times of their files alone.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
-*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac

scratch=$(mktemp -d)
copy=$scratch/source
built=${CANARY_LEAKS_TARGET:-$scratch/target}

stop() {
    git worktree remove --force "$copy" 2>/dev/null || true
    rm -rf "$scratch"
}
trap stop EXIT

canary() {
    cargo test --locked -p dwar --test long -- canary::sqlite >"$scratch/canary.log" 2>&1
}

canary || { tail -n 60 "$scratch/canary.log"; exit 1; }
echo "canary: nothing was found in HEAD"

git worktree add --quiet --detach "$copy" HEAD
leaks=("$PWD"/bins/dwar/tests/long/canary/leaks/*.patch)
if [ $# != 0 ]; then
    leaks=("${@/#/$PWD/bins/dwar/tests/long/canary/leaks/}")
    leaks=("${leaks[@]/%/.patch}")
fi
failed=0
for leak in "${leaks[@]}"; do
    name=$(basename "$leak" .patch)
    wanted=$(sed -n '1s/^tells: //p' "$leak")
    git -C "$copy" apply "$leak" || { echo "check-canary.sh: $name no longer applies"; exit 1; }
    CARGO_TARGET_DIR=$built cargo build --locked --manifest-path "$copy/Cargo.toml" -p dwar
    if DWAR_TEST_BINARY=$(realpath "$built/debug/dwar") canary; then
        echo "leak $name: !!! NOT FOUND !!!"
        failed=1
    elif found=$(grep -m 1 "tells $wanted: " "$scratch/canary.log"); then
        echo "leak $name: found: $(cut -c 1-160 <<<"$found")"
    else
        echo "leak $name: the canary itself failed"
        tail -n 20 "$scratch/canary.log"
        failed=1
    fi
    git -C "$copy" checkout --quiet .
done
exit "$failed"
