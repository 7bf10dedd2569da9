#!/usr/bin/env bash
# Reads messages.json with the examples for Android, in Kotlin, and for iOS, in Swift. Needs mvn and a JDK, and swiftc; what
# it lacks it leaves out and says so.
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
left_out=""

if command -v mvn >/dev/null; then
    mkdir "$scratch/src"
    cp pom.xml "$scratch/"
    cp Main.kt ../../examples/android/CodeInMessage.kt ../../examples/android/LoginApi.kt "$scratch/src/"
    mvn --quiet --batch-mode --file "$scratch/pom.xml" compile exec:java "-Dexec.args=$PWD/messages.json"
else
    left_out="Kotlin"
fi
if command -v swiftc >/dev/null; then
    swiftc -o "$scratch/read" main.swift ../../examples/ios/CodeInMessage.swift
    "$scratch/read" "$PWD/messages.json"
else
    left_out="$left_out Swift"
fi
[ -z "$left_out" ] || echo "messages/run.sh: !!! LEFT OUT:$left_out !!!"
