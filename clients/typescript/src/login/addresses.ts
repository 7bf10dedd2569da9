const SENDS = 5;
const WINDOW_MS = 600_000;
const ADDRESSES = 100_000;

/** Counts sends per address in any ten minutes. It keeps the newest 100,000 addresses. */
export class AddressLimit {
  readonly #now: () => number;
  readonly #sends = new Map<string, number[]>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Counts a send and gives back what uncounts it, or the seconds to wait if there is no room for it. */
  take(address: string): number | (() => void) {
    const key = network(address);
    const now = this.#now();
    const sends = (this.#sends.get(key) ?? []).filter((at) => at > now - WINDOW_MS);
    if (sends.length >= SENDS) return Math.ceil((sends[0]! + WINDOW_MS - now) / 1000);
    sends.push(now);
    this.#keep(key, sends);
    return () => this.#uncount(key, now);
  }

  #uncount(key: string, at: number): void {
    const sends = this.#sends.get(key) ?? [];
    const index = sends.indexOf(at);
    if (index >= 0) sends.splice(index, 1);
  }

  /** A map keeps the order of insertion, so the first entry is the one that was used longest ago. */
  #keep(key: string, sends: number[]): void {
    this.#sends.delete(key);
    this.#sends.set(key, sends);
    if (this.#sends.size > ADDRESSES) this.#sends.delete(this.#sends.keys().next().value!);
  }
}

/** An IPv4 address, also one that is written as IPv6, or the first 64 bits of an IPv6 address. */
function network(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address);
  if (mapped) return mapped[1]!;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.toLowerCase().split("%", 1)[0]!.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(Math.max(0, zeros)).fill("0"), ...after];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}
