from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from .._blocking import Blocking, Dwar, TokenVerifier, awaitable, blocking
from .._client import AsyncDwar
from .._error import DwarError
from .._verifier import AsyncTokenVerifier
from .._waiting import either
from ._http import LoginRequest, Refusal
from ._rules import Rules


class AsyncLogin(Rules):
    """The endpoints of a backend that its login form and its app call: send, verify, refresh and log out.

    `answer` and `authenticate` are what a framework needs: `dwar_client.fastapi` is the adapter for FastAPI and
    Starlette. Keep one for the life of the process: it counts the sends per address.
    """

    def __init__(
        self,
        dwar: AsyncDwar,
        verifier: AsyncTokenVerifier,
        *,
        secret: str,
        origins: Collection[str],
        client_address: Callable[[LoginRequest], str | None] | None = None,
        sends_per_address: int = 30,
        admit: Callable[[LoginRequest, Mapping[str, Any]], Refusal | None | Awaitable[Refusal | None]] | None = None,
        last_line: str | None = None,
        on_error: Callable[[DwarError], object] | None = None,
    ) -> None:
        """`secret` is one of your backend, 32 characters or more, the same in all its processes: two tabs that refresh
        at once get the same pair. `origins` are exactly those of your own pages: `https://shop.example`, or
        `http://localhost:3000` on your own machine.

        `client_address` tells the IP address that asks, or nothing; that of the peer by default. Behind a proxy the
        peer is the proxy, whose codes all people would share: take what your own proxy writes, the last entry of
        `X-Forwarded-For`, never the first, which anybody can send. An address gets `sends_per_address` codes in ten
        minutes; without an address nothing is counted, and `on_error` is told once.

        `admit` is asked before a code is sent, with the request and its JSON body, and refuses by returning a
        `Refusal`, such as one with 403 `CAPTCHA_REQUIRED`. Each send names `last_line`, if it is given. `on_error` gets
        the error behind an answer 503 `LOGIN_UNAVAILABLE`."""
        asked = either(admit) if admit else None
        super().__init__(dwar, verifier, secret, origins, client_address, sends_per_address, asked, last_line, on_error)


class Login(Blocking[Rules]):
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
        last_line: str | None = None,
        on_error: Callable[[DwarError], object] | None = None,
    ) -> None:
        asked = awaitable(admit) if admit else None
        self._inner = Rules(
            dwar._inner,
            verifier._inner,
            secret,
            origins,
            client_address,
            sends_per_address,
            asked,
            last_line,
            on_error,
        )

    answer = blocking(Rules.answer)
    authenticate = blocking(Rules.authenticate)

    def can_renew(self, request: LoginRequest) -> bool:
        """Whether a renewal may help where `authenticate` without headers gave nothing."""
        return self._inner.can_renew(request)

    def unavailable(self, error: DwarError) -> Refusal:
        """503 `LOGIN_UNAVAILABLE`, for an error of `authenticate`. It is told to `on_error`."""
        return self._inner.unavailable(error)
