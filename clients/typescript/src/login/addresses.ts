const WINDOW_MS = 600_000;
const ADDRESSES = 100_000;

/** Counts sends per address in any ten minutes. It keeps the newest 100,000 addresses. */
export class AddressLimit {
  readonly #most: number;
  readonly #now: () => number;
  readonly #sends = new Map<string, number[]>();

  constructor(most: number, now: () => number = () => performance.now()) {
    this.#most = most;
    this.#now = now;
  }

  /** Counts a send and returns a function that takes it back, or the seconds to wait if the limit is reached. */
  take(network: string): number | (() => void) {
    const now = this.#now();
    const sends = (this.#sends.get(network) ?? []).filter((at) => at > now - WINDOW_MS);
    if (sends.length >= this.#most) return Math.ceil((sends[0]! + WINDOW_MS - now) / 1000);
    sends.push(now);
    this.#keep(network, sends);
    return () => this.#uncount(network, now);
  }

  #uncount(network: string, at: number): void {
    const sends = this.#sends.get(network) ?? [];
    const index = sends.indexOf(at);
    if (index >= 0) sends.splice(index, 1);
  }

  /** A map keeps the order of insertion, so the first entry is the least recently used one. */
  #keep(network: string, sends: number[]): void {
    this.#sends.delete(network);
    this.#sends.set(network, sends);
    if (this.#sends.size > ADDRESSES) this.#sends.delete(this.#sends.keys().next().value!);
  }
}

/**
 * An IPv4 address, also one that is written as IPv6, or the first 64 bits of an IPv6 address. A port is left out.
 * Nothing if the text is not an address.
 */
export function networkOf(address: string | null | undefined): string | undefined {
  const text = (address ?? "").trim();
  const [, ipv4] = /^([0-9]{1,3}(?:\.[0-9]{1,3}){3})(?::[0-9]+)?$/.exec(text) ?? [];
  if (ipv4) return ipv4.split(".").every((part) => part === String(Number(part)) && Number(part) < 256) ? ipv4 : undefined;
  const [, bracketed, bare] = /^(?:\[([0-9a-f:.]+)(?:%[^\]]*)?\](?::[0-9]+)?|([0-9a-f:.]+)(?:%.*)?)$/i.exec(text) ?? [];
  const url = `http://[${bracketed ?? bare}]/`;
  return URL.canParse(url) ? ofIpv6(new URL(url).hostname.slice(1, -1)) : undefined;
}

/** The network of `networkOf` as an address, as the service takes it. */
export function addressOf(network: string): string {
  return network.includes(":") ? `${network}::` : network;
}

/** `address` is as URLs have it: in groups of four hexadecimal digits, with `::` for the longest run of zeros. */
function ofIpv6(address: string): string {
  const [before = [], after = []] = address.split("::").map((half) => half.split(":").filter(Boolean));
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
  if (!/^(0,){5}ffff,/.test(groups.join())) return groups.slice(0, 4).join(":");
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((pair) => [pair >> 8, pair & 255])
    .join(".");
}
