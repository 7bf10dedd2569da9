#!/usr/bin/env bash
# Installs frameworks and three versions of TypeScript, checks the types of the package with each, with React, with Preact
# and with neither, and drives <dwar-login> in a page of each framework. Minutes, and half a gigabyte of node_modules.
set -euo pipefail
cd "$(dirname "$0")"
npm install --silent --no-audit --no-fund --no-package-lock
rm -rf types && mkdir -p types/node_modules/dwar-login
cp ../package.json ../dwar-login.js ../dwar-login.d.ts types/node_modules/dwar-login/
cp types.tsx types/react.tsx && cp types.tsx types/preact.tsx
sed '/^export const page/,$d' types.tsx >types/neither.mts
for version in 5 6 7; do
    check() { node "node_modules/typescript-$version/bin/tsc" --noEmit --strict --target es2022 --module nodenext --lib es2022,dom "$@"; }
    check --jsx react-jsx --jsxImportSource react types/react.tsx
    check --jsx react-jsx --jsxImportSource preact --skipLibCheck types/preact.tsx
    # Where neither library is to be found.
    mkdir -p "$PWD/types/alone" && cp -r types/neither.mts types/node_modules types/alone/
    alone=$(mktemp -d)
    mv types/alone "$alone/"
    (tsc=$PWD/node_modules/typescript-$version/bin/tsc; cd "$alone/alone" && node "$tsc" --noEmit --strict --target es2022 --module nodenext --lib es2022,dom neither.mts)
    rm -rf "$alone"
    echo "ok      types, TypeScript $(node -p "require('./node_modules/typescript-$version/package.json').version")"
done
node run.mjs "$@"
