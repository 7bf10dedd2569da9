"""What waits: for an answer, for a moment, for what another call has begun.

The rules of the client are coroutines that wait through `Waiting` alone. With `AsyncWaiting` they suspend; with
`BlockingWaiting` they block instead and never suspend, so that `run` can run them without an event loop.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import inspect
import os
import re
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, cast

import httpx

from ._error import DwarError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Http = TypeVar("Http", httpx.Client, httpx.AsyncClient)
Action = Callable[[], Coroutine[Any, Any, Result]]
BlockingHttp: TypeAlias = httpx.Client | Callable[[], httpx.Client] | None
AsyncHttp: TypeAlias = httpx.AsyncClient | Callable[[], httpx.AsyncClient] | None

MAX_ANSWER_BYTES = 1 << 20
LOOPBACK = re.compile(r"localhost|127(\.[0-9]+){3}|::1")


@dataclass(frozen=True, repr=False)
class Request:
    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None


class Flight(Protocol[Result]):
    """Runs one action at a time: who comes meanwhile gets the outcome of the one that runs."""

    async def join(self, action: Action[Result]) -> Result: ...

    async def join_for(self, seconds: float, action: Action[Result]) -> None:
        """The same, but ends without an outcome so many seconds after the action began; the action goes on."""


class Waiting(Protocol):
    async def answer(self, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        """The answer and its body. Raises `TimeoutError` when it is not there within so many seconds."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def flight(self) -> Flight[Any]: ...


class ProcessLock:
    """One lock for each process: that of a parent may be held in a fork, by a thread that is not there."""

    def __init__(self) -> None:
        self._locks: dict[int, threading.Lock] = {}

    def __enter__(self) -> None:
        self._locks.setdefault(os.getpid(), threading.Lock()).acquire()

    def __exit__(self, *_: object) -> None:
        self._locks[os.getpid()].release()


class Clients(Generic[Http]):
    """The HTTP client of each process and event loop: two processes that share a socket read each other's answers, and
    an event loop cannot use the sockets of another."""

    def __init__(self, given: Http | Callable[[], Http] | None, make: Callable[..., Http]) -> None:
        self.given: Http | None = None if callable(given) else given
        self._make: Callable[..., Http] = given if callable(given) else make
        self._is_ours = self._make is make
        self._made: dict[tuple[int, asyncio.AbstractEventLoop | None], Http] = {}
        self._lock = ProcessLock()
        self._used_by = 0

    def get(self, url: str, loop: asyncio.AbstractEventLoop | None = None) -> Http:
        if self.given is not None:
            if self._used_by not in (0, os.getpid()):
                raise DwarError(
                    "NETWORK_ERROR", "the http_client was used before a fork: give a function that makes one"
                )
            self._used_by = os.getpid()
            return _without_environment_proxy(self.given, url)
        key = os.getpid(), loop
        with self._lock:
            if key not in self._made:
                self._made = {other: http for other, http in self._made.items() if not _is_over(other)}
                self._made[key] = self._new(url)
            return self._made[key]

    def _new(self, url: str) -> Http:
        if not self._is_ours:
            return _without_environment_proxy(self._make(), url)
        try:
            return self._make(**_options(url))
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            raise DwarError("NETWORK_ERROR", "httpx does not take the proxies of the environment") from error

    def take(self, loop: asyncio.AbstractEventLoop | None = None) -> Http | None:
        """What was made here, to be closed."""
        with self._lock:
            return self._made.pop((os.getpid(), loop), None)


def _is_over(made: tuple[int, asyncio.AbstractEventLoop | None]) -> bool:
    return made[1] is not None and made[1].is_closed()


def _is_loopback(url: str) -> bool:
    return LOOPBACK.fullmatch(httpx.URL(url).host) is not None


def _options(url: str) -> dict[str, Any]:
    """Idle connections are kept as a busy backend uses them, for a shorter time than the service does. Proxies of the
    environment get no loopback traffic: plain http would show them the API key. Its certificates count there too."""
    limits = httpx.Limits(max_keepalive_connections=256, keepalive_expiry=20)
    if _is_loopback(url):
        return {"limits": limits, "trust_env": False, "verify": httpx.create_ssl_context()}
    return {"limits": limits}


def _without_environment_proxy(http: Http, url: str) -> Http:
    """Refuses a client that asks the environment for proxies and reaches loopback by one of them.

    httpx does not tell a proxy of the environment from one that its maker named, so both need `trust_env=False`. It has
    no public name for the transport of an address.
    """
    if http.trust_env and _is_loopback(url):
        transport = http._transport_for_url(httpx.URL(url))
        if transport is not http._transport and isinstance(transport, (httpx.HTTPTransport, httpx.AsyncHTTPTransport)):
            raise DwarError(
                "NETWORK_ERROR", "the http_client would go to loopback by a proxy: make it with trust_env=False"
            )
    return http


class Address(httpx.URL):
    """httpx logs the address of each request at INFO, and a phone number may stand in its query."""

    def __str__(self) -> str:
        return super().__str__().partition("?")[0]


class AsyncWaiting:
    def __init__(self, http_client: AsyncHttp) -> None:
        self._clients = Clients(http_client, httpx.AsyncClient)

    async def answer(self, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        http = self._clients.get(request.url, asyncio.get_running_loop())
        try:
            return await asyncio.wait_for(self._answer(http, request, seconds), seconds)
        except asyncio.TimeoutError:  # Another class than the built-in one before Python 3.11.
            raise TimeoutError from None
        except RuntimeError as error:
            if self._clients.given is None:
                raise
            raise DwarError("NETWORK_ERROR", "the http_client may belong to another event loop") from error

    async def _answer(self, http: httpx.AsyncClient, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        response = await http.send(_message(http, request, seconds), stream=True, follow_redirects=False)
        body = bytearray()
        stream = cast(AsyncGenerator[bytes, None], response.aiter_bytes())
        async with contextlib.aclosing(response), contextlib.aclosing(stream) as parts:
            async for part in parts:
                body += part
                if len(body) > MAX_ANSWER_BYTES:
                    break
        return response, bytes(body[:MAX_ANSWER_BYTES])

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def flight(self) -> Flight[Any]:
        return _TaskFlight()

    async def close(self) -> None:
        http = self._clients.take(asyncio.get_running_loop())
        if http:
            await http.aclose()


class BlockingWaiting:
    def __init__(self, http_client: BlockingHttp) -> None:
        self._clients = Clients(http_client, httpx.Client)

    async def answer(self, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        """httpx limits each look-up, connection and read, not the whole, so a thread of its own does them: the caller
        leaves when the time is over, the thread with the next part of the body."""
        done: concurrent.futures.Future[tuple[httpx.Response, bytes]] = concurrent.futures.Future()
        context = contextvars.copy_context()
        http = self._clients.get(request.url)

        def complete() -> None:
            try:
                done.set_result(context.run(self._answer, http, request, seconds))
            except BaseException as error:
                done.set_exception(error)

        threading.Thread(target=complete, name="dwar-client", daemon=True).start()
        try:
            return done.result(seconds)
        except concurrent.futures.TimeoutError:  # Another class than the built-in one before Python 3.11.
            raise TimeoutError from None

    def _answer(self, http: httpx.Client, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        deadline = time.monotonic() + seconds
        response = http.send(_message(http, request, seconds), stream=True, follow_redirects=False)
        body = bytearray()
        with contextlib.closing(response):
            for part in response.iter_bytes():
                body += part
                if time.monotonic() >= deadline:
                    raise TimeoutError
                if len(body) > MAX_ANSWER_BYTES:
                    break
        return response, bytes(body[:MAX_ANSWER_BYTES])

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def flight(self) -> Flight[Any]:
        return _ThreadFlight()

    def close(self) -> None:
        http = self._clients.take()
        if http:
            http.close()


def _message(http: httpx.Client | httpx.AsyncClient, request: Request, seconds: float) -> httpx.Request:
    message = http.build_request(**vars(request), timeout=seconds)
    message.url = Address(message.url)
    return message


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine that only waits through `BlockingWaiting`."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast(Result, done.value)
    raise RuntimeError("a blocking call was suspended")


def _left(began: float, seconds: float) -> float:
    return max(0.0, began + seconds - time.monotonic())


class _TaskFlight(Generic[Result]):
    """One for each event loop, since none can wait for a task of another."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.AbstractEventLoop, tuple[asyncio.Task[Result], float]] = {}
        """With the moment when each began."""

    async def join(self, action: Action[Result]) -> Result:
        # A caller that is cancelled does not cancel the action for the others.
        task, _ = self._running(action)
        return await asyncio.shield(task)

    async def join_for(self, seconds: float, action: Action[Result]) -> None:
        task, began = self._running(action)
        await asyncio.wait({task}, timeout=_left(began, seconds))
        if task.done():
            task.result()

    def _running(self, action: Action[Result]) -> tuple[asyncio.Task[Result], float]:
        loop = asyncio.get_running_loop()
        running = self._tasks.get(loop)
        if running is None:
            task = loop.create_task(action())
            running = self._tasks[loop] = task, time.monotonic()
            task.add_done_callback(self._land)
        return running

    def _land(self, task: asyncio.Task[Result]) -> None:
        self._tasks.pop(task.get_loop(), None)
        if not task.cancelled():
            task.exception()  # Marks it as seen, since all who waited may have left.


class _ThreadFlight(Generic[Result]):
    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._running: tuple[concurrent.futures.Future[Result], float] | None = None
        """With the moment when it began."""
        self._process = os.getpid()

    async def join(self, action: Action[Result]) -> Result:
        while True:
            running, _, is_mine = self._claim()
            if is_mine:
                return await self._complete(running, action)
            try:
                return running.result()
            except concurrent.futures.CancelledError:
                pass  # The thread that ran it was interrupted: one of those who wait takes over.

    async def join_for(self, seconds: float, action: Action[Result]) -> None:
        running, began, is_mine = self._claim()
        if is_mine:
            context = contextvars.copy_context()

            def complete() -> None:
                with contextlib.suppress(Exception):  # Those who wait see it.
                    context.run(run, self._complete(running, action))

            threading.Thread(target=complete, name="dwar-client", daemon=True).start()
        with contextlib.suppress(concurrent.futures.TimeoutError, concurrent.futures.CancelledError):
            running.result(_left(began, seconds))

    def _claim(self) -> tuple[concurrent.futures.Future[Result], float, bool]:
        """What runs and since when, or else what the caller has to complete."""
        if self._process != os.getpid():
            self._begin()  # A fork leaves the threads behind, and with them what they have begun.
        with self._lock:
            if self._running is not None:
                return *self._running, False
            self._running = concurrent.futures.Future(), time.monotonic()
            return *self._running, True

    async def _complete(self, mine: concurrent.futures.Future[Result], action: Action[Result]) -> Result:
        try:
            result = await action()
        except BaseException as error:
            self._running = None
            if isinstance(error, Exception):
                mine.set_exception(error)
            else:
                mine.cancel()
            raise
        self._running = None
        mine.set_result(result)
        return result


def either(function: Callable[Parameters, Result | Awaitable[Result]]) -> Callable[Parameters, Awaitable[Result]]:
    """A function of the application, which may be asynchronous."""

    async def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        result = function(*args, **kwargs)
        return cast(Result, await result if inspect.isawaitable(result) else result)

    return call
