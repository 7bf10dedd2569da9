import { elapsedTime } from "./clock.js";
import type { Bytes } from "./encoding.js";
import { DwarError } from "./error.js";
import { Flight } from "./flight.js";
import type { PublicKey, PublicKeys } from "./types.js";

export type Algorithm = "ES256" | "EdDSA" | "RS256";

/** Names in WebCrypto. */
const PARAMETERS = {
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  EdDSA: { name: "Ed25519" },
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
};

const CACHED_MS = 300_000;
const ASKED_AGAIN_MS = 60_000;
/** How long a fetch may run before calls go on with stale keys. */
const PATIENCE_MS = 500;
/** Longest use of a fetched key set: older keys may have been withdrawn. */
const OLDEST_MS = 3_600_000;

interface VerifyingKey {
  alg: string;
  verifies(signature: Bytes, data: Bytes): Promise<boolean>;
}

type Keys = Map<string, VerifyingKey>;

/**
 * The published keys, fetched once, no matter how many callers wait. Keys that this version cannot use are left out.
 */
export class KeySet {
  readonly #fetch: () => Promise<PublicKeys>;
  readonly #now: () => number;
  readonly #flight: Flight<Keys>;
  #keys: Keys = new Map();
  #fetchedAt = -Infinity;
  #fetchAgainAt = 0;
  #unknownAgainAt = 0;
  /** Error of the last fetch, if it failed. */
  #failure: unknown;

  /** `limitMs` is the longest that a fetch takes. */
  constructor(fetch: () => Promise<PublicKeys>, limitMs: number, now: () => number) {
    this.#fetch = fetch;
    this.#now = elapsedTime(now);
    // Longer than the time limit of the fetch itself.
    this.#flight = new Flight(limitMs + 1000);
  }

  /**
   * Rejects without keys that were fetched within the last hour. Rejects for an unknown `kid` if the last fetch failed,
   * since the key may have been published meanwhile.
   */
  async find(kid: string): Promise<VerifyingKey | undefined> {
    if (this.#areTooOld()) await this.#flight.join(this.#replace);
    else if (this.#now() >= this.#fetchAgainAt) await this.#flight.joinFor(PATIENCE_MS, this.#replace);
    if (!this.#keys.has(kid)) await this.#askForUnknown();
    const key = this.#keys.get(kid);
    if (!key && this.#failure) throw this.#failure;
    return key;
  }

  /** Calls during a fetch wait for it, since the new set may contain the key. */
  async #askForUnknown(): Promise<void> {
    if (this.#now() >= this.#unknownAgainAt) this.#unknownAgainAt = this.#now() + ASKED_AGAIN_MS;
    else if (!this.#flight.isRunning) return;
    await this.#flight.join(this.#replace);
  }

  #areTooOld(): boolean {
    return this.#now() - this.#fetchedAt >= OLDEST_MS;
  }

  readonly #replace = async (): Promise<Keys> => {
    try {
      this.#keys = await usable(await this.#fetch());
      this.#fetchedAt = this.#now();
      this.#fetchAgainAt = this.#fetchedAt + CACHED_MS;
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error;
      if (this.#areTooOld()) throw error;
      this.#fetchAgainAt = this.#now() + ASKED_AGAIN_MS;
    }
    return this.#keys;
  };
}

/** Refuses a set without a usable key: the service always publishes one. */
async function usable({ keys }: PublicKeys): Promise<Keys> {
  const published = Array.isArray(keys) ? keys.filter(isUsable) : [];
  const all = await Promise.all(published.map((key) => imported(key).catch(() => undefined)));
  const found = new Map(all.filter((key) => key !== undefined));
  if (found.size === 0) throw new DwarError("UNKNOWN_ERROR", "the answer has no key that can be used", { httpStatus: 200 });
  return found;
}

function isUsable(key: PublicKey | null): key is PublicKey {
  return Object.hasOwn(PARAMETERS, key?.alg ?? "") && key?.use === "sig";
}

async function imported({ kid, alg, kty, crv, x, y, n, e }: PublicKey): Promise<[string, VerifyingKey]> {
  const parameters = PARAMETERS[alg as Algorithm];
  const present = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value != null);
  const key = await crypto.subtle.importKey("jwk", Object.fromEntries(present), parameters, false, ["verify"]);
  return [kid, { alg, verifies: (signature, data) => crypto.subtle.verify(parameters, key, signature, data) }];
}
