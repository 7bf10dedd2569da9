"""Puts this client to work for the suite, `adapter.py blocking` or `adapter.py asyncio`: clients/suite/README.md says
what the lines mean."""

import asyncio
import inspect
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dwar_client
from dwar_client import DwarError, StoredTokens, verify_event
from dwar_client._waiting import run
from operations import METHODS

ASYNCIO = sys.argv[1] == "asyncio"
PREFIX = "Async" if ASYNCIO else ""
CLIENT, SESSION, VERIFIER = (getattr(dwar_client, PREFIX + name) for name in ("Dwar", "Session", "TokenVerifier"))

Fields = dict[str, Any]

objects: Fields = {}
clock_seconds = 0.0


def now() -> float:
    return time.time() + clock_seconds


def store(path: str) -> dict[str, Callable[..., Any]]:
    """The file that the processes of a case share."""

    def load() -> Any:
        return json.loads(Path(path).read_text()) if Path(path).exists() else None

    def save(tokens: StoredTokens) -> None:
        own = Path(f"{path}.{os.getpid()}")
        own.write_text(json.dumps(tokens))
        own.replace(path)

    async def load_async() -> Any:
        return load()

    async def save_async(tokens: StoredTokens) -> None:
        save(tokens)

    return {"load": load_async, "save": save_async} if ASYNCIO else {"load": load, "save": save}


def client(url: str, api_key: str, timeout_ms: int) -> Any:
    return CLIENT(url, api_key, timeout=timeout_ms / 1000)


def verifier(url: str, audience: str, timeout_ms: int, leeway_seconds: float = 30, **options: Any) -> Any:
    return VERIFIER(url, audience, timeout=timeout_ms / 1000, leeway=leeway_seconds, now=now, **options)


def session(client: str, secret: str, **options: str) -> Any:
    return SESSION(objects[client], **store(options["store"]), secret=secret, now=now)


MAKE: dict[str, Callable[..., Any]] = {"client": client, "verifier": verifier, "session": session}


def called(on: str, call: str, args: Fields) -> Any:
    if call == "verifyEvent":
        return verify_event(**args, now=now)
    target = objects[on]
    if on == "session" and call in ("validate", "logout"):
        return target.call(getattr(objects["client"], call))
    name = METHODS.get(call) or {"verifyToken": "verify", "accessToken": "access_token"}.get(call, call)
    return getattr(target, name)(**args)


async def settled(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result


async def outcome(action: Callable[[], Any]) -> Fields:
    try:
        result = await settled(action())
    except Exception as error:
        return {"error": described(error), "printed": repr(error) + "".join(traceback.format_exception(error))}
    request_id = dwar_client.request_id(result)
    printed = "" if isinstance(result, str) else repr(result)
    found = vars(result) if isinstance(result, dwar_client.Event) else result
    return {"result": found, "request_id": request_id, "printed": printed}


def described(error: Exception) -> Fields:
    if isinstance(error, ValueError):
        return {"code": "ARGUMENT", "message": str(error)}
    if not isinstance(error, DwarError):
        return {"code": "UNEXPECTED", "message": repr(error)}
    fields = ("code", "status", "request_id", "retry_after", "remaining", "raw")
    cause = repr(error.__cause__) if error.__cause__ else None
    return {"cause": cause, **{name: getattr(error, name) for name in fields}, "message": str(error)}


async def at_once(count: int, action: Callable[[], Any]) -> list[Fields]:
    if ASYNCIO:
        return await asyncio.gather(*(outcome(action) for _ in range(count)))
    ready = threading.Barrier(count)

    def together(_: int) -> Fields:
        ready.wait()
        return run(outcome(action))

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(together, range(count)))


async def answer(message: Fields) -> Fields:
    global clock_seconds
    match message.pop("do"):
        case "reset":
            objects.clear()
            clock_seconds = 0
            return {}
        case "clock":
            clock_seconds = message["seconds"]
            return {}
        case "new":
            made = await outcome(lambda: MAKE[message["kind"]](**message["with"]))
            objects[message["as"]] = made.pop("result", None)
            return made
        case _:
            count = message.pop("at_once", None)
            all_ = await at_once(count or 1, lambda: called(**message))
            printed = all_[0]["printed"] + repr(objects.get(message["on"]))
            return {"all": all_, "printed": printed} if count else {**all_[0], "printed": printed}


async def main() -> None:
    # With asyncio the event loop goes on meanwhile, as in a backend.
    while line := await asyncio.to_thread(sys.stdin.readline) if ASYNCIO else sys.stdin.readline():
        print(json.dumps(await answer(json.loads(line))), flush=True)


# Without asyncio nothing suspends, so there is no event loop either.
(asyncio.run if ASYNCIO else run)(main())
