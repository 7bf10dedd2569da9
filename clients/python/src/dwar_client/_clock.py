from __future__ import annotations

import time
from collections.abc import Callable


class ElapsedTime:
    """Elapsed seconds. A clock that is set back does not reduce it, and time counts during which the machine slept,
    unlike with many monotonic clocks."""

    def __init__(self, wall_now: Callable[[], float]) -> None:
        self._wall_now = wall_now
        # One tuple, so that no thread sees a half-updated value.
        self._last = (wall_now(), time.monotonic(), 0.0)

    def __call__(self) -> float:
        wall, monotonic, elapsed = self._last
        wall_now, monotonic_now = self._wall_now(), time.monotonic()
        elapsed += max(wall_now - wall, monotonic_now - monotonic)
        self._last = (wall_now, monotonic_now, elapsed)
        return elapsed
