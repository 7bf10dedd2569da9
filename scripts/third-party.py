#!/usr/bin/env python3
"""Prints with what the program is linked: each crate, its licence, and the notices that come with it.

Packages ship it, since most of these licences ask that their notices go where the program goes.
"""

import json
import pathlib
import re
import subprocess

# Compiled by build scripts, and linked all the same.
COMPILED = {"libsqlite3-sys", "openssl-src", "pq-src", "tikv-jemalloc-sys"}
NOTICE = re.compile(r"(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE)([-_.].*)?$", re.IGNORECASE)


def cargo(*arguments):
    return subprocess.check_output(["cargo", *arguments, "--locked"], text=True)


def linked():
    """Name and version of each crate that is part of the program."""
    tree = ["tree", "-p", "dwar", "--prefix", "none", "--format", "{p}"]
    crates = set(re.findall(r"^(\S+) v(\S+)", cargo(*tree, "-e", "normal,no-proc-macro"), re.MULTILINE))
    built = re.findall(r"^(\S+) v(\S+)", cargo(*tree, "-e", "all"), re.MULTILINE)
    return crates | {crate for crate in built if crate[0] in COMPILED}


def notices(folder):
    """The texts of licences in a crate, and one folder below, where the sources of others lie."""
    for path in sorted([*folder.glob("*"), *folder.glob("*/*")]):
        if path.is_file() and NOTICE.match(path.name):
            yield path.read_text(errors="replace").strip()


def main():
    wanted = linked()
    host = re.search(r"^host: (\S+)", subprocess.check_output(["rustc", "-vV"], text=True), re.MULTILINE)[1]
    packages = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", host))["packages"]
    packages = sorted((it for it in packages if (it["name"], it["version"]) in wanted), key=lambda it: it["name"])
    texts = {}
    for package in packages:
        if package["source"] is None:
            continue
        name = f"{package['name']} {package['version']}"
        print(f"{name}: {package['license'] or 'see its notices'}")
        for text in notices(pathlib.Path(package["manifest_path"]).parent):
            # One text for all that differ in their line breaks alone.
            texts.setdefault(" ".join(text.split()), (text, []))[1].append(name)
    for text, names in texts.values():
        print(f"\n{'=' * 100}\n{', '.join(sorted(set(names)))}\n\n{text}")


main()
