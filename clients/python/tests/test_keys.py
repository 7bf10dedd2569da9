"""Fetches of the key set that fail, are interrupted, or run in another event loop or process."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from dwar_client import AsyncTokenVerifier, Dwar, DwarError, TokenVerifier
from dwar_client.login import Login, LoginRequest
from test_client import KEY, SECRET, URL
from test_processes import forks, in_child

PRIVATE = {kid: ec.generate_private_key(ec.SECP256R1()) for kid in "ab"}
FAULTS: dict[str, httpx.Response | httpx.ConnectError] = {
    "UNKNOWN_ERROR": httpx.Response(502, headers={"Retry-After": "0"}),
    "NETWORK_ERROR": httpx.ConnectError("no service"),
}


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def number(value: int) -> str:
    return base64url(value.to_bytes(32, "big"))


def key_set(kids: str) -> httpx.Response:
    keys = []
    for kid in kids:
        public = PRIVATE[kid].public_key().public_numbers()
        point = {"x": number(public.x), "y": number(public.y)}
        keys.append({"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": kid, **point})
    return httpx.Response(200, json={"keys": keys})


def token(kid: str) -> str:
    """Valid for hours, so that only the age of the keys matters."""
    claims = {"iss": "dwar", "aud": "p1", "client_id": "p1", "mode": "live", "iat": time.time(), "sub": "i1"}
    claims |= {"exp": time.time() + 36_000, "sid": "s1", "jti": "j1"}
    header = {"alg": "ES256", "typ": "at+jwt", "kid": kid}
    signed = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
    r, s = decode_dss_signature(PRIVATE[kid].sign(signed.encode(), ec.ECDSA(SHA256())))
    return f"{signed}.{base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


class Service:
    """Answers each fetch with `keys`, at a time that `clock` moves on."""

    def __init__(self, kids: str = "a") -> None:
        self.keys: httpx.Response | httpx.ConnectError = key_set(kids)
        self.asked: list[str] = []
        self.clock = 0.0

    def now(self) -> float:
        return time.time() + self.clock

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        if isinstance(self.keys, httpx.ConnectError):
            raise self.keys
        return self.keys

    def client(self, **_: Any) -> httpx.Client:
        return httpx.Client(transport=httpx.MockTransport(self))

    def verifier(self) -> TokenVerifier:
        return TokenVerifier(URL, "p1", http_client=self.client, now=self.now)


def refused(use: Callable[[str], Any], token: str) -> str:
    with pytest.raises(DwarError) as caught:
        use(token)
    return caught.value.code


@pytest.mark.parametrize("code", FAULTS)
def test_whether_an_unknown_kid_is_good_cannot_be_told_until_a_fetch_works(code: str) -> None:
    service = Service()
    verifier = service.verifier()
    first, second = token("a"), token("b")
    assert verifier.verify(first)["sub"] == "i1"
    service.keys = FAULTS[code]
    assert refused(verifier.verify, second) == code
    asked = len(service.asked)
    service.clock = 50
    with pytest.raises(DwarError) as again:
        verifier.verify(second)
    assert again.value.code == code
    assert isinstance(again.value.__cause__, httpx.ConnectError) is (code == "NETWORK_ERROR")
    assert verifier.verify(first)["sub"] == "i1"
    assert len(service.asked) == asked
    service.clock, service.keys = 70, key_set("ab")
    assert verifier.verify(second)["sub"] == "i1"


def test_a_fetch_that_works_and_lacks_the_kid_refuses_the_token() -> None:
    service = Service()
    verifier = service.verifier()
    verifier.verify(token("a"))
    service.keys = FAULTS["UNKNOWN_ERROR"]
    assert refused(verifier.verify, token("b")) == "UNKNOWN_ERROR"
    service.clock, service.keys = 70, key_set("a")
    assert [refused(verifier.verify, token("b")) for _ in range(2)] == ["INVALID_ACCESS_TOKEN"] * 2


def test_an_error_that_is_told_again_does_not_grow() -> None:
    service = Service()
    verifier = service.verifier()
    verifier.verify(token("a"))
    service.keys = FAULTS["UNKNOWN_ERROR"]
    errors = []
    for _ in range(3):
        with pytest.raises(DwarError) as caught:
            verifier.verify(token("b"))
        errors.append(caught)
    assert len(errors[1].traceback) == len(errors[2].traceback)
    assert errors[1].value is not errors[2].value


def test_a_session_is_not_renewed_while_it_cannot_be_told_who_asks() -> None:
    service = Service()
    verifier = service.verifier()
    login = Login(Dwar(URL, KEY, http_client=service.client), verifier, secret=SECRET, origins=["https://shop.example"])
    verifier.verify(token("a"))
    service.keys = FAULTS["UNKNOWN_ERROR"]
    cookies = f"__Host-dwar_access={token('b')}; __Host-dwar_refresh=r1"
    headers: list[tuple[str, str]] = []
    for _ in range(2):
        with pytest.raises(DwarError, match="UNKNOWN_ERROR"):
            login.authenticate(LoginRequest("GET", "/me", {"cookie": cookies}), headers)
    assert headers == []
    assert set(service.asked) == {"/.well-known/jwks.json"}


def test_a_fetch_that_was_interrupted_is_no_answer() -> None:
    service = Service()
    hangs = False

    async def answer(request: httpx.Request) -> httpx.Response:
        if hangs:
            await asyncio.sleep(60)
        return service(request)

    verifier = AsyncTokenVerifier(
        URL, "p1", http_client=lambda **_: httpx.AsyncClient(transport=httpx.MockTransport(answer))
    )
    asyncio.run(verifier.verify(token("a")))
    service.keys, hangs = key_set("ab"), True
    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(asyncio.wait_for(verifier.verify(token("b")), 0.1))
    hangs = False
    assert asyncio.run(verifier.verify(token("b")))["sub"] == "i1"


def test_a_slow_fetch_of_another_event_loop_takes_no_patience_away() -> None:
    service, slow, began = Service(), threading.Event(), threading.Event()

    async def answer(request: httpx.Request) -> httpx.Response:
        if threading.current_thread() is thread:
            began.set()
            await asyncio.to_thread(slow.wait, 10)
        else:
            await asyncio.sleep(0.1)
        return service(request)

    async def busy() -> None:
        """An event loop that goes on after the call."""
        await verifier.verify(withdrawn)
        await asyncio.to_thread(slow.wait, 10)

    verifier = AsyncTokenVerifier(
        URL, "p1", http_client=lambda **_: httpx.AsyncClient(transport=httpx.MockTransport(answer)), now=service.now
    )
    withdrawn = token("a")
    thread = threading.Thread(target=lambda: asyncio.run(busy()))
    asyncio.run(verifier.verify(withdrawn))
    service.clock, service.keys = 310, key_set("b")
    thread.start()
    assert began.wait(5)
    time.sleep(0.6)  # More than the patience with a slow fetch.
    try:
        with pytest.raises(DwarError, match="INVALID_ACCESS_TOKEN"):
            asyncio.run(verifier.verify(withdrawn))
    finally:
        slow.set()
        thread.join()


@forks
def test_a_fork_has_the_whole_patience_whatever_its_parent_has_begun() -> None:
    service, slow, began, parent = Service(), threading.Event(), threading.Event(), os.getpid()

    def answer(request: httpx.Request) -> httpx.Response:
        if service.clock and os.getpid() == parent:
            began.set()
            slow.wait(10)
        return service(request)

    def child() -> None:
        service.keys = key_set("b")
        assert refused(verifier.verify, withdrawn) == "INVALID_ACCESS_TOKEN"

    def make(**_: Any) -> httpx.Client:
        return httpx.Client(transport=httpx.MockTransport(answer))

    verifier = TokenVerifier(URL, "p1", http_client=make, now=service.now)
    withdrawn = token("a")
    verifier.verify(withdrawn)
    service.clock = 310
    thread = threading.Thread(target=verifier.verify, args=[withdrawn])
    thread.start()
    assert began.wait(5)
    time.sleep(0.6)
    try:
        assert in_child(child) == 0
    finally:
        slow.set()
        thread.join()
