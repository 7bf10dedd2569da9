from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Collection

import idna

_PORT = r"(?::(?P<port>[1-9][0-9]{0,4}))?"
_NUMBER = r"(?:[0-9]+|0x[0-9a-f]*)"
"""A host whose last label is one is an IPv4 address or nothing."""
_NAME = rf"(?:[a-z0-9_-]+\.)*(?!{_NUMBER}(?:[:]|\Z))[a-z0-9_-]+"
_ORIGIN = re.compile(rf"(?P<scheme>https?)://(?:(?P<name>{_NAME})|\[(?P<ipv6>[0-9a-f:]+)\]|(?P<ipv4>[0-9.]+)){_PORT}")
_LOOPBACK = re.compile(rf"(?:localhost|.+\.localhost|127(?:\.[0-9]{{1,3}}){{3}}|\[::1\]){_PORT}")


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
    if not parts or not _is_ordinary_port(parts) or not _is_host(parts):
        return "is no origin as browsers send it, such as https://shop.example"
    if parts["scheme"] == "http" and not is_loopback(origin.removeprefix("http://")):
        return "is plain http, of which browsers keep no login, but for loopback such as http://localhost:3000"
    return None


def _is_ordinary_port(parts: re.Match[str]) -> bool:
    port = parts["port"]
    return port is None or (int(port) < 65536 and port != ("80" if parts["scheme"] == "http" else "443"))


def _is_host(parts: re.Match[str]) -> bool:
    if parts["name"]:
        return all(_is_label(label) for label in parts["name"].split("."))
    return _is_address(parts["ipv6"] or parts["ipv4"])


def _is_label(label: str) -> bool:
    """Whether browsers take it, by the validity criteria of UTS 46 section 4.1, which the URL standard asks for."""
    if not label.startswith("xn--"):
        return True
    encoded = label.removeprefix("xn--")
    try:
        text = encoded.encode().decode("punycode")
        return (
            not text.isascii()
            and text.encode("punycode").decode() == encoded
            and idna.uts46_remap(text, std3_rules=False) == text
            and not unicodedata.category(text[0]).startswith("M")
            and all(idna.valid_contextj(text, at) for at, char in enumerate(text) if char in "\u200c\u200d")
            and idna.check_bidi(text)
        )
    except (UnicodeError, ValueError):  # Those of idna are of the first kind.
        return False


def _is_address(text: str) -> bool:
    """Whether it is written as browsers write it."""
    try:
        return not text.startswith("::ffff:") and str(ipaddress.ip_address(text)) == text
    except ValueError:
        return False
