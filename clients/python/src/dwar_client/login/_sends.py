from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from ._http import Refusal

_SENDS = 5
_SECONDS = 600
_ADDRESSES = 100_000


class SendLimit:
    """At most five sends in any ten minutes per IPv4 address or IPv6 /64, in the memory of this process. Of more than
    100,000 addresses it forgets those that sent least recently."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._sends: OrderedDict[bytes | str, list[float]] = OrderedDict()

    def take(self, address: str) -> float:
        """Counts a send, which can be given back. Raises `TOO_MANY_SENDS`."""
        network, now = _network(address), self._now()
        with self._lock:
            sends = [moment for moment in self._sends.get(network, ()) if moment > now - _SECONDS]
            if len(sends) == _SENDS:
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

    def give_back(self, address: str, taken: float) -> None:
        network = _network(address)
        with self._lock:
            sends = self._sends.get(network, [])
            if taken in sends:
                sends.remove(taken)


def _network(address: str) -> bytes | str:
    """Whoever has one IPv6 address has its /64. What is no address, as with a test client, stands for itself."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        return ip.ipv4_mapped.packed if ip.ipv4_mapped else ip.packed[:8]
    return ip.packed
