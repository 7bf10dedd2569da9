from __future__ import annotations

import time
from collections.abc import Callable


class ElapsedTime:
    """Seconds that have passed. A clock that is set back takes nothing away, and the time that a machine slept counts,
    for which many monotonic clocks stand still."""

    def __init__(self, wall_now: Callable[[], float]) -> None:
        self._wall_now = wall_now
        # One value, so that threads never see a part of the next.
        self._last = (wall_now(), time.monotonic(), 0.0)

    def __call__(self) -> float:
        wall, monotonic, elapsed = self._last
        wall_now, monotonic_now = self._wall_now(), time.monotonic()
        elapsed += max(wall_now - wall, monotonic_now - monotonic)
        self._last = (wall_now, monotonic_now, elapsed)
        return elapsed
