/** Clocks jitter and drift by less, in milliseconds. */
const JUMP_MS = 1000;

/**
 * Time that has passed, in milliseconds. A clock that is set back takes nothing away, and the time that a machine slept
 * counts, for which many monotonic clocks stand still.
 */
export class ElapsedTime {
  readonly #wallNow: () => number;
  /** How far the clock is ahead of the monotonic one. */
  #ahead: number;
  /** What the monotonic clock has missed. */
  #missed = 0;

  /** `wallNow` is in milliseconds since 1970. */
  constructor(wallNow: () => number) {
    this.#wallNow = wallNow;
    this.#ahead = wallNow() - performance.now();
  }

  now(): number {
    const monotonic = performance.now();
    const jump = this.#wallNow() - monotonic - this.#ahead;
    if (Math.abs(jump) >= JUMP_MS) {
      this.#missed += Math.max(0, jump);
      this.#ahead += jump;
    }
    return monotonic + this.#missed;
  }
}
