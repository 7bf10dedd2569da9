/** Clocks jitter and drift by less, in milliseconds. */
const JUMP_MS = 1000;

/**
 * A clock of the time that has passed, in milliseconds; `wallNow` is in milliseconds since 1970. A clock that is set back takes
 * nothing away, and the time that a machine slept counts, for which many monotonic clocks stand still.
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
