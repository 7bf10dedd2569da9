from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from .._blocking import Blocking, Dwar, TokenVerifier, awaitable, blocking
from .._error import DwarError
from ._http import LoginRequest, Refusal
from ._rules import AsyncLogin


class Login(Blocking[AsyncLogin]):
    """The same as `AsyncLogin` without asyncio; threads may share one object. `dwar_client.django` is the adapter for
    Django."""

    def __init__(
        self,
        dwar: Dwar,
        verifier: TokenVerifier,
        *,
        secret: str,
        origins: Collection[str],
        client_address: Callable[[LoginRequest], str | None] | None = None,
        sends_per_address: int = 30,
        admit: Callable[[LoginRequest, Mapping[str, Any]], Refusal | None] | None = None,
        prove: Callable[[LoginRequest, str], bool] | None = None,
        last_line: str | None = None,
        on_error: Callable[[DwarError], object] | None = None,
    ) -> None:
        self._inner = AsyncLogin(
            dwar._inner,
            verifier._inner,
            secret=secret,
            origins=origins,
            client_address=client_address,
            sends_per_address=sends_per_address,
            admit=awaitable(admit) if admit else None,
            prove=awaitable(prove) if prove else None,
            last_line=last_line,
            on_error=on_error,
        )

    answer = blocking(AsyncLogin.answer)
    authenticate = blocking(AsyncLogin.authenticate)

    def can_renew(self, request: LoginRequest) -> bool:
        """Whether a renewal may help after `authenticate` without headers returned nothing."""
        return self._inner.can_renew(request)

    def unavailable(self, error: DwarError) -> Refusal:
        """503 `LOGIN_UNAVAILABLE`, for an error of `authenticate`. `on_error` is called with it."""
        return self._inner.unavailable(error)
