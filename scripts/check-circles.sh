#!/usr/bin/env bash
# Proves that no files of a crate need each other in a circle, tests apart. It reads the sources and compiles nothing.
#
# An edge goes from a file that names an item (in a `use` or in code, by crate::, super::, self::, a child or an
# imported module) to the file that defines it, however many re-exports lie between. `mod child;` and `pub use` are
# not edges: they say where things are and need nothing of them. Calls of methods are not seen.
#
# usage: check-circles.sh [CRATE_FOLDER...], in place of all crates
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- $(git ls-files benches/src/main.rs 'bins/*/src/main.rs' 'clients/*/src/lib.rs' 'crates/*/src/lib.rs' | sed 's,/src/.*,,')
exec python3 - "$@" <<'END_OF_PYTHON'
import pathlib, re, sys

TESTS = re.compile(r'#\[cfg\(test\)\]\n(?:#.*\n)*(?:[^{};]*;|(?:.*\{\n)(?s:.*?)\n\}|.*\})')
TEXT_OR_COMMENT = re.compile(r'''(?s:r(#*)".*?"\1|"(?:[^"\\]|\\.)*"|/\*.*?\*/)|'(?:[^'\\\n]|\\[^'\n]+)'|//.*''')
CHILD = re.compile(r'(?:#\[path = "(.*)"\]\n)?(?:pub(?:\(.*?\))? )?mod (\w+);')
ITEM = re.compile(r'(?m)^(?:pub(?:\(.*?\))? )?(?:const |async )*(?:fn|struct|enum|union|trait|type|const|static|macro_rules!) (\w+)')
USE = re.compile(r'(pub(?:\([^)]*\))? )?\buse ([^;]*);')
PATH = re.compile(r'(?<![\w:])[a-z]\w*(?:::\w+)+')


def written_out(tree):
    """Paths of a `use`, each with the name it has here: a::{b, c as d} is a::b as b and a::c as d."""
    if "{" not in tree:
        path, _, alias = tree.strip().partition(" as ")
        path = path.removesuffix("::self").split("::")
        yield (path, alias.strip() or path[-1])
        return
    head, inside = tree.strip().split("{", 1)
    depth, part = 0, ""
    for letter in inside[: inside.rindex("}")] + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and not depth:
            if part.strip():
                yield from written_out(head + part.strip())
            part = ""
        else:
            part += letter


class Module:
    def __init__(self, file, folder, parent=None):
        text = TESTS.sub("", file.read_text())
        code = TEXT_OR_COMMENT.sub('""', text)
        self.file, self.parent, self.root = file, parent, parent.root if parent else self
        self.items, self.globs, self.paths = set(ITEM.findall(code)), [], []
        self.names, self.children, self.known = {}, {}, {}
        for public, tree in USE.findall(code):
            for path, name in written_out(tree):
                if name == "*":
                    self.globs.append(path[:-1])
                else:
                    self.names[name] = path
                if not public:
                    self.paths.append(path)
        self.paths += [path.split("::") for path in PATH.findall(USE.sub("", code))]
        for place, name in CHILD.findall(text):
            if place:
                child = (file.parent / place).resolve()
                below = child.with_suffix("")
            else:
                below = folder / name
                child = below / "mod.rs" if (below / "mod.rs").exists() else below.with_suffix(".rs")
            self.children[name] = Module(child, below if child.name != "mod.rs" else child.parent, self)

    def all(self):
        return [self, *(found for child in self.children.values() for found in child.all())]

    def meant_by(self, path):
        """The module that defines what a path means here; nothing if that is another crate's."""
        first, rest = path[0], path[1:]
        if first == "crate":
            found = self.root.owner_of(rest)
        elif first in ("self", "super") or first in self.children:
            found = self.owner_of(path)
        else:
            imported = self.names.get(first, [first])
            found = self.meant_by(imported + rest) if imported[0] != first else None
        # What a macro defines is not seen: then the module before the name stands for it.
        return found or (self.meant_by(path[:-1]) if rest else None)

    def owner_of(self, path):
        key = tuple(path)
        if key not in self.known:
            self.known[key] = None  # A name that leads to itself leads nowhere.
            self.known[key] = self.sought(path)
        return self.known[key]

    def sought(self, path):
        if not path:
            return self
        first, rest = path[0], path[1:]
        if first in ("self", "super"):
            return (self if first == "self" else self.parent).owner_of(rest)
        if first in self.items and not rest:
            return self
        if first in self.children:
            return self.children[first].owner_of(rest)
        if first in self.items:
            return self
        if first in self.names:
            return self.meant_by(self.names[first] + rest)
        wild = (module.owner_of(path) for module in map(self.meant_by, self.globs) if module)
        return next(filter(None, wild), None)


def circles(needs):
    """Groups of files each of which reaches all others of its group."""
    reach = {}
    for start in needs:
        found, next_ones = set(), [start]
        while next_ones:
            new = needs[next_ones.pop()] - found
            found |= new
            next_ones += new
        reach[start] = found
    rings = {frozenset(b for b in reach[a] if a in reach[b]) for a in needs if a in reach[a]}
    return [sorted(ring, key=lambda module: module.file) for ring in rings]


failed = False
for crate in map(pathlib.Path, sys.argv[1:]):
    source = (crate / "src").resolve()
    root = next(source / name for name in ("main.rs", "lib.rs") if (source / name).exists())
    modules = Module(root, source).all()
    needs = {a: {b for b in map(a.meant_by, a.paths) if b and b is not a} for a in modules}
    found = circles(needs)
    failed |= bool(found)
    for ring in found:
        print(f"check-circles.sh: {len(ring)} files of {crate} need each other:")
        short = lambda module: str(module.file).removeprefix(f"{source}/")
        for a in ring:
            print(f"  {short(a)} needs", *(short(b) for b in ring if b in needs[a]))
if not failed:
    print("check-circles.sh: no files need each other in a circle")
sys.exit(failed)
END_OF_PYTHON
