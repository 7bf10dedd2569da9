#!/usr/bin/env bash
# Proves that no circle of `use` paths crosses folders: modules that need each other stand in one folder.
# Reads what stands outside of tests; one crate after the other, those named or all that have folders.
#
# usage: check-circles.sh [CRATE_FOLDER...]
set -euo pipefail
cd "$(dirname "$0")/.."

# uses SRC: «module used-path» per use path; a module is its file without .rs.
uses() {
    find "$1" -name '*.rs' ! -name '*_tests.rs' ! -name tests.rs -printf '%P\n' | sort | while read -r file; do
        module=${file%.rs}
        # A name that the root gives to others is asked for by everybody; whose it is, is seen elsewhere.
        [ "$module" = lib ] || [ "$module" = main ] && continue
        # A folder stands for what is in it.
        [[ $file != */mod.rs ]] || sed -nE "s,^(pub(\([a-z]+\))? )?mod ([a-z0-9_]+);,$module ${module%/mod}/\3,p" "$1/$file"
        sed '/^#\[cfg(test)\]/,$d' "$1/$file" | grep -v '^ *//' | tr '\n' ' ' |
            { grep -oE '\b(crate|super)(::[a-z0-9_]+)*::(\{[^;]*\}|[A-Za-z0-9_]+|\*)' || true; } |
            awk -v module="$module" -v is_folder="$([[ $file == */mod.rs ]] && echo 1)" '
                # Writes out braces: crate::{a::B, c} is crate::a::B and crate::c.
                function paths(head, text,    depth, i, c, part) {
                    if (substr(text, 1, 1) != "{") { print module, resolve(head text); return }
                    text = substr(text, 2, length(text) - 2)
                    for (i = 1; i <= length(text); i++) {
                        c = substr(text, i, 1)
                        if (c == "{") depth++
                        if (c == "}") depth--
                        if (c == "," && !depth) { each(head, part); part = "" } else part = part c
                    }
                    each(head, part)
                }
                function each(head, part,    at) {
                    gsub(/[ \t]/, "", part)
                    if (part == "") return
                    at = index(part, "{")
                    if (at) paths(head substr(part, 1, at - 1), substr(part, at)); else print module, resolve(head part)
                }
                function resolve(path,    base) {
                    base = module
                    if (!sub(/\/[^\/]*$/, "", base)) base = ""
                    if (sub(/^super::/, "", path)) {
                        # In a mod.rs the parent is that of the folder.
                        if (is_folder && !sub(/\/[^\/]*$/, "", base)) base = ""
                        while (sub(/^super::/, "", path)) if (!sub(/\/[^\/]*$/, "", base)) base = ""
                    } else { sub(/^crate::/, "", path); base = "" }
                    gsub(/::/, "/", path)
                    return base == "" ? path : base "/" path
                }
                { at = index($0, "{"); if (at) paths(substr($0, 1, at - 1), substr($0, at)); else print module, resolve($0) }'
    done
}

# circles: reads «module path», says which modules of different folders reach each other.
circles() {
    awk '
        # Folders of the source; what is inside of one is its own matter.
        function folder(module) { return match(module, /\//) ? substr(module, 1, RSTART - 1) : "." }
        { from[NR] = $1; to[NR] = $2; known[$1] = 1 }
        END {
            for (line in from) {
                path = to[line]
                while (!(path in known) && !(path "/mod" in known) && sub(/\/[^\/]*$/, "", path)) {}
                if (!(path in known)) path = path "/mod"
                if (path in known && path != from[line]) reach[from[line], path] = 1
            }
            for (via in known) for (a in known) if ((a, via) in reach) for (b in known) if ((via, b) in reach) reach[a, b] = 1
            for (a in known) for (b in known)
                if (a < b && folder(a) != folder(b) && (a, b) in reach && (b, a) in reach) print "  " a " and " b
        }' | sort
}

failed=0
[ $# -gt 0 ] || set -- $(find crates bins -mindepth 3 -maxdepth 4 -path '*/src/*' -name mod.rs | sed 's|/src/.*||' | sort -u)
for crate in "$@"; do
    found=$(uses "$crate/src" | circles)
    if [ -n "$found" ]; then
        printf 'check-circles.sh: modules of %s in different folders use each other:\n%s\n' "$crate" "$found"
        failed=1
    fi
done
[ "$failed" = 0 ] && echo "check-circles.sh: no circle of use paths crosses folders"
exit "$failed"
