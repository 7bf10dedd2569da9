#!/usr/bin/env bash
# Installs the packed client beside Nest and Jest and runs these programs, the last with Node 20, 22 and 24. It downloads some
# 300 MB, so CI does not run it each time: scripts/test-clients.sh --all does.
#
# usage: DWAR_BIN=… run.sh   (after `npm install` in the client's folder)
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp ./*.json ./*.ts ./*.cjs "$scratch"
npm pack --silent --pack-destination "$scratch" .. >/dev/null
cd "$scratch"
npm install --silent --no-audit --no-fund --no-package-lock
npm install --silent --no-audit --no-fund --no-package-lock --no-save ./dwar-client-*.tgz
npm test
for version in 20 22 24; do
    npx --yes "node@$version" both.cjs
done
