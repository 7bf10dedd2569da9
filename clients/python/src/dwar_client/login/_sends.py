from __future__ import annotations

import ipaddress
import math
import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from ._http import Refusal

_SECONDS = 600
_ADDRESSES = 100_000
_PORT = re.compile(r"\[(?P<ipv6>[^\]]*)\](:[0-9]+)?|(?P<ipv4>[0-9.]+):[0-9]+")


class SendLimit:
    """Limits the sends per network in any ten minutes, in the memory of this process. Above 100,000 networks it
    forgets those that sent least recently."""

    def __init__(self, most: int, now: Callable[[], float] = time.monotonic) -> None:
        if most < 1:
            raise ValueError("sends_per_address must be 1 or more")
        self._most = most
        self._now = now
        self._locks: dict[int, threading.Lock] = {}
        self._sends: OrderedDict[bytes, list[float]] = OrderedDict()

    def _lock(self) -> threading.Lock:
        """One lock per process: in a fork, the lock of the parent may be held by a thread that does not exist there."""
        return self._locks.setdefault(os.getpid(), threading.Lock())

    def take(self, network: bytes) -> float:
        """Counts a send; the result can take it back. Raises `TOO_MANY_SENDS`."""
        now = self._now()
        with self._lock():
            sends = [moment for moment in self._sends.get(network, ()) if moment > now - _SECONDS]
            if len(sends) >= self._most:
                raise Refusal(
                    429,
                    "TOO_MANY_SENDS",
                    "Too many codes were requested from this address.",
                    retry_after=math.ceil(sends[0] + _SECONDS - now),
                )
            self._sends[network] = [*sends, now]
            self._sends.move_to_end(network)
            if len(self._sends) > _ADDRESSES:
                self._sends.popitem(last=False)
        return now

    def give_back(self, network: bytes, taken: float) -> None:
        with self._lock():
            sends = self._sends.get(network, [])
            if taken in sends:
                sends.remove(taken)


def address_of(network: bytes) -> str:
    """The network of `network_of` as an address, as the service takes it."""
    return str(ipaddress.ip_address(network if len(network) == 4 else network.ljust(16, b"\0")))


def network_of(address: str | None) -> bytes | None:
    """An IPv4 address, also one that is written as IPv6, or the first 64 bits of an IPv6 address. A port is left
    out. Nothing if the text is not an address."""
    text = (address or "").strip()
    with_port = _PORT.fullmatch(text)
    try:
        ip = ipaddress.ip_address((with_port["ipv6"] or with_port["ipv4"]) if with_port else text)
    except ValueError:
        return None
    if isinstance(ip, ipaddress.IPv6Address):
        return ip.ipv4_mapped.packed if ip.ipv4_mapped else ip.packed[:8]
    return ip.packed
