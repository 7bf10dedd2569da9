# What a developer types; `just` alone lists it.

_default:
    @just --list

# run the service on an embedded database
run *args:
    cargo run --release -- {{ args }}

# the tests, on SQLite and PostgreSQL; with --all those that take long too
test *args:
    ./scripts/test.sh {{ args }}

# everything that continuous integration runs
ci:
    ./.ci/run

# format and lint
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets -- -D warnings

# banned words and constructions, in code and pages
check-words:
    ./scripts/check-words.sh

# rules of dependencies
check-dependencies:
    ./scripts/check-dependencies.sh

# how fast it starts, what memory it takes, how many requests it answers
bench:
    cargo bench --profile dist -p dwar --bench load

# the Debian package
deb:
    ./scripts/build-deb.sh

# beside better-auth, on SQLite and PostgreSQL (docs/benchmarks.md)
compare:
    ./scripts/compare.sh

# what requests cost as the work grows (docs/benchmarks.md)
bench-scale *args:
    ./scripts/bench-scale.sh {{ args }}

# everything at once, for so many minutes per case (docs/benchmarks.md)
soak *args:
    ./scripts/soak.sh {{ args }}

# thirty days of one project against seven attackers (docs/guard.md)
simulate-guard *args:
    ./scripts/simulate-guard.sh {{ args }}

# the libraries of others, with tokens, discovery, events and hooks of a running service
interop:
    cargo build
    ./tests/interop/all.sh
