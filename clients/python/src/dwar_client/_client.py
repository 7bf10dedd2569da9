from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from ._error import DwarError
from ._text import visible_ascii
from ._transport import Operation, Transport
from ._types import (
    CheckedCode,
    CodeStatus,
    DeletedIdentity,
    EndedSession,
    Identity,
    LiveSession,
    PublicKeys,
    SandboxMessages,
    SentCode,
    Tokens,
    Visitor,
)
from ._waiting import AsyncHttp, AsyncWaiting, Waiting

Answered = TypeVar("Answered")
Self = TypeVar("Self", bound="AsyncClosing")

KEYS = Operation(PublicKeys, "keys", "GET", "/.well-known/jwks.json", repeatable=True)
"""The only operation that needs no API key."""


class Calls:
    """The operations of the service."""

    def __init__(self, waiting: Waiting, url: str, api_key: str, timeout: float) -> None:
        self._new_flight = waiting.flight
        self._key = {"X-Api-Key": visible_ascii("api_key", api_key)}
        self._transport = Transport(waiting, url, timeout)

    async def send(
        self,
        phone: str,
        *,
        last_line: str | None = None,
        visitor: Visitor | None = None,
        device: str | None = None,
        idempotency_key: str | None = None,
    ) -> SentCode:
        """Sends a new code, which replaces the phone's current one.

        `last_line` is that of an SMS, a domain or an app hash that the project allows; by default the project's own.
        `device` is from an earlier answer of `verify` to the same browser or app.
        """
        given = {"last_line": last_line, "visitor": visitor, "device": device}
        body = {"phone": _phone(phone), **{name: value for name, value in given.items() if value is not None}}
        return await self._write(SentCode, "otp_id", "/v1/otp/send", body, idempotency_key)

    async def relay(self, phone: str, code: str, expires_in: int, *, idempotency_key: str | None = None) -> SentCode:
        """Sends a code that you make and verify yourself: 4 to 10 digits, valid for 60 to 3600 seconds."""
        body = {"phone": _phone(phone), "code": code, "expires_in": expires_in}
        return await self._write(SentCode, "otp_id", "/v1/otp/relay", body, idempotency_key)

    async def status(self, otp_id: str) -> CodeStatus:
        """The status of a send so far."""
        return await self._call(CodeStatus, "otp_id", "GET", f"/v1/otp/status/{_segment(otp_id)}")

    async def verify(self, phone: str, code: str, *, otp_id: str | None = None, device: str | None = None) -> Tokens:
        """Verifies the code that the person entered. The right code is accepted once and starts a session.

        `otp_id` is that of the answer of `send`, and only the code of that request is accepted. `device` is from an
        earlier answer to the same browser or app.
        """
        return await self._call(Tokens, "access_token", "POST", "/v1/otp/verify", _guess(phone, code, otp_id, device))

    async def check(
        self, phone: str, code: str, *, otp_id: str | None = None, device: str | None = None
    ) -> CheckedCode:
        """Verifies the code that the person entered, without starting a session. The right code is accepted once."""
        return await self._call(CheckedCode, "verified", "POST", "/v1/otp/check", _guess(phone, code, otp_id, device))

    async def validate(self, access_token: str) -> LiveSession:
        """Asks the service whether an access token is valid now. Raises if it is not."""
        body = {"access_token": access_token}
        return await self._call(LiveSession, "valid", "POST", "/v1/session/validate", body, repeatable=True)

    async def refresh(self, refresh_token: str, *, idempotency_key: str | None = None) -> Tokens:
        """Exchanges a refresh token for a new pair; both old tokens stop working at once.

        A session does this for you, once for all calls that wait.
        """
        body = {"refresh_token": refresh_token}
        return await self._write(Tokens, "access_token", "/v1/session/refresh", body, idempotency_key)

    async def logout(self, access_token: str) -> EndedSession:
        """Ends the session of an access token: both of its tokens stop working at once."""
        return await self._call(EndedSession, "revoked", "POST", "/v1/session/logout", {"access_token": access_token})

    async def identity(self, id: str) -> Identity:
        """A person by id."""
        return await self._call(Identity, "id", "GET", f"/v1/identity/{_segment(id)}")

    async def identity_by_phone(self, phone: str) -> Identity:
        """A person by phone number."""
        return await self._call(Identity, "id", "GET", f"/v1/identity?phone={quote(_phone(phone))}")

    async def delete_identity(self, id: str) -> DeletedIdentity:
        """Erases a person and their sessions."""
        return await self._call(DeletedIdentity, "deleted", "DELETE", f"/v1/identity/{_segment(id)}")

    async def sandbox_messages(self, phone: str) -> SandboxMessages:
        """With a test key: the messages to this phone that were not sent, newest first, at most 50."""
        return await self._call(
            SandboxMessages, "messages", "GET", f"/v1/sandbox/messages?phone={quote(_phone(phone))}"
        )

    async def keys(self) -> PublicKeys:
        """The public keys of access tokens; a verifier caches them."""
        return await self._transport.send(KEYS)

    async def _write(
        self, answer: type[Answered], answers: str, path: str, body: Mapping[str, Any], key: str | None
    ) -> Answered:
        """Repeatable, since every try has the same key."""
        key = str(uuid.uuid4()) if key is None else visible_ascii("idempotency_key", key)
        return await self._call(answer, answers, "POST", path, body, {"Idempotency-Key": key}, repeatable=True)

    async def _call(
        self,
        answer: type[Answered],
        answers: str,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] = {},
        *,
        repeatable: bool = False,
    ) -> Answered:
        headers = {**self._key, **headers}
        repeatable = repeatable or method == "GET"
        return await self._transport.send(Operation(answer, answers, method, path, headers, body, repeatable))


class AsyncClosing:
    _waiting: AsyncWaiting

    async def aclose(self) -> None:
        """Closes the connections of this event loop."""
        await self._waiting.close()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class AsyncDwar(Calls, AsyncClosing):
    """Calls a Dwar service, for asyncio. Every method raises `DwarError`; several event loops may share one object, and
    so may processes that are forked after it was made.

    Operations that are safe to repeat are sent up to three times within the time limit, after `Retry-After` or a
    quarter and half a second: reads, `validate`, and `send`, `relay` and `refresh` with the same `Idempotency-Key`.
    `verify`, `check`, `logout` and `delete_identity` are sent once, since a lost answer may have taken effect.

    `idempotency_key` is 1 to 255 visible ASCII characters, the same for every repetition of one send, relay or
    refresh. Without it, each call makes its own key for its own repetitions.
    """

    def __init__(self, url: str, api_key: str, *, timeout: float = 30.0, http_client: AsyncHttp = None) -> None:
        """`url` is the address of the service, such as `https://otp.example.com`; plain http only on loopback.
        `api_key` is `svc_live_…` or `svc_test_…`. `timeout` is the longest that one call may take in seconds,
        repetitions and waits included. `http_client` makes the `httpx.AsyncClient` of each process and event loop, for
        a proxy or certificates of your own: `functools.partial(httpx.AsyncClient, verify=context)`. It gets
        `trust_env`, which is false for a service on loopback."""
        self._waiting = AsyncWaiting(http_client)
        super().__init__(self._waiting, url, api_key, timeout)


def _guess(phone: str, code: str, otp_id: str | None, device: str | None) -> dict[str, str]:
    body = {"phone": _phone(phone), "code": code}
    given = {"otp_id": otp_id, "device": device}
    return {**body, **{name: value for name, value in given.items() if value is not None}}


def _segment(id: str) -> str:
    """Keeps any text, also `..`, in one segment of the path."""
    return quote(id, safe="").replace(".", "%2E")


def _phone(text: str) -> str:
    """Refuses text that cannot be a phone number before anything is sent. Only the service knows which numbers are
    valid."""
    if not re.fullmatch(r"\+?[0-9]+", text):
        raise DwarError("INVALID_PHONE", "a phone number is digits alone, with or without +91")
    return text
