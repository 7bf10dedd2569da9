"""Puts beside the book what its pages link to outside docs/, and fails if a link or anchor leads nowhere.

usage: complete.py FOLDER    the folder of the book, which is to be called docs
"""

import os
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

ROOT = Path(__file__).resolve().parents[2]


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def bring(target, beside):
    """Copies a file or folder of the repository to the same place beside the book."""
    source = ROOT / target.relative_to(beside)
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def main(book):
    pages = {path: Page(path.read_text()) for path in book.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        # The page of a wrong address knows no address of its own, and the one for printing repeats the others.
        if path.name in ("404.html", "print.html"):
            continue
        for link in page.links:
            address, anchor = urldefrag(link)
            if urlsplit(link).scheme:
                continue
            target = Path(os.path.normpath(path.parent / unquote(address))) if address else path
            if not target.exists() and not target.is_relative_to(book):
                bring(target, book.parent)
            known = pages.get(target)
            if not target.exists() or anchor and known and unquote(anchor) not in known.ids:
                broken.append(f"{path.relative_to(book)}: {link}")
    print("\n".join(broken) or f"complete.py: every link of {len(pages)} pages leads somewhere")
    sys.exit(1 if broken else 0)


main(Path(sys.argv[1]).resolve())
