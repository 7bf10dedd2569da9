from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar, cast

from ._client import Calls
from ._error import DwarError
from ._types import Answer, StoredTokens, Tokens
from ._waiting import Flight, either

Result = TypeVar("Result")

_EARLY_SECONDS = 10
"""An access token with less time left than this is refreshed before it is used."""


class RefreshKey:
    """Makes the `Idempotency-Key` of a refresh, so that processes that share the secret get the same pair."""

    def __init__(self, secret: str) -> None:
        if len(secret) < 32:
            raise ValueError("secret must have 32 characters or more")
        self._secret = secret.encode()

    def of(self, refresh_token: str) -> str:
        """HMAC-SHA-256 in hexadecimal: clients in other languages make the same."""
        return hmac.new(self._secret, refresh_token.encode(), hashlib.sha256).hexdigest()


class AsyncSession:
    """The session of one person. It refreshes an expired access token once, no matter how many calls wait, and once
    over all processes that share store and secret. When the session is over, calls raise `SESSION_EXPIRED`: log in
    again.
    """

    def __init__(
        self,
        dwar: Calls,
        *,
        load: Callable[[], StoredTokens | None | Awaitable[StoredTokens | None]],
        save: Callable[[StoredTokens], object],
        secret: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`load` reads the pair of this session from the store that your processes share, `save` replaces it there;
        both may be asynchronous. `secret` is one of your backend, 32 characters or more, the same in all its
        processes: it makes the `Idempotency-Key` of a refresh, so that processes that refresh at once get the same
        pair, but a thief of the refresh token does not. `now` is in seconds since 1970."""
        self._calls = dwar
        self._load = either(load)
        self._save = either(save)
        self._key = RefreshKey(secret)
        self._now = now
        self._flight: Flight[StoredTokens] = dwar._new_flight()

    async def begin(self, tokens: Tokens) -> None:
        """Keeps the tokens of a login."""
        await self._keep(tokens)

    async def access_token(self) -> str:
        """An access token that has not expired."""
        tokens = await self._stored()
        if int(self._now()) < tokens["expires_at"] - _EARLY_SECONDS:
            return tokens["access_token"]
        return await self._renewed(tokens["access_token"])

    async def call(self, use: Callable[[str], Awaitable[Result]]) -> Result:
        """Calls with an access token, and once more with a fresh one if the first is refused:
        `session.call(dwar.validate)`."""
        token = await self.access_token()
        try:
            return await use(token)
        except DwarError as error:
            if error.code != "INVALID_ACCESS_TOKEN":
                raise
        return await use(await self._renewed(token))

    async def _renewed(self, stale: str) -> str:
        tokens = await self._flight.join(lambda: self._exchange(stale))
        return tokens["access_token"]

    async def _exchange(self, stale: str) -> StoredTokens:
        """Another process may have refreshed first and stored a new pair. A used refresh token that is presented
        later ends the session."""
        tokens = await self._stored()
        if tokens["access_token"] != stale:
            return tokens
        try:
            key = self._key.of(tokens["refresh_token"])
            return await self._keep(await self._calls.refresh(tokens["refresh_token"], idempotency_key=key))
        except DwarError as error:
            if error.code != "SESSION_EXPIRED":
                raise
            newer = await self._stored()
            if newer["access_token"] == stale:
                raise
            return newer

    async def _stored(self) -> StoredTokens:
        tokens = await self._load()
        if tokens is None:
            raise DwarError("SESSION_EXPIRED", "no session is stored")
        if not _is_stored(tokens):
            raise DwarError("SESSION_EXPIRED", "the stored session cannot be read: store what `save` was given")
        return tokens

    async def _keep(self, tokens: Tokens) -> StoredTokens:
        expires_at = int(self._now()) + tokens["expires_in"]
        stored = cast(StoredTokens, Answer({**tokens, "expires_at": expires_at}))
        cast(Answer, stored).pop("device", None)  # It belongs to the browser or app of the login.
        await self._save(stored)
        return stored


def _is_stored(tokens: object) -> bool:
    """Whether it has what a session needs. Another program may have written to the store."""
    if not isinstance(tokens, Mapping):
        return False
    expires_at = tokens.get("expires_at")
    return (
        isinstance(expires_at, (int, float))
        and not isinstance(expires_at, bool)
        and all(isinstance(tokens.get(name), str) and tokens[name] for name in ("access_token", "refresh_token"))
    )
