import ast
import asyncio
import base64
import functools
import hashlib
import hmac
import inspect
import json
import os
import re
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx
import pytest
from django.test import Client, override_settings

from dwar_client import AsyncDwar, Event, Tokens
from dwar_client.pytest_plugin import DwarServer

BLOCKS = re.findall(r"^```python\n(.*?)^```", (Path(__file__).parents[1] / "README.md").read_text(), re.M | re.S)
SHOWN = Path(__file__).parents[3] / "crates/adapters/dashboard/src/reference/clients.json"
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


def in_test(block: str) -> str:
    """The same for the tokens of a test key."""
    return block.replace('_ID"])', '_ID"], mode="test")')


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
    monkeypatch.setenv("DWAR_URL", service["url"])
    monkeypatch.setenv("DWAR_API_KEY", service["test_key"])
    monkeypatch.setenv("DWAR_PROJECT_ID", service["project_id"])
    monkeypatch.setenv("SESSION_SECRET", "the secret of this backend, 32 characters")
    monkeypatch.setenv("DWAR_WEBHOOK_SECRET", SECRET)
    login, wrong, asynchronous, session, verifier, event, *_ = (
        block.replace("https://otp.example.com", service["url"]) for block in BLOCKS
    )

    names = run(login, {})
    with names["dwar"] as dwar:
        tokens = names["tokens"]
        assert capsys.readouterr().out == tokens["identity_id"] + " is logged in\n"

        names["sent"] = dwar.send(names["phone"])
        monkeypatch.setattr("builtins.input", lambda _: "000000")
        run(wrong, names)
        assert capsys.readouterr().out == "INVALID_OTP 2\n"

        assert run(asynchronous, {"os": os})["sent"]["status"] == "sent"

        redis = Redis()
        run(session, {**names, "redis": redis, "id": "7"})
        assert capsys.readouterr().out == tokens["identity_id"] + "\n"
        assert json.loads(redis["session:7"])["access_token"] == tokens["access_token"]

        run(in_test(verifier), {**names, "access_token": tokens["access_token"]})["verifier"].close()
        assert capsys.readouterr().out == f"{tokens['identity_id']} {tokens['session_id']}\n"

    body = b'{"type":"otp.sent","timestamp":"2026-11-21T08:57:07.416Z","data":{"mode":"live"}}'
    names = run(event, {"os": os, "request": signed(body)})
    assert names["event"] == Event("msg_1", "otp.sent", "2026-11-21T08:57:07.416Z", {"mode": "live"})


def test_the_logins_and_the_test_of_the_readme_run(dwar_server: DwarServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DWAR_API_KEY", dwar_server.test_key)
    monkeypatch.setenv("DWAR_PROJECT_ID", dwar_server.project_id)
    monkeypatch.setenv("SESSION_SECRET", "the secret of this backend, 32 characters")
    fastapi, django, test = (
        in_test(block.replace("https://otp.example.com", dwar_server.url)) for block in BLOCKS[-3:]
    )
    http_client = httpx.Client()
    monkeypatch.setattr(
        httpx, "Client", lambda **_: http_client
    )  # The login has no end; its connections must have one.
    urls = ModuleType("urls")
    run(django, vars(urls))
    with override_settings(ROOT_URLCONF=urls), http_client:
        run(test, {})["test_me_is_for_those_who_are_logged_in"](dwar_server, Client())
    assert asyncio.run(me(run(fastapi, {}), dwar_server.log_in("9876543210"))) == [200, 401]


class Signatures:
    """Takes the calls that the client takes, and makes none."""

    def __getattr__(self, name: str) -> Any:
        return functools.partial(inspect.signature(getattr(AsyncDwar, name)).bind, self)


def test_the_pages_show_the_calls_of_this_client() -> None:
    names = dict.fromkeys(["phone", "code", "otp_id", "access_token", "refresh_token", "id"], "")
    for call in json.loads(SHOWN.read_text()).values():
        eval(call["Python"], {"dwar": Signatures(), **names})


async def me(names: dict[str, Any], tokens: Tokens) -> list[int]:
    """What FastAPI answers who is logged in, and who is not."""
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    transport = httpx.ASGITransport(names["app"])
    async with names["login"]._calls, names["login"]._verifier:
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as page:
            return [(await page.get("/me", headers=headers)).status_code for headers in (bearer, None)]
