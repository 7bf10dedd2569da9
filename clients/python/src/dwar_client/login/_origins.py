from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection

_ORIGIN = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:]+\]|(?:[a-z0-9_-]+\.)*[a-z0-9_-]+)(?::(?P<port>[1-9][0-9]{0,4}))?"
)
_ADDRESS = re.compile(r"\[.*|(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
"""A name whose last label is a number is an IPv4 address or nothing."""
_LOOPBACK = re.compile(r"(?:localhost|.+\.localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[1-9][0-9]{0,4})?")


def is_loopback(host: str) -> bool:
    """Whether browsers keep `Secure` cookies of this host over plain http; a port may follow it."""
    return _LOOPBACK.fullmatch(host) is not None


def refuse_wrong_origins(origins: Collection[str]) -> None:
    """Refuses what no browser sends as the origin of a page that can keep the cookies. clients/login/README.md has the
    rule."""
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
    if not parts or not _is_ordinary(parts["host"], parts["port"], "80" if parts["scheme"] == "http" else "443"):
        return "is no origin as browsers send it, such as https://shop.example"
    if parts["scheme"] == "http" and not is_loopback(parts["host"]):
        return "is plain http, of which browsers keep no login, but for loopback such as http://localhost:3000"
    return None


def _is_ordinary(host: str, port: str | None, omitted: str) -> bool:
    """Whether browsers write it so."""
    if port and (port == omitted or int(port) > 65535):
        return False
    if not _ADDRESS.fullmatch(host):
        return True
    text = host.strip("[]")
    try:
        return not text.startswith("::ffff:") and str(ipaddress.ip_address(text)) == text
    except ValueError:
        return False
