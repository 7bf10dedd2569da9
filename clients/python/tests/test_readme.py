import ast
import asyncio
import base64
import hashlib
import hmac
import json
import os
import re
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dwar_client import Dwar, Event

BLOCKS = re.findall(r"^```python\n(.*?)^```", (Path(__file__).parents[1] / "README.md").read_text(), re.M | re.S)
SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


class Redis(dict[str, str]):
    def set(self, name: str, value: str) -> bool:
        self[name] = value
        return True


def run(block: str, names: dict[str, Any]) -> dict[str, Any]:
    waiting = eval(compile(block, "README.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if waiting:
        asyncio.run(waiting)
    return names


def signed(body: bytes) -> SimpleNamespace:
    timestamp = str(int(time.time()))
    mac = hmac.new(base64.b64decode(SECRET[6:]), f"msg_1.{timestamp}.".encode() + body, hashlib.sha256)
    headers = {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": timestamp,
        "Webhook-Signature": "v1," + base64.b64encode(mac.digest()).decode(),
    }
    return SimpleNamespace(headers=headers, body=body)


def test_the_programs_of_the_readme_run(
    service: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DWAR_API_KEY", service["test_key"])
    monkeypatch.setenv("DWAR_PROJECT_ID", service["project_id"])
    monkeypatch.setenv("SESSION_SECRET", "the secret of this backend, 32 characters")
    monkeypatch.setenv("DWAR_WEBHOOK_SECRET", SECRET)
    login, asynchronous, session, verifier, event = (
        block.replace("https://otp.example.com", service["url"]) for block in BLOCKS
    )
    assert len(login.splitlines()) <= 10

    with Dwar(service["url"], service["test_key"]) as dwar:
        code = "000000"
        monkeypatch.setattr("builtins.input", lambda _: code)
        run(login, {})["dwar"].close()
        assert capsys.readouterr().out == "INVALID_OTP 2\n"

        monkeypatch.setattr("builtins.input", lambda _: dwar.sandbox_messages("9876543210")["messages"][0]["code"])
        names = run(login, {})
        tokens = names["tokens"]
        assert capsys.readouterr().out == tokens["identity_id"] + "\n"

        assert run(asynchronous, {"os": os})["sent"]["status"] == "sent"

        redis = Redis()
        run(session, {**names, "redis": redis, "id": "7"})
        assert capsys.readouterr().out == tokens["identity_id"] + "\n"
        assert json.loads(redis["session:7"])["access_token"] == tokens["access_token"]

        in_test = verifier.replace('_ID"])', '_ID"], mode="test")')
        run(in_test, {**names, "access_token": tokens["access_token"]})["verifier"].close()
        assert capsys.readouterr().out == f"{tokens['identity_id']} {tokens['session_id']}\n"
        names["dwar"].close()

    body = b'{"type":"otp.sent","timestamp":"2026-11-21T08:57:07.416Z","data":{"mode":"live"}}'
    names = run(event, {"os": os, "request": signed(body)})
    assert names["event"] == Event("msg_1", "otp.sent", "2026-11-21T08:57:07.416Z", {"mode": "live"})
