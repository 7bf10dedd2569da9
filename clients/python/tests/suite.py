"""Plays the suite with asyncio and without: `suite.py [OPTION OF run.mjs…]`. The exit status is 1 if a case failed."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
RUN = HERE.parent.parent / "suite" / "run.mjs"


def play(style: str, *options: str) -> int:
    return subprocess.run(["node", RUN, *options, sys.executable, HERE / "adapter.py", style]).returncode


if __name__ == "__main__":
    sys.exit(max([play(style, *sys.argv[1:]) for style in ("asyncio", "blocking")]))
