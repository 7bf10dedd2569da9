"""Plays the suite of the clients with asyncio and without, and that of the login contract against the examples. It ends
after the first of these plays that has a failed case, with the exit status 1."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
CLIENTS = HERE.parents[1]
ADAPTER = HERE / "adapter.py"

PLAYS: dict[str, tuple[str | Path, ...]] = {
    "asyncio": ("run.mjs", sys.executable, ADAPTER, "asyncio"),
    "fastapi": ("login.mjs", sys.executable, CLIENTS / "examples" / "fastapi" / "app.py"),
    "blocking": ("run.mjs", sys.executable, ADAPTER, "blocking"),
    "django": ("login.mjs", sys.executable, CLIENTS / "examples" / "django" / "app.py"),
    "django asynchronous": ("login.mjs", sys.executable, HERE / "django_asgi.py"),
}


def command(name: str) -> list[str | Path]:
    program, *words = PLAYS[name]
    return ["node", CLIENTS / "suite" / program, *words]


if __name__ == "__main__":
    sys.exit(any(subprocess.run(command(name)).returncode for name in PLAYS))
