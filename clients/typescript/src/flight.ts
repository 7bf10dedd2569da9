/** Work that several callers wait for, one piece at a time. */
export class Flight<Result extends object> {
  readonly #limitMs: number;
  #running: { outcome: Promise<Result>; since: number } | undefined;

  /**
   * Work that runs for longer than the limit is abandoned, since it may never end: an edge runtime stops it together
   * with the request that started it.
   */
  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  get isRunning(): boolean {
    return this.#running !== undefined && this.#left(this.#running.since, this.#limitMs) > 0;
  }

  /** Waits for the running work, or starts this one. */
  async join(work: () => Promise<Result>): Promise<Result> {
    if (!this.isRunning) return this.#begin(work).outcome;
    return (await this.joinFor(this.#limitMs, work)) ?? this.join(work);
  }

  /** Like `join`, but returns nothing after this time, while the work continues. */
  async joinFor(patienceMs: number, work: () => Promise<Result>): Promise<Result | undefined> {
    const running = this.isRunning ? this.#running! : this.#begin(work);
    let timer: ReturnType<typeof setTimeout>;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, this.#left(running.since, patienceMs), undefined);
    });
    return Promise.race([running.outcome, late]).finally(() => clearTimeout(timer));
  }

  #begin(work: () => Promise<Result>): { outcome: Promise<Result>; since: number } {
    const over = () => {
      if (this.#running === running) this.#running = undefined;
    };
    const running = { outcome: work().finally(over), since: performance.now() };
    return (this.#running = running);
  }

  #left(since: number, limitMs: number): number {
    return Math.max(0, since + limitMs - performance.now());
  }
}
