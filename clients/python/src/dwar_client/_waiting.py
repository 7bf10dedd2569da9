"""Everything that waits: for an answer, for a time, for the work of another call.

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
BlockingHttp: TypeAlias = Callable[..., httpx.Client] | None
AsyncHttp: TypeAlias = Callable[..., httpx.AsyncClient] | None

MAX_ANSWER_BYTES = 1 << 20
LOOPBACK = re.compile(r"localhost|127(\.[0-9]+){3}|::1")
TIMEOUTS = (TimeoutError, asyncio.TimeoutError, concurrent.futures.TimeoutError)
"""From Python 3.11 on, the two are one class."""


@dataclass(frozen=True, repr=False)
class Request:
    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None


class Flight(Protocol[Result]):
    """Runs one action at a time: callers during a run get its outcome."""

    async def join(self, action: Action[Result]) -> Result: ...

    async def join_for(self, seconds: float, action: Action[Result]) -> None:
        """Like `join`, but returns without an outcome this many seconds after the action began, while the action
        continues."""


class Waiting(Protocol):
    async def answer(self, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        """The answer and its body. Raises one of `TIMEOUTS` if they do not arrive within this many seconds."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    def flight(self) -> Flight[Any]: ...


class Clients(Generic[Http]):
    """The HTTP client of each process and event loop: two processes that share a socket read each other's answers, and
    an event loop cannot use the sockets of another."""

    def __init__(self, make: Callable[..., Http]) -> None:
        if not callable(make):
            raise ValueError("http_client must be a function that makes one, such as functools.partial(httpx.Client)")
        self._make: Callable[..., Http] = make
        self._made: dict[tuple[int, asyncio.AbstractEventLoop | None], Http] = {}

    def get(self, url: str, loop: asyncio.AbstractEventLoop | None = None) -> Http:
        http = self._made.get((os.getpid(), loop))
        return http or self._made.setdefault((os.getpid(), loop), self._new(url))

    def _new(self, url: str) -> Http:
        for made in list(self._made):
            if made[1] and made[1].is_closed():
                self._made.pop(made, None)
        try:
            # Loopback traffic goes to no proxy of the environment: with plain http the proxy would see the API key.
            return self._make(trust_env=not LOOPBACK.fullmatch(httpx.URL(url).host))
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            raise DwarError("NETWORK_ERROR", "httpx does not take the proxies of the environment") from error

    def take(self, loop: asyncio.AbstractEventLoop | None = None) -> Http | None:
        """The clients made here, to be closed."""
        return self._made.pop((os.getpid(), loop), None)


def _by_default(kind: Callable[..., Http]) -> Callable[..., Http]:
    """Keeps enough idle connections for a busy backend, for a shorter time than the service does. Certificates of
    the environment are used on loopback too."""
    limits = httpx.Limits(max_keepalive_connections=256, keepalive_expiry=20)
    return lambda **options: kind(limits=limits, verify=httpx.create_ssl_context(), **options)


class Address(httpx.URL):
    """httpx logs the URL of each request at INFO, and its query may contain a phone number."""

    def __str__(self) -> str:
        return super().__str__().partition("?")[0]


class AsyncWaiting:
    def __init__(self, http_client: AsyncHttp) -> None:
        self._clients = Clients(http_client or _by_default(httpx.AsyncClient))

    async def answer(self, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        http = self._clients.get(request.url, asyncio.get_running_loop())
        return await asyncio.wait_for(self._answer(http, request, seconds), seconds)

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
        self._clients = Clients(http_client or _by_default(httpx.Client))

    async def answer(self, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        """httpx limits each look-up, connection and read, but not the whole call, so a separate thread makes the
        call. The caller returns when the time is over; the thread ends with the next part of the body."""
        http = self._clients.get(request.url)
        return _in_thread(lambda: self._answer(http, request, seconds)).result(seconds)

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


def _in_thread(action: Callable[[], Result]) -> concurrent.futures.Future[Result]:
    done: concurrent.futures.Future[Result] = concurrent.futures.Future()
    context = contextvars.copy_context()

    def complete() -> None:
        try:
            done.set_result(context.run(action))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=complete, name="dwar-client", daemon=True).start()
    return done


class _TaskFlight(Generic[Result]):
    def __init__(self) -> None:
        self._running: dict[asyncio.AbstractEventLoop, tuple[asyncio.Task[Result], float]] = {}
        """Per event loop, since no loop can wait for a task of another; with the time of its start."""

    async def join(self, action: Action[Result]) -> Result:
        # A caller that is cancelled does not cancel the action for the others.
        return await asyncio.shield(self._begun(action)[0])

    async def join_for(self, seconds: float, action: Action[Result]) -> None:
        task, began = self._begun(action)
        await asyncio.wait({task}, timeout=began + seconds - time.monotonic())
        if task.done():
            task.result()

    def _begun(self, action: Action[Result]) -> tuple[asyncio.Task[Result], float]:
        loop = asyncio.get_running_loop()
        if loop not in self._running:
            self._running[loop] = loop.create_task(action()), time.monotonic()
            self._running[loop][0].add_done_callback(self._land)
        return self._running[loop]

    def _land(self, task: asyncio.Task[Result]) -> None:
        self._running.pop(task.get_loop(), None)
        if not task.cancelled():
            task.exception()  # Marks it as seen, since all who waited may have left.


class _ThreadFlight(Generic[Result]):
    def __init__(self) -> None:
        self._running: dict[int, tuple[concurrent.futures.Future[Result], float]] = {}
        """Per process, since a fork does not copy threads; with the time of its start."""

    async def join(self, action: Action[Result]) -> Result:
        while True:
            mine: concurrent.futures.Future[Result] = concurrent.futures.Future()
            running, _ = self._running.setdefault(os.getpid(), (mine, time.monotonic()))
            if running is mine:
                return await self._complete(mine, action)
            try:
                return running.result()
            except concurrent.futures.CancelledError:
                pass  # The thread that ran it was interrupted: one of those who wait takes over.

    async def join_for(self, seconds: float, action: Action[Result]) -> None:
        mine: concurrent.futures.Future[Result] = concurrent.futures.Future()
        running, began = self._running.setdefault(os.getpid(), (mine, time.monotonic()))
        if running is mine:
            _in_thread(lambda: run(self._complete(mine, action)))
        with contextlib.suppress(concurrent.futures.TimeoutError, concurrent.futures.CancelledError):
            running.result(began + seconds - time.monotonic())

    async def _complete(self, mine: concurrent.futures.Future[Result], action: Action[Result]) -> Result:
        try:
            result = await action()
        except BaseException as error:
            del self._running[os.getpid()]
            if isinstance(error, Exception):
                mine.set_exception(error)
            else:
                mine.cancel()
            raise
        del self._running[os.getpid()]
        mine.set_result(result)
        return result


def either(function: Callable[Parameters, Result | Awaitable[Result]]) -> Callable[Parameters, Awaitable[Result]]:
    """A function of the application, which may be asynchronous."""

    async def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        result = function(*args, **kwargs)
        return cast(Result, await result if inspect.isawaitable(result) else result)

    return call
