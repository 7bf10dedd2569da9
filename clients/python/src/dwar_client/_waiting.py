"""What waits: for an answer, for a moment, for what another call has begun.

The rules of the client are coroutines that wait through `Waiting` alone. With `AsyncWaiting` they suspend; with
`BlockingWaiting` they block instead and never suspend, so that `run` can run them without an event loop.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

import httpx

Result = TypeVar("Result")
Action = Callable[[], Coroutine[Any, Any, Result]]


@dataclass(frozen=True, repr=False)
class Request:
    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None


class Flight(Protocol[Result]):
    """Runs one action at a time: who comes meanwhile gets the outcome of the one that runs."""

    async def join(self, action: Action[Result]) -> Result: ...


class Waiting(Protocol):
    async def answer(self, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        """The answer and its body. Raises `TimeoutError` when it is not there within so many seconds."""

    async def sleep(self, seconds: float) -> None: ...

    def flight(self) -> Flight[Any]: ...


class AsyncWaiting:
    def __init__(self, http_client: httpx.AsyncClient | None) -> None:
        self._http = http_client or httpx.AsyncClient()
        self._own = http_client is None

    async def answer(self, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        try:
            return await asyncio.wait_for(self._answer(request, seconds), seconds)
        except asyncio.TimeoutError:  # Another class than the built-in one before Python 3.11.
            raise TimeoutError from None

    async def _answer(self, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        response = await self._http.request(**vars(request), follow_redirects=False, timeout=seconds)
        return response, response.content

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def flight(self) -> Flight[Any]:
        return _TaskFlight()

    async def close(self) -> None:
        if self._own:
            await self._http.aclose()


class BlockingWaiting:
    def __init__(self, http_client: httpx.Client | None) -> None:
        self._http = http_client or httpx.Client()
        self._own = http_client is None

    async def answer(self, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        """httpx limits each look-up, connection and read, not the whole, so a thread of its own does them: the caller
        leaves when the time is over, the thread with the next part of the body."""
        done: concurrent.futures.Future[tuple[httpx.Response, bytes]] = concurrent.futures.Future()
        context = contextvars.copy_context()

        def complete() -> None:
            try:
                done.set_result(context.run(self._answer, request, seconds))
            except BaseException as error:
                done.set_exception(error)

        threading.Thread(target=complete, name="dwar-client", daemon=True).start()
        try:
            return done.result(seconds)
        except concurrent.futures.TimeoutError:  # Another class than the built-in one before Python 3.11.
            raise TimeoutError from None

    def _answer(self, request: Request, seconds: float) -> tuple[httpx.Response, bytes]:
        deadline = time.monotonic() + seconds
        body = bytearray()
        with self._http.stream(**vars(request), follow_redirects=False, timeout=seconds) as response:
            for part in response.iter_bytes():
                body += part
                if time.monotonic() >= deadline:
                    raise TimeoutError
        return response, bytes(body)

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def flight(self) -> Flight[Any]:
        return _ThreadFlight()

    def close(self) -> None:
        if self._own:
            self._http.close()


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine that only waits through `BlockingWaiting`."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return cast(Result, done.value)
    raise RuntimeError("a blocking call was suspended")


class _TaskFlight(Generic[Result]):
    _task: asyncio.Task[Result] | None = None

    async def join(self, action: Action[Result]) -> Result:
        if self._task is None:
            self._task = asyncio.create_task(action())
            self._task.add_done_callback(self._land)
        # A caller that is cancelled does not cancel the action for the others.
        return await asyncio.shield(self._task)

    def _land(self, task: asyncio.Task[Result]) -> None:
        self._task = None
        if not task.cancelled():
            task.exception()  # Marks it as seen, since all who waited may have left.


class _ThreadFlight(Generic[Result]):
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: concurrent.futures.Future[Result] | None = None

    async def join(self, action: Action[Result]) -> Result:
        while True:
            with self._lock:
                running = self._running
                if running is None:
                    mine = self._running = concurrent.futures.Future()
                    break
            try:
                return running.result()
            except concurrent.futures.CancelledError:
                pass  # The thread that ran it was interrupted: one of those who wait takes over.
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
