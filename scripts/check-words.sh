#!/usr/bin/env bash
# Fails for words and constructions that make a reader read a sentence twice, mostly English with the order or the
# pronouns of another language. It prints file, line and what to write in place of each.
#
# It reads the tracked text files, also where a line break divides a phrase. It leaves out licences, patches, and JSON,
# most of which is made of sources that it reads. A line keeps a phrase if .ci/allowed-words.txt gives a reason for it.
#
# usage: check-words.sh
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - <<'END_OF_PYTHON'
import pathlib, re, subprocess, sys

ALLOWED = ".ci/allowed-words.txt"
# These two hold every phrase.
LEFT_OUT = ("scripts/check-words.sh", ALLOWED)
KINDS = re.compile(
    r"\.(rs|md|toml|sh|sql|svg|ts|tsx|mjs|js|jsx|css|html|py|go|java|kt|swift|php|cs|dart|ya?ml|txt|1)$"
    r"|(^|/)(run|justfile|Containerfile)$"
)
# Comparisons and idioms.
FINE = "(?! (?:longer|more|less|fewer|later|earlier|newer|older|shorter|larger|smaller|better|business of|reason to))"

# Phrase as a regular expression, and what to write. Words are one blank apart; `(?-i:...)` minds capitals.
BANNED = [
    ("whoever", "`anyone who`, or the person: the caller, the operator"),
    ("somebody (?:who|whose|that)", "`a person who`, or the person"),
    ("of somebody else(?!')", "the other one: of another system, of another user"),
    ("wants? somebody", "what is needed, and of which part"),
    ("what there (?:is|are)", "the things themselves"),
    ("(?-i:By) what", "a noun"),
    ("(?<=, )by what", "`by the` and a noun"),
    (f"(?<!there )is no{FINE}", "`is not a`"),
    (f"(?<!there )are no{FINE}", "`are not`"),
    ("(?:it|that|which|what) is none", "what it is not: `is not a valid key`"),
    ("means nothing to", "what is done with it: `is ignored`"),
    ("lies (?:about|around|beside|below|there|over)", "`is`"),
    ("(?:it|file|database|folder) lies", "`is`"),
    ("stands (?:beside|there|behind|on top|in the)", "`is`"),
    ("what stands", "the thing itself"),
    ("of before", "`the earlier`, `the previous`"),
    ("the same everywhere", "the places"),
    ("(?:its|own|each|every|both|two|other) worlds?", "`mode`, or `project and mode`"),
    ("there twice", "`given twice`, `listed twice`"),
    ("(?:left|leaves \\w+) away", "`left out`"),
    ("(?:is|are) wanted", "`is needed`"),
    ("since that (?:a|an|the)", "`because`"),
    ("may what", "`is allowed to do what`"),
    ("(?:that|what) it is (?:of|about)", "the noun first: `the phone of the session`"),
    ("is about no", "`concerns no`"),
    ("allows to", "`lets` and the person, or a noun: `allows reading`"),
    ("informations", "`information`"),
    ("possibility to", "`can`, or `a way to`"),
    ("how it looks like", "`what it looks like`"),
]
RULES = [
    (
        # The longest piece without alternatives, which is looked for first: this saves most of the time.
        max(re.split(r"\(.*?\)+|\w\?", phrase), key=len),
        re.compile(rf"(?<![\w-])(?:{phrase})(?![\w-])", re.IGNORECASE),
        hint,
    )
    for phrase, hint in BANNED
]
# A comment goes on after its mark, a text before a backslash.
MARKS = re.compile(r"^\s*(?://[/!]?|#+|\*|--)\s|\\$")


def hits(file):
    """Line, phrase, hint and the whole lines of each banned phrase."""
    lines = pathlib.Path(file).read_text(errors="replace").split("\n")
    words = [MARKS.sub("", line).split() for line in lines]
    text = " ".join(" ".join(line) for line in words if line)
    low = text.lower()
    found = [(one, hint) for piece, rule, hint in RULES if piece in low for one in rule.finditer(text)]
    if found:
        line_of = [number for number, line in enumerate(words) for _ in line]
        for one, hint in found:
            first, last = (line_of[text.count(" ", 0, place)] for place in (one.start(), one.end() - 1))
            yield first + 1, one[0], hint, "\n".join(lines[first : last + 1])


def allowances():
    """Number, file, piece of its line and reason of each line of the list."""
    for number, entry in enumerate(pathlib.Path(ALLOWED).read_text().splitlines(), 1):
        if entry.strip() and not entry.startswith("#"):
            file, _, rest = entry.partition(": ")
            piece, _, reason = rest.rpartition(" # ")
            yield number, file, piece.strip(), reason.strip()


failed, used, allowed = False, set(), list(allowances())
files = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout.split("\0")
for file in sorted(filter(KINDS.search, files)):
    if file.startswith(LEFT_OUT) or not pathlib.Path(file).is_file():
        continue
    for line, phrase, hint, whole in sorted(hits(file)):
        reasons = {number for number, place, piece, reason in allowed if place == file and piece and piece in whole and reason}
        used |= reasons
        if not reasons:
            failed = True
            print(f"{file}:{line}: `{phrase}`: write {hint}")
for number, file, piece, reason in allowed:
    if number not in used:
        failed = True
        why = "matches no banned phrase any more" if reason and piece else "is not `FILE: PIECE OF THE LINE # REASON`"
        print(f"{ALLOWED}:{number}: {why}")
if not failed:
    print("check-words.sh: every sentence is free of the banned words")
sys.exit(failed)
END_OF_PYTHON
