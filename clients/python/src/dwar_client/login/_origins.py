from __future__ import annotations

import re
from collections.abc import Collection

_ORIGIN = re.compile(
    r"(?!https:.*:443\Z|http:.*:80\Z)(https?)://((?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:]+\])(?::[1-9][0-9]{0,4})?"
)
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_LOOPBACK = re.compile(rf"(?:(?:.+\.)?localhost|127(?:\.{_BYTE}){{3}}|\[::1\])(?::[0-9]+)?")


def is_loopback(host: str) -> bool:
    """Whether browsers keep `Secure` cookies of this host over plain http; a port may follow it."""
    return _LOOPBACK.fullmatch(host) is not None


def refuse_wrong_origins(origins: Collection[str]) -> None:
    """Refuses an origin that is not in the form in which browsers send it, or whose pages cannot keep the cookies.
    clients/login/README.md has the rule."""
    if isinstance(origins, str) or not origins:
        raise ValueError("origins must be a list of at least one, such as https://shop.example")
    for origin in origins:
        fault = _fault(str(origin))
        if fault:
            raise ValueError(f'origins: "{origin}" {fault}')


def _fault(origin: str) -> str | None:
    if re.match("(capacitor|ionic):", origin):
        return "is an app, whose web view keeps no cookies of yours: let it call by native HTTP, such as CapacitorHttp"
    parts = _ORIGIN.fullmatch(origin)
    if not parts:
        return "is not an origin as browsers send it, such as https://shop.example"
    if parts[1] == "http" and not is_loopback(parts[2]):
        return "is plain http, of which browsers keep no login, but for loopback such as http://localhost:3000"
    return None
