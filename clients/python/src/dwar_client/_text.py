"""Parsers of standard text formats. Any other text raises `ValueError`."""

from __future__ import annotations

import base64
import json
import re
from typing import NoReturn

from ._types import Answer


def json_object(text: str | bytes) -> Answer:
    try:
        value = json.loads(text, object_hook=Answer, parse_constant=_no_json)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, Answer):
        raise ValueError("not an object")
    return value


def _no_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def from_base64url(text: str) -> bytes:
    """Without padding, RFC 7515 section 2."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise ValueError("not base64url")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def visible_ascii(name: str, value: str) -> str:
    """The message does not contain the value, which may be a key with a line break at its end."""
    if not re.fullmatch(r"[!-~]{1,255}", value):
        raise ValueError(f"{name} must be 1 to 255 visible ASCII characters")
    return value
