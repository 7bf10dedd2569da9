"""Tests of an application with a Dwar service of their own: use the fixture `dwar_server`."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ._blocking import Dwar
from ._types import Tokens

_START_SECONDS = 30
_BANNER = re.compile(r"ready at (?P<url>http:\S+).*\((?P<project>[0-9a-f-]{36})\).*Test key +(?P<key>\S+)", re.S)


@dataclass(frozen=True)
class DwarServer:
    """A service with one project that keeps all data in memory and sends nothing."""

    url: str
    project_id: str
    test_key: str = field(repr=False)
    _dwar: Dwar = field(repr=False)

    def last_code(self, phone: str) -> str:
        """The last code that was sent to this phone. Raises `LookupError` if it got none."""
        messages = self._dwar.sandbox_messages(phone)["messages"]
        if not messages:
            raise LookupError("this phone got no code")
        return messages[0]["code"]

    def log_in(self, phone: str) -> Tokens:
        """A new session of this phone, by send and verify with the code that was sent to it."""
        otp_id = self._dwar.send(phone)["otp_id"]
        return self._dwar.verify(phone, self.last_code(phone), otp_id=otp_id)


@pytest.fixture(scope="session")
def dwar_server() -> Iterator[DwarServer]:
    """Starts one Dwar service for the test run: the program `DWAR_BIN`, otherwise `dwar` on the path. Its access
    tokens have the mode `test`. A phone gets 20 codes in ten minutes; requests are not limited."""
    program = os.environ.get("DWAR_BIN") or shutil.which("dwar")
    if not program:
        pytest.fail("no Dwar service to start: set DWAR_BIN, or have dwar on the path", pytrace=False)
    with tempfile.TemporaryDirectory(prefix="dwar-pytest-") as folder:
        log = Path(folder, "log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [program, "serve"], cwd=folder, env=_settings(), stdout=output, stderr=subprocess.STDOUT
            )
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            # The signal would end Python without clean-up, and the service would keep running.
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            url, project_id, test_key = _announced(process, log)
            with Dwar(url, test_key) as dwar:
                yield DwarServer(url, project_id, test_key, dwar)
        finally:
            process.terminate()
            process.wait()


def _settings() -> dict[str, str]:
    """Only the variables that every program needs, so that no settings of another service are used."""
    needed = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ}
    own = {
        "DATABASE__URL": "memory:",
        "HTTP__ADDRESS": "127.0.0.1:0",
        "DASHBOARD__ADDRESS": "",
        "METRICS__ADDRESS": "off",
        "LIMITS__TEST__GENERAL_PER_MINUTE": "100000",
        "LIMITS__TEST__VALIDATE_PER_MINUTE": "100000",
    }
    return needed | {f"DWAR__{name}": value for name, value in own.items()}


def _announced(process: subprocess.Popen[bytes], log: Path) -> tuple[str, str, str]:
    """The address, project and test key, which the service prints when it is ready."""
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        banner = _BANNER.search(log.read_text())
        if banner:
            return banner["url"], banner["project"], banner["key"]
        time.sleep(0.02)
    pytest.fail(f"the Dwar service did not start:\n{log.read_text()}", pytrace=False)
