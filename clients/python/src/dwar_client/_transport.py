from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast, get_args

import httpx

from ._error import DwarError, ServiceCode
from ._text import json_object
from ._types import Answer
from ._version import __version__
from ._waiting import LOOPBACK, TIMEOUTS, Request, Waiting

Answered = TypeVar("Answered")

_SERVICE_CODES = get_args(ServiceCode)
_USER_AGENT = f"dwar-client/{__version__} (python)"
_TRIES = 3
_FIRST_WAIT_SECONDS = 0.25
_REPEATED_STATUSES = (409, 429, 500, 502, 503, 504)
# Any other 429 or 409 is an answer for the person, or final.
_REPEATED_CODES = ("RATE_LIMITED", "IDEMPOTENCY_CONFLICT", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "UNKNOWN_ERROR")


@dataclass(frozen=True, repr=False)
class Operation(Generic[Answered]):
    answer: type[Answered]
    answers: str
    """The field that a complete answer has, with a value other than `False`."""
    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    repeatable: bool = False
    """Whether it is safe to send again when the outcome of a try is unknown."""


class Transport:
    """Sends operations to one service within a time limit, and repeats those that are safe to repeat."""

    def __init__(self, waiting: Waiting, url: str, timeout: float) -> None:
        if not 0 < timeout <= 600:
            raise ValueError("timeout must lie between 0 and 600 seconds")
        self._waiting = waiting
        self._url = _service_url(url)
        self._timeout = timeout

    async def send(self, operation: Operation[Answered]) -> Answered:
        deadline = time.monotonic() + self._timeout
        headers, content = {"User-Agent": _USER_AGENT, **operation.headers}, None
        if operation.body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(operation.body).encode()
        request = Request(operation.method, self._url + operation.path, headers, content)
        tries = 1
        while True:
            try:
                answer = await self._send_once(request, operation.answers, deadline)
                return cast(Answered, answer)
            except DwarError as error:
                if tries == _TRIES or not operation.repeatable or not _may_pass(error):
                    raise
                wait = _backoff(tries) if error.retry_after is None else error.retry_after
                if time.monotonic() + wait >= deadline:
                    raise
            await self._waiting.sleep(wait)
            tries += 1

    async def _send_once(self, request: Request, answers: str, deadline: float) -> Answer:
        try:
            response, body = await self._waiting.answer(request, max(0.0, deadline - time.monotonic()))
        except TIMEOUTS as error:
            raise DwarError("NETWORK_ERROR", "no answer within the time limit") from error
        except (httpx.HTTPError, OSError) as error:
            raise DwarError("NETWORK_ERROR", "the request did not complete") from error
        try:
            answer = json_object(body)
        except ValueError:
            answer = Answer()
        if response.status_code == 200 and answer.get(answers) not in (None, False, ""):
            answer.request_id = response.headers.get("X-Request-Id")
            return answer
        raise _refusal(response, answer, body)


def _refusal(response: httpx.Response, answer: Answer, body: bytes) -> DwarError:
    if response.status_code >= 400 and answer.get("code") in _SERVICE_CODES:
        sentence = answer.get("error")
        error = DwarError(answer["code"], sentence if isinstance(sentence, str) else "the service refused")
    else:
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        what = f"status {response.status_code}"
        if re.fullmatch(r"[\w.+-]{1,60}/[\w.+-]{1,60}", kind, re.ASCII):
            what += f", {kind}"
        error = DwarError("UNKNOWN_ERROR", f"an answer that this version of the client does not know: {what}")
        error.raw = body.decode(errors="replace")
    error.status = response.status_code
    error.request_id = response.headers.get("X-Request-Id")
    error.retry_after = _whole_number(response.headers.get("Retry-After"))
    error.remaining = _whole_number(response.headers.get("RateLimit-Remaining"))
    return error


def _whole_number(header: str | None) -> int | None:
    return int(header) if header and re.fullmatch(r"[0-9]{1,9}", header) else None


def _may_pass(error: DwarError) -> bool:
    if error.status is None:
        return error.code == "NETWORK_ERROR"
    return error.status in _REPEATED_STATUSES and error.code in _REPEATED_CODES


def _backoff(tries: int) -> float:
    """Doubles with each try; the random half keeps many clients from retrying at the same moment."""
    return _FIRST_WAIT_SECONDS * (1 << (tries - 1)) * random.uniform(0.5, 1)


def _service_url(text: str) -> str:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        raise ValueError("url is not a URL") from None
    loopback = LOOPBACK.fullmatch(url.host)
    if not url.host or not (url.scheme == "https" or (url.scheme == "http" and loopback)):
        raise ValueError("url must be https, or http on loopback")
    if url.userinfo or "?" in text or "#" in text:
        raise ValueError("url must not have a user, a password, a query or a fragment")
    return str(url).rstrip("/")
