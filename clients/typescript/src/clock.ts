/**
 * Time that has passed, in milliseconds. A clock that is set back takes nothing away, and the time that a machine slept
 * counts, for which many monotonic clocks stand still.
 */
export class ElapsedTime {
  readonly #wallNow: () => number;
  #wall: number;
  #monotonic = performance.now();
  #elapsed = 0;

  /** `wallNow` is in milliseconds since 1970. */
  constructor(wallNow: () => number) {
    this.#wallNow = wallNow;
    this.#wall = wallNow();
  }

  now(): number {
    const [wall, monotonic] = [this.#wallNow(), performance.now()];
    this.#elapsed += Math.max(wall - this.#wall, monotonic - this.#monotonic);
    [this.#wall, this.#monotonic] = [wall, monotonic];
    return this.#elapsed;
  }
}
