from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from .._client import Calls
from .._error import DwarError
from .._session import RefreshKey
from .._text import json_object
from .._types import SentCode, Tokens, Visitor
from .._verifier import AccessClaims, Verification
from .._waiting import either
from ._http import (
    ACCESS,
    DEVICE,
    DEVICE_SECONDS,
    MAX_BODY,
    NO_STORE,
    OTP,
    REFRESH,
    Cookie,
    LoginAnswer,
    LoginRequest,
    Refusal,
    answer,
    ascii_or_empty,
    device_or_none,
)
from ._origins import is_loopback, refuse_wrong_origins
from ._sends import SendLimit, address_of, network_of

_MENDABLE = {
    "INVALID_PHONE": 422,
    "INVALID_OTP_CODE": 422,
    "INVALID_OTP": 400,
    "OTP_NOT_FOUND": 400,
    "OTP_RATE_LIMITED": 429,
    "PROOF_REQUIRED": 403,
    "VERIFY_RATE_LIMITED": 429,
    "SESSION_EXPIRED": 401,
}
"""Failures that the person can correct or has to know, with their status. They are passed on."""

_SESSION_OVER = ("INVALID_ACCESS_TOKEN", "SESSION_EXPIRED")
_PAGE_HEADERS = {"origin", "sec-fetch-site"}


@dataclass(frozen=True, repr=False)
class Asked:
    request: LoginRequest
    body: Mapping[str, Any]
    by_page: bool

    def text(self, name: str) -> str:
        return ascii_or_empty(self.body.get(name))

    def credential(self, cookie: Cookie) -> str:
        """The cookie of a page, or the field in the body of an app."""
        return cookie.of(self.request) if self.by_page else self.text(cookie.field)

    def device(self) -> str | None:
        return device_or_none(self.credential(DEVICE))

    def wants_tokens(self) -> bool:
        return self.body.get("tokens") == "body"


class AsyncLogin:
    """The endpoints of a backend that its login form and its app call: send, verify, refresh and log out.

    `answer` and `authenticate` are what a framework needs: `dwar_client.fastapi` is the adapter for FastAPI and
    Starlette. Keep one for the life of the process: it counts the sends per address.
    """

    def __init__(
        self,
        dwar: Calls,
        verifier: Verification,
        *,
        secret: str,
        origins: Collection[str],
        client_address: Callable[[LoginRequest], str | None] | None = None,
        sends_per_address: int = 30,
        admit: Callable[[LoginRequest, Mapping[str, Any]], Refusal | None | Awaitable[Refusal | None]] | None = None,
        prove: Callable[[LoginRequest, str], bool | Awaitable[bool]] | None = None,
        last_line: str | None = None,
        on_error: Callable[[DwarError], object] | None = None,
    ) -> None:
        """`secret` is one of your backend, 32 characters or more, the same in all its processes: two tabs that refresh
        at once get the same pair. `origins` are exactly those of your own pages: `https://shop.example`, or
        `http://localhost:3000` on your own machine.

        `client_address` returns the IP address of the client, or nothing; by default the address of the peer. Behind a
        proxy the peer is the proxy, so that all people would share one limit: take what your own proxy writes, the last
        entry of `X-Forwarded-For`, never the first, which any client can forge. An address gets `sends_per_address`
        codes in ten minutes; without an address nothing is counted, and `on_error` is told once.

        `admit` is asked before a code is sent, with the request and its JSON body, and refuses by returning a
        `Refusal`, such as one with 403 `CAPTCHA_REQUIRED`. `prove` is asked whether the proof that a page or an app
        sent with a send is good, such as the answer to a captcha: ask its vendor. Only `True` makes the visitor
        trusted. Each send names `last_line`, if it is given. `on_error` gets the error behind an answer 503
        `LOGIN_UNAVAILABLE`."""
        refuse_wrong_origins(origins)
        self._calls = dwar
        self._verifier = verifier
        self._key = RefreshKey(secret)
        self._origins = frozenset(origins)
        self._client_address = client_address or (lambda request: request.address)
        self._admit = either(admit) if admit else None
        self._prove = either(prove) if prove else None
        self._last_line = last_line
        self._on_error = on_error
        self._sends = SendLimit(sends_per_address)
        self._is_told_of_address = False
        self._steps = {"/send": self._send, "/verify": self._verify, "/refresh": self._refresh, "/logout": self._logout}

    async def answer(self, request: LoginRequest) -> LoginAnswer:
        """Answers every request below the prefix where the login is mounted."""
        try:
            return await self._answer(request)
        except Refusal as refusal:
            return refusal.answer()
        except DwarError as error:
            return self._refusal(error).answer()

    async def authenticate(
        self, request: LoginRequest, headers: list[tuple[str, str]] | None = None
    ) -> AccessClaims | None:
        """The claims of a valid access token, from `Authorization: Bearer` or else from the cookie; or nothing.

        The cookie is ignored if a page of another site may change something with the request. With a list of
        `headers`, it renews a session whose access token has expired, and appends the headers of the answer to the
        list; send them also with an error. Raises `DwarError` if this cannot be decided: the key of the token cannot
        be fetched, or the service does not answer a renewal. `unavailable` makes the answer for that error.
        """
        bearer = _bearer(request)
        claims = await self._verified(self._counting(ACCESS, request) if bearer is None else bearer)
        if claims is not None or headers is None or not self.can_renew(request):
            return claims
        try:
            tokens = await self._renewed(REFRESH.of(request))
        except DwarError as error:
            if error.code != "SESSION_EXPIRED":
                raise
            headers += [NO_STORE, ACCESS.clear(), REFRESH.clear()]
            return None
        headers += [NO_STORE, *_token_cookies(tokens)]
        return await self._verified(tokens["access_token"])

    def can_renew(self, request: LoginRequest) -> bool:
        """Whether a renewal may help after `authenticate` without headers returned nothing."""
        return _bearer(request) is None and self._counting(REFRESH, request) != ""

    def unavailable(self, error: DwarError) -> Refusal:
        """503 `LOGIN_UNAVAILABLE`, for an error of `authenticate`. `on_error` is called with it."""
        if self._on_error:
            self._on_error(error)
        message = "Login is not possible at the moment."
        return Refusal(503, "LOGIN_UNAVAILABLE", message, retry_after=error.retry_after, request_id=error.request_id)

    async def _verified(self, token: str) -> AccessClaims | None:
        try:
            return await self._verifier.verify(token)
        except DwarError as error:
            if error.code != "INVALID_ACCESS_TOKEN":
                raise
            return None

    def _counting(self, cookie: Cookie, request: LoginRequest) -> str:
        """The cookie, unless another site's page may change something with the request."""
        return cookie.of(request) if request.method in ("GET", "HEAD") or self._is_own(request) else ""

    async def _answer(self, request: LoginRequest) -> LoginAnswer:
        step = self._steps.get(request.path)
        if step is None:
            raise Refusal(404, "NOT_FOUND", "There is no such resource.")
        if request.method != "POST":
            message = "The resource does not support this method."
            raise Refusal(405, "METHOD_NOT_ALLOWED", message, headers=(("Allow", "POST"),))
        if not self._is_own(request):
            raise _foreign(request)
        asked = Asked(request, _json(request), by_page=not _PAGE_HEADERS.isdisjoint(request.headers))
        if asked.by_page and asked.wants_tokens():
            raise _origin_refused()
        return await step(asked)

    def _is_own(self, request: LoginRequest) -> bool:
        """Whether the request comes from a page of an allowed origin, or from no page."""
        origin = request.headers.get("origin")
        if origin is not None:
            return origin in self._origins
        return request.headers.get("sec-fetch-site", "same-origin") == "same-origin"

    async def _send(self, asked: Asked) -> LoginAnswer:
        network = network_of(self._client_address(asked.request))
        if network is None:
            self._tell_of_address()
            sent = await self._admitted(asked, network)
        else:
            taken = self._sends.take(network)
            try:
                sent = await self._admitted(asked, network)
            except Exception:  # A caller that hung up counts: its code may have been sent.
                self._sends.give_back(network, taken)
                raise
        body = {"otp_id": sent["otp_id"], "expires_in": sent["expires_in"]}
        return answer(200, body, OTP.set(sent["otp_id"], sent["expires_in"]))

    def _tell_of_address(self) -> None:
        if self._on_error and not self._is_told_of_address:
            self._is_told_of_address = True
            message = "client_address gave no IP address, so sends are not counted by address"
            self._on_error(DwarError("ARGUMENT", message))

    async def _admitted(self, asked: Asked, network: bytes | None) -> SentCode:
        refusal = await self._admit(asked.request, asked.body) if self._admit else None
        if refusal:
            raise refusal
        return await self._calls.send(
            asked.text("phone"),
            last_line=self._last_line,
            visitor=await self._visitor(asked, network),
            device=asked.device(),
        )

    async def _visitor(self, asked: Asked, network: bytes | None) -> Visitor | None:
        """What the service is told about the person. Only the application says that a proof is good: whatever a page or
        an app sends under these names is ignored."""
        visitor: Visitor = {} if network is None else {"address": address_of(network)}
        proof = asked.text("proof")
        if proof and self._prove and await self._prove(asked.request, proof) is True:
            visitor["trusted"] = True
        return visitor or None

    async def _verify(self, asked: Asked) -> LoginAnswer:
        otp_id = asked.credential(OTP)
        if not otp_id:
            raise DwarError("OTP_NOT_FOUND", "There is no active code for this phone number.")
        tokens = await self._calls.verify(asked.text("phone"), asked.text("code"), otp_id=otp_id, device=asked.device())
        # It stays after the logout: the next login is that of a known device.
        device = device_or_none(tokens.get("device"))
        kept = [DEVICE.set(device, DEVICE_SECONDS)] if device else []
        return _logged_in(asked, tokens, OTP.clear(), *kept)

    async def _refresh(self, asked: Asked) -> LoginAnswer:
        return _logged_in(asked, await self._renewed(asked.credential(REFRESH)))

    async def _logout(self, asked: Asked) -> LoginAnswer:
        try:
            await self._end(asked.credential(ACCESS), asked.credential(REFRESH))
        except DwarError as error:
            if error.code not in _SESSION_OVER:
                raise
        return answer(204, None, ACCESS.clear(), REFRESH.clear())

    async def _end(self, access_token: str, refresh_token: str) -> None:
        """The service ends a session only by an access token that has not expired."""
        if access_token:
            try:
                await self._calls.logout(access_token)
                return
            except DwarError as error:
                if error.code != "INVALID_ACCESS_TOKEN":
                    raise
        tokens = await self._renewed(refresh_token)
        await self._calls.logout(tokens["access_token"])

    async def _renewed(self, refresh_token: str) -> Tokens:
        if not refresh_token:
            raise DwarError("SESSION_EXPIRED", "The refresh token is expired or invalid.")
        return await self._calls.refresh(refresh_token, idempotency_key=self._key.of(refresh_token))

    def _refusal(self, error: DwarError) -> Refusal:
        status = _MENDABLE.get(error.code)
        if status is None:
            return self.unavailable(error)
        message = error.message
        if error.code == "INVALID_PHONE":  # The client may have refused it, in words for developers.
            message = "The phone number is not a valid Indian mobile number."
        cleared = (ACCESS.clear(), REFRESH.clear()) if error.code == "SESSION_EXPIRED" else ()
        return Refusal(
            status, error.code, message, retry_after=error.retry_after, request_id=error.request_id, headers=cleared
        )


def _json(request: LoginRequest) -> Mapping[str, Any]:
    kind = request.headers.get("content-type", "").partition(";")[0]
    if kind.strip().lower() != "application/json":
        raise Refusal(415, "UNSUPPORTED_MEDIA_TYPE", "The body must be JSON.")
    if len(request.body) > MAX_BODY:
        raise Refusal(413, "PAYLOAD_TOO_LARGE", "The body is too large.")
    try:
        return json_object(request.body.decode())
    except ValueError:
        raise Refusal(400, "INVALID_REQUEST", "The request cannot be read.") from None


def _logged_in(asked: Asked, tokens: Tokens, *cookies: tuple[str, str]) -> LoginAnswer:
    body: dict[str, Any] = {"identity_id": tokens["identity_id"], "expires_in": tokens["expires_in"]}
    if asked.wants_tokens():
        body["access_token"] = tokens["access_token"]
        body["refresh_token"] = tokens["refresh_token"]
        body["refresh_expires_in"] = tokens["refresh_expires_in"]
        if device := device_or_none(tokens.get("device")):
            body["device"] = device
        return answer(200, body)
    return answer(200, body, *_token_cookies(tokens), *cookies)


def _token_cookies(tokens: Tokens) -> tuple[tuple[str, str], tuple[str, str]]:
    access = ACCESS.set(tokens["access_token"], tokens["expires_in"])
    return access, REFRESH.set(tokens["refresh_token"], tokens["refresh_expires_in"])


def _bearer(request: LoginRequest) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _foreign(request: LoginRequest) -> Refusal:
    """The message to an own page that was opened without https says why it cannot log in."""
    host = request.headers.get("host", "")
    if request.headers.get("origin") != f"http://{host}" or is_loopback(host):
        return _origin_refused()
    message = "Open this page with https to log in: without it the browser does not keep the login."
    return Refusal(403, "HTTPS_REQUIRED", message)


def _origin_refused() -> Refusal:
    return Refusal(403, "ORIGIN_REFUSED", "This page may not log in here.")
