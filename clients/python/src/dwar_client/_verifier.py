from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Any, Literal, NoReturn, TypeAlias, TypedDict, cast, get_args

from ._client import KEYS, AsyncClosing
from ._error import DwarError
from ._keys import Algorithm, KeySet
from ._text import from_base64url, json_object
from ._transport import Transport
from ._waiting import AsyncHttp, AsyncWaiting, Waiting

TokenType: TypeAlias = Literal["at+jwt", "JWT"]
"""The header `typ` of an access token."""


class AccessClaims(TypedDict):
    """Claims of an access token (RFC 9068). `sub` is the person (`identity_id`), `sid` the session (`session_id`);
    `iat` and `exp` are seconds since 1970."""

    iss: str
    aud: str
    sub: str
    client_id: str
    sid: str
    jti: str
    mode: Literal["live", "test"]
    iat: float
    exp: float


class Verification:
    """What an access token has to be."""

    def __init__(
        self,
        waiting: Waiting,
        url: str,
        audience: str,
        issuer: str,
        mode: str,
        algorithms: Iterable[str],
        token_types: Iterable[str],
        leeway: float,
        timeout: float,
        now: Callable[[], float],
    ) -> None:
        if not audience:
            raise ValueError("audience must be the project's id")
        if not 0 <= leeway <= 300:
            raise ValueError("leeway must lie between 0 and 300 seconds")
        self._algorithms = frozenset(algorithms)
        if not self._algorithms <= set(get_args(Algorithm)):
            raise ValueError("algorithms must be a list of ES256, EdDSA or RS256")
        token_types = frozenset(token_types)
        if not token_types <= set(get_args(TokenType)):
            raise ValueError("token_types must be a list of at+jwt or JWT")
        self._media_types = frozenset(map(_media_type, token_types))
        self._expected = {"iss": issuer, "aud": audience, "client_id": audience, "mode": mode}
        self._leeway = leeway
        self._now = now
        transport = Transport(waiting, url, timeout)
        self._keys = KeySet(lambda: transport.send(KEYS), waiting.flight(), now)

    async def verify(self, token: str) -> AccessClaims:
        """The claims of a token that is valid now.

        Raises `INVALID_ACCESS_TOKEN` without a status for any other token, and `NETWORK_ERROR` or the service's refusal
        if its key is not there and could not be fetched.
        """
        if len(token) > 4096 or not re.fullmatch(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+){2}", token):
            _refuse("not a JWT")
        signed, _, signature = token.rpartition(".")
        header, _, payload = signed.partition(".")
        head = _decoded(header)
        alg, kid = head.get("alg"), head.get("kid")
        if not isinstance(alg, str) or alg not in self._algorithms:
            _refuse("another algorithm")
        typ = head.get("typ")
        if not isinstance(typ, str) or _media_type(typ) not in self._media_types or "crit" in head:
            _refuse("not an access token")
        key = await self._keys.find(kid) if isinstance(kid, str) else None
        if key is None or key.alg != alg:
            _refuse("no such key")
        if not key.verifies(_bytes(signature), signed.encode()):
            _refuse("a wrong signature")
        return self._checked(_decoded(payload))

    def _checked(self, claims: dict[str, Any]) -> AccessClaims:
        for name, value in self._expected.items():
            if claims.get(name) != value:
                _refuse(f"another {name}")
        for name in ("sub", "sid", "jti"):
            if not isinstance(claims.get(name), str):
                _refuse(f"no {name}")
        now = self._now()
        if not (_is_number(claims.get("exp")) and claims["exp"] > now - self._leeway):
            _refuse("expired")
        if not (_is_number(claims.get("iat")) and claims["iat"] <= now + self._leeway):
            _refuse("issued in the future")
        if "nbf" in claims and not (_is_number(claims["nbf"]) and claims["nbf"] <= now + self._leeway):
            _refuse("not valid yet")
        return cast(AccessClaims, claims)


class AsyncTokenVerifier(Verification, AsyncClosing):
    """Verifies access tokens without a call per token. It does not notice a logout or a refresh until the token
    expires; where that matters, use `AsyncDwar.validate`.

    Keep one for the life of the process: it caches the public keys for five minutes, fetches them for an unknown
    `kid` at most once a minute, and uses the cached keys for up to an hour while the service does not answer within
    half a second.
    """

    def __init__(
        self,
        url: str,
        audience: str,
        *,
        issuer: str = "dwar",
        mode: Literal["live", "test"] = "live",
        algorithms: Iterable[Algorithm] = ("ES256",),
        token_types: Iterable[TokenType] = ("at+jwt",),
        leeway: float = 30.0,
        timeout: float = 5.0,
        now: Callable[[], float] = time.time,
        http_client: AsyncHttp = None,
    ) -> None:
        """`audience` is the project's id; `issuer` and `algorithms` are the service's settings `tokens.issuer` and
        `tokens.algorithm`, `token_types` the project's setting `token_type`. `mode` is `live` by default: anyone
        with a test key can get a test token, so it proves nothing. `leeway` is how far the clocks of service and
        verifier may differ, in seconds, at most 300. `timeout` is the longest that fetching the keys may take, in
        seconds. `now` is in seconds since 1970."""
        self._waiting = AsyncWaiting(http_client)
        super().__init__(self._waiting, url, audience, issuer, mode, algorithms, token_types, leeway, timeout, now)


def _media_type(typ: str) -> str:
    """Without the optional prefix `application/`, and in lower case, since case does not matter (RFC 7515 section
    4.1.9)."""
    return typ.lower().removeprefix("application/")


def _refuse(reason: str) -> NoReturn:
    raise DwarError("INVALID_ACCESS_TOKEN", f"the access token is not valid: {reason}")


def _bytes(part: str) -> bytes:
    try:
        return from_base64url(part)
    except ValueError:
        _refuse("not a JWT")


def _decoded(part: str) -> dict[str, Any]:
    try:
        return json_object(_bytes(part))
    except ValueError:
        _refuse("not a JWT")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
