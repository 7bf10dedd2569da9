from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn, Protocol, cast

from ._error import DwarError
from ._event_types import DwarEvent, Event
from ._text import json_object


class Headers(Protocol):
    """The headers of any web framework."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify_event(
    headers: Headers,
    body: str | bytes,
    *,
    secret: str | Sequence[str],
    tolerance: float = 300.0,
    now: Callable[[], float] = time.time,
) -> DwarEvent:
    """The event of a request that the service signed (Standard Webhooks). Otherwise `WEBHOOK_UNAUTHENTICATED`.

    `body` is the raw body, before it is parsed. `secret` is `whsec_…`; both secrets during a rotation. `tolerance`
    is how old or how far ahead the request may be, in seconds. `now` is in seconds since 1970.
    """
    keys = [_key(one) for one in ([secret] if isinstance(secret, str) else secret)]
    id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(now() - int(timestamp)) > tolerance:
        _refuse("its time is too far off")
    raw = _utf8(body) if isinstance(body, str) else body
    right = [_signature(key, _utf8(f"{id}.{timestamp}.") + raw) for key in keys]
    given = _utf8(_header(headers, "webhook-signature")).split(b" ")
    if not any(hmac.compare_digest(one, other) for one in given for other in right):
        _refuse("no signature is right")
    try:
        event = json_object(raw)
    except ValueError:
        _refuse("it is not JSON")
    found = Event(id, event.get("type", ""), event.get("timestamp", ""), event.get("data", {}))
    return cast(DwarEvent, found)


def _key(secret: str) -> bytes:
    prefix, _, text = secret.partition("_")
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        key = b""
    if prefix != "whsec" or not key:
        raise ValueError("secret must be whsec_ and base64")
    return key


def _signature(key: bytes, signed: bytes) -> bytes:
    return b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())


def _utf8(text: str) -> bytes:
    """A value that is not text matches no signature."""
    return text.encode(errors="replace")


def _header(headers: Headers, name: str) -> str:
    for key, value in headers.items():
        if key.lower() == name and value:
            return value
    _refuse(f"no {name}")


def _refuse(reason: str) -> NoReturn:
    raise DwarError("WEBHOOK_UNAUTHENTICATED", f"the request is not from the service: {reason}")
