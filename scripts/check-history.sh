#!/usr/bin/env bash
# Checks the promises of the service over what concurrent clients were told, while instances are killed and
# stopped, the database is restarted, and connections are cut and frozen: three instances on PostgreSQL, or
# with --sqlite one on a file that the command line writes as well.
#
#   scripts/check-history.sh [--sqlite] [--seconds N] [--seed S] [--clients N]
#                            [--release | --binary DWAR]
#   scripts/check-history.sh --mutants [NAME...]
#
# The seed is printed; the same one draws the same operations and faults, though not the same races.
# With --mutants every patch in tests/history/mutants, or those named, is applied to a copy of HEAD, and
# the check has to fail on it with one of three seeds, by the check that the patch's first line names.
# With --sqlite the command line changes keys and switches and tops up while the instance runs, and while it
# is killed or stopped. What only several instances have in common is not seen then.
# A mutant whose patch has the line «with: sqlite» gets that in any case. One whose first line is «test: ARGUMENTS» is
# not run: `cargo test ARGUMENTS` has to fail on it.
# With --binary the service is not built. Except with --sqlite, PostgreSQL has to be installed; it is run in a
# temporary folder.
# docs/adr/0038 says why all this.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/postgres.sh

seconds=60
seed=""
clients=12
profile=debug
binary=""
with=""
mutants=""
names=()
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --clients) clients=$2; shift 2 ;;
    --sqlite) with=sqlite; shift ;;
    --release) profile=release; shift ;;
    --binary) binary=$(realpath "$2"); shift 2 ;;
    --mutants) mutants=1; shift ;;
    -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
    *) names+=("$1"); shift ;;
    esac
done
[ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')

scratch=$(mktemp -d)
chmod 755 "$scratch"
postgres=$(find_postgres)
[ "$with$mutants" = sqlite ] || [ -n "$postgres" ] ||
    { echo "check-history.sh: PostgreSQL is not installed"; exit 1; }

running=""
copy=""

stop() {
    [ -z "$running" ] || stop_postgres "$postgres" "$running"
    [ -z "$copy" ] || git worktree remove --force "$copy" 2>/dev/null || true
    rm -rf "$scratch"
}
trap stop EXIT

# tested ARGUMENTS NAME: the tests of the copy, on a server of their own; fails as they do.
tested() {
    local port status=0
    port=$(free_port)
    running=$scratch/$2-pg
    start_postgres "$postgres" "$running" "$port" "-c max_connections=300 -c fsync=off"
    # shellcheck disable=SC2086 # several arguments
    DWAR_TEST_POSTGRES_URL=postgres://dwar@127.0.0.1:$port/postgres CARGO_TARGET_DIR=$built \
        cargo test --locked --manifest-path "$copy/Cargo.toml" $1 -- --include-ignored || status=$?
    stop_postgres "$postgres" "$running"
    running=""
    return "$status"
}

# check BINARY NAME [sqlite]: one run on a database of its own; fails as the checker does.
check() {
    local folder=$scratch/$2 with=${3:-} port status=0 given=()
    mkdir "$folder" "$folder/services"
    if [ "$with" != sqlite ]; then
        port=$(free_port)
        running=$folder/pg
        # An immediate stop of the server loses nothing without fsync: the system goes on.
        start_postgres "$postgres" "$running" "$port" "-c fsync=off"
        given+=(--postgres "$port"
            --pg-ctl "${as_postgres[*]} $postgres/pg_ctl -D $running/data -l $running/log")
    fi
    "$target/$profile/history" --binary "$1" --folder "$folder/services" "${given[@]}" \
        --seconds "$seconds" --seed "$seed" --clients "$clients" \
        --history "${TMPDIR:-/tmp}/dwar-history-$seed.jsonl" || status=$?
    [ -z "$running" ] || stop_postgres "$postgres" "$running"
    running=""
    return "$status"
}

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
release=()
[ "$profile" = debug ] || release=(--release)
cargo build --locked "${release[@]}" -p dwar-history

if [ -z "$mutants" ]; then
    [ -n "$binary" ] || cargo build --locked "${release[@]}" -p dwar
    check "${binary:-$target/$profile/dwar}" service "$with"
    exit
fi

# One copy and one target directory for all of them: each builds only what its patch changes.
copy=$scratch/source
git worktree add --quiet --detach "$copy" HEAD
# A folder that is kept makes the next time faster. It must serve nothing else: Cargo tells the crates of
# two checkouts apart by the times of their files alone, and a mutant would end up in another program.
built=${HISTORY_MUTANTS_TARGET:-$scratch/target}
patches=("$PWD"/tests/history/mutants/*.patch)
if [ "${#names[@]}" != 0 ]; then
    patches=("${names[@]/#/$PWD/tests/history/mutants/}")
    patches=("${patches[@]/%/.patch}")
fi
failed=0
for patch in "${patches[@]}"; do
    name=$(basename "$patch" .patch)
    # The first line says which check has to fail.
    wanted=$(sed -n '1s/^check: //p' "$patch")
    own=$(sed -n 's/^with: //p' "$patch")
    git -C "$copy" apply "$patch" || { echo "check-history.sh: $name no longer applies"; exit 1; }
    arguments=$(sed -n '1s/^test: //p' "$patch")
    if [ -n "$arguments" ]; then
        if tested "$arguments" "$name" >"$scratch/$name.out" 2>&1; then
            echo "mutant $name: !!! NOT FOUND !!!"
            failed=1
        elif ! grep -q "^test result: FAILED" "$scratch/$name.out"; then
            echo "mutant $name: its tests did not run"
            tail -n 20 "$scratch/$name.out"
            failed=1
        else
            echo "mutant $name: found: $(grep -c '^test .* FAILED$' "$scratch/$name.out") tests fail"
        fi
        git -C "$copy" checkout --quiet .
        continue
    fi
    CARGO_TARGET_DIR=$built cargo build --locked "${release[@]}" --manifest-path "$copy/Cargo.toml" -p dwar
    # What a seed draws may leave a mutant no occasion to show itself.
    status=0
    for ((try = 0; try < 3 && status == 0; try++)); do
        check "$built/$profile/dwar" "$name-$try" "${own:-$with}" >"$scratch/$name.out" 2>&1 || status=$?
        seed=$((seed + 1))
    done
    if [ "$status" = 0 ]; then
        echo "mutant $name: !!! NOT FOUND !!!"
        failed=1
    elif ! grep -q "VIOLATION\|violations (" "$scratch/$name.out"; then
        echo "mutant $name: the checker itself failed"
        tail -n 20 "$scratch/$name.out"
        failed=1
    elif ! grep -q "$wanted [1-9]" <<<"$(grep 'violations (' "$scratch/$name.out")"; then
        echo "mutant $name: not found by $wanted: $(grep 'violations (' "$scratch/$name.out")"
        failed=1
    else
        echo "mutant $name: found: $(grep 'violations (' "$scratch/$name.out")"
    fi
    git -C "$copy" checkout --quiet .
done
exit "$failed"
