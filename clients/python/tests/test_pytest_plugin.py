import subprocess
import sys
import time

import httpx
import pytest

from dwar_client import TokenVerifier
from dwar_client.pytest_plugin import DwarServer

pytest_plugins = ["pytester"]

USES_NOTHING = "def test_nothing(): pass"
USES_THE_SERVER = "def test_login(dwar_server): dwar_server.log_in('9876543210')"


def test_a_phone_logs_in(dwar_server: DwarServer) -> None:
    first, second = dwar_server.log_in("9876543210"), dwar_server.log_in("9876543210")
    assert first["identity_id"] == second["identity_id"]
    assert first["session_id"] != second["session_id"]
    with TokenVerifier(dwar_server.url, dwar_server.project_id, mode="test") as verifier:
        assert verifier.verify(second["access_token"])["sub"] == second["identity_id"]


def test_a_phone_that_got_no_code_has_none(dwar_server: DwarServer) -> None:
    with pytest.raises(LookupError):
        dwar_server.last_code("9876543219")


def test_requests_are_not_limited(dwar_server: DwarServer) -> None:
    for last in range(60):
        dwar_server.log_in(f"98765431{last:02}")


def test_its_key_is_not_printed(dwar_server: DwarServer) -> None:
    assert dwar_server.test_key.startswith("svc_test_")
    assert "svc_" not in repr(dwar_server)


def test_nothing_is_started_for_tests_that_do_not_ask(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DWAR_BIN", "/bin/false")
    pytester.makepyfile(USES_NOTHING)
    pytester.runpytest().assert_outcomes(passed=1)


def test_what_hinders_the_start_is_said(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(USES_THE_SERVER)
    monkeypatch.setenv("DWAR_BIN", "/bin/false")
    pytester.runpytest().stdout.fnmatch_lines(["the Dwar service did not start:*"])
    monkeypatch.setenv("DWAR_BIN", "")
    monkeypatch.setenv("PATH", "")
    pytester.runpytest().stdout.fnmatch_lines(["no Dwar service to start: set DWAR_BIN*"])


def test_the_service_ends_with_a_run_that_is_told_to_end(pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile(
        """
        import time

        def test_waits(dwar_server):
            print(dwar_server.url, flush=True)
            time.sleep(60)
        """
    )
    command = [sys.executable, "-m", "pytest", "-qs", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tests:
        assert tests.stdout
        url = next(line for line in tests.stdout if line.startswith("http")).strip()
        assert httpx.get(f"{url}/healthz").status_code == 200
        tests.terminate()
        assert tests.wait(10) == pytest.ExitCode.INTERRUPTED
    until = time.monotonic() + 5
    with pytest.raises(httpx.ConnectError):
        while time.monotonic() < until:
            httpx.get(f"{url}/healthz")
            time.sleep(0.05)
