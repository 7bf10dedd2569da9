from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

MAX_BODY = 16 * 1024
"""In bytes. An adapter may stop reading one byte after this."""


@dataclass(frozen=True, repr=False)
class LoginRequest:
    """A request to the backend, apart from any framework."""

    method: str
    path: str
    """Below the prefix where the login is mounted: `/send`."""
    headers: Mapping[str, str]
    """By lowercase name. Several `Cookie` fields are joined by `; `."""
    body: bytes = b""
    address: str = ""
    """The IP address of the peer, empty if it is not known."""


@dataclass(frozen=True, repr=False)
class LoginAnswer:
    """What the backend answers. `Set-Cookie` is there once for each cookie."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Refusal(Exception):
    """Why a request is refused. `code` is stable, `message` a sentence for people."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        retry_after: int | None = None,
        request_id: str | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(status, code, message)
        self.status = status
        self.body = {"error": message, "code": code} | ({"request_id": request_id} if request_id else {})
        self.headers = headers if retry_after is None else (*headers, ("Retry-After", str(retry_after)))

    def answer(self) -> LoginAnswer:
        return answer(self.status, self.body, *self.headers)


# The cache of Django before 5.2 respects only `private`, and would otherwise send the cookies to others.
NO_STORE = ("Cache-Control", "private, no-store")


def answer(status: int, body: Mapping[str, Any] | None, *headers: tuple[str, str]) -> LoginAnswer:
    headers = (NO_STORE, *headers)
    if body is None:
        return LoginAnswer(status, headers, b"")
    return LoginAnswer(status, (*headers, ("Content-Type", "application/json")), json.dumps(body).encode())


def challenge(can_renew: bool) -> str:
    """The `WWW-Authenticate` of a 401, RFC 6750 section 3.1: whether a new access token may help."""
    return 'Bearer error="invalid_token"' if can_renew else "Bearer"


@dataclass(frozen=True)
class Cookie:
    name: str
    field: str
    """Field in which an app sends the value of this cookie."""
    same_site: Literal["Strict", "Lax"]

    def set(self, value: str, seconds: int) -> tuple[str, str]:
        attributes = f"Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite={self.same_site}"
        return "Set-Cookie", f"{self.name}={value}; {attributes}"

    def clear(self) -> tuple[str, str]:
        return self.set("", 0)

    def of(self, request: LoginRequest) -> str:
        for pair in request.headers.get("cookie", "").split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self.name:
                return ascii_or_empty(value)
        return ""


# The token cookies are Lax, so that a person who follows a link into the site is logged in. Only the form needs the
# others.
OTP = Cookie("__Host-dwar_otp", "otp_id", "Strict")
ACCESS = Cookie("__Host-dwar_access", "access_token", "Lax")
REFRESH = Cookie("__Host-dwar_refresh", "refresh_token", "Lax")
DEVICE = Cookie("__Host-dwar_device", "device", "Strict")
DEVICE_SECONDS = 180 * 86_400


def device_or_none(value: object) -> str | None:
    """A text of bounded size that a cookie holds as it is."""
    return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9._~+/=-]{1,512}", value) else None


def ascii_or_empty(value: object) -> str:
    """All characters of phones, codes, ids and tokens."""
    return value if isinstance(value, str) and value.isascii() else ""
