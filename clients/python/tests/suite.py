"""Plays the suite with asyncio, then without: `suite.py [OPTION OF run.mjs…]`. It ends after the first of them that has
a failed case, with the exit status 1."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
RUN = HERE.parent.parent / "suite" / "run.mjs"


def play(style: str, *options: str) -> int:
    return subprocess.run(["node", RUN, *options, sys.executable, HERE / "adapter.py", style]).returncode


if __name__ == "__main__":
    sys.exit(play("asyncio", *sys.argv[1:]) or play("blocking", *sys.argv[1:]))
