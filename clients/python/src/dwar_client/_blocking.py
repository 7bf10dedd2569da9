"""Blocking classes for programs without an event loop. Each method runs that of the asynchronous class to its end."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar

from ._client import Calls
from ._keys import Algorithm
from ._session import AsyncSession
from ._types import StoredTokens
from ._verifier import TokenType, Verification
from ._waiting import BlockingHttp, BlockingWaiting, either, run

Inner = TypeVar("Inner")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Self = TypeVar("Self", bound="Closing")


class Blocking(Generic[Inner]):
    _inner: Inner


def blocking(
    method: Callable[Concatenate[Inner, Parameters], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[Blocking[Inner], Parameters], Result]:
    @functools.wraps(method)
    def call(self: Blocking[Inner], /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return run(method(self._inner, *args, **kwargs))

    return call


class Closing:
    _waiting: BlockingWaiting

    def close(self) -> None:
        """Closes the connections of this process."""
        self._waiting.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Dwar(Blocking[Calls], Closing):
    """Calls a Dwar service. Every method raises `DwarError`; threads may share one object, and so may processes that
    are forked after it was made.

    Repetitions and parameters are those of `AsyncDwar`; `http_client` makes the `httpx.Client` of each process.
    """

    def __init__(self, url: str, api_key: str, *, timeout: float = 30.0, http_client: BlockingHttp = None) -> None:
        self._waiting = BlockingWaiting(http_client)
        self._inner = Calls(self._waiting, url, api_key, timeout)

    send = blocking(Calls.send)
    relay = blocking(Calls.relay)
    status = blocking(Calls.status)
    verify = blocking(Calls.verify)
    check = blocking(Calls.check)
    validate = blocking(Calls.validate)
    refresh = blocking(Calls.refresh)
    logout = blocking(Calls.logout)
    identity = blocking(Calls.identity)
    identity_by_phone = blocking(Calls.identity_by_phone)
    delete_identity = blocking(Calls.delete_identity)
    sandbox_messages = blocking(Calls.sandbox_messages)
    keys = blocking(Calls.keys)


class Session(Blocking[AsyncSession]):
    """The session of one person, as `AsyncSession`; threads may share one object."""

    def __init__(
        self,
        dwar: Dwar,
        *,
        load: Callable[[], StoredTokens | None],
        save: Callable[[StoredTokens], object],
        secret: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._inner = AsyncSession(dwar._inner, load=awaitable(load), save=awaitable(save), secret=secret, now=now)

    begin = blocking(AsyncSession.begin)
    access_token = blocking(AsyncSession.access_token)

    def call(self, use: Callable[[str], Result]) -> Result:
        """Calls with an access token, and once more with a fresh one if the first is refused:
        `session.call(dwar.validate)`."""
        return run(self._inner.call(awaitable(use)))


class TokenVerifier(Blocking[Verification], Closing):
    """Verifies access tokens without a call per token, as `AsyncTokenVerifier`; threads may share one object."""

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
        http_client: BlockingHttp = None,
    ) -> None:
        self._waiting = BlockingWaiting(http_client)
        self._inner = Verification(
            self._waiting, url, audience, issuer, mode, algorithms, token_types, leeway, timeout, now
        )

    verify = blocking(Verification.verify)


def awaitable(function: Callable[Parameters, Result]) -> Callable[Parameters, Awaitable[Result]]:
    if inspect.iscoroutinefunction(function):
        raise ValueError(f"{function.__name__} is asynchronous: use the class whose name begins with Async")
    return either(function)
