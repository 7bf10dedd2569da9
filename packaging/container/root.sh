#!/usr/bin/env bash
# Lays out the file system of the container: the program, the loader and the libraries that it names, the
# certificates by which it knows its providers, and a user.
#
#   packaging/container/root.sh PROGRAM FOLDER
#
# The libraries are those of the machine it runs on, which therefore has to be the one that built the program.
set -euo pipefail

program=$1 root=$2
user=10001

mkdir -p "$root"
install -D -m 755 "$program" "$root/usr/bin/dwar"
loader=$(readelf --program-headers "$program" | sed -n 's/.*Requesting program interpreter: \(.*\)\]/\1/p')
install -D -m 755 "$loader" "$root$loader"
# What the loader itself would open, by the paths at which it will look.
"$loader" --list "$program" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | while read -r library; do
    install -D -m 644 "$library" "$root$library"
done
install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
echo "dwar:x:$user:$user::/var/lib/dwar:/usr/sbin/nologin" >"$root/etc/passwd"
echo "dwar:x:$user:" >"$root/etc/group"
install -d -m 700 -o "$user" -g "$user" "$root/var/lib/dwar"
# Temporary files, such as those of SQLite for a large sort, go here on a read-only root.
install -d -m 1777 "$root/tmp"
