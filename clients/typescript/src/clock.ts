/** Milliseconds. Clocks jitter and drift by less than this. */
const JUMP_MS = 1000;

/**
 * Returns a clock of the elapsed time, in milliseconds; `wallNow` is in milliseconds since 1970. A clock that is set
 * back does not reduce it, and time counts during which the machine slept, unlike with many monotonic clocks.
 */
export function elapsedTime(wallNow: () => number): () => number {
  let ahead = wallNow() - performance.now();
  let missed = 0;
  return () => {
    const monotonic = performance.now();
    const jump = wallNow() - monotonic - ahead;
    if (Math.abs(jump) >= JUMP_MS) {
      missed += Math.max(0, jump);
      ahead += jump;
    }
    return monotonic + missed;
  };
}
