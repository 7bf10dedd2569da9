import { DwarError } from "./error.js";
import type { PublicKey, PublicKeys } from "./types.js";

export type Algorithm = "ES256" | "EdDSA" | "RS256";

/** What WebCrypto calls them. */
const PARAMETERS = {
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  EdDSA: { name: "Ed25519" },
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
};

const CACHED_MS = 300_000;
const ASKED_AGAIN_MS = 60_000;

interface VerifyingKey {
  alg: string;
  verifies(signature: Uint8Array<ArrayBuffer>, data: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

/** The published keys, fetched once however many callers wait. Keys that cannot be used are left out. */
export class KeySet {
  readonly #fetch: () => Promise<PublicKeys>;
  readonly #now: () => number;
  #keys: Map<string, VerifyingKey> | undefined;
  #fetchAgainAt = 0;
  #unknownAgainAt = 0;
  #fetching: Promise<void> | undefined;

  constructor(fetch: () => Promise<PublicKeys>, now: () => number) {
    this.#fetch = fetch;
    this.#now = now;
  }

  /** Rejects only while no set was ever fetched. */
  async find(kid: string): Promise<VerifyingKey | undefined> {
    if (!this.#keys || this.#now() >= this.#fetchAgainAt) await this.#refresh();
    if (!this.#keys?.has(kid)) await this.#askForUnknown();
    return this.#keys?.get(kid);
  }

  /** Whoever comes while the set is being fetched waits for it, since it may have the key. */
  async #askForUnknown(): Promise<void> {
    if (this.#now() < this.#unknownAgainAt) return this.#fetching;
    this.#unknownAgainAt = this.#now() + ASKED_AGAIN_MS;
    return this.#refresh();
  }

  #refresh(): Promise<void> {
    this.#fetching ??= this.#replace().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #replace(): Promise<void> {
    try {
      const { keys } = await this.#fetch();
      if (!Array.isArray(keys)) throw new DwarError("UNKNOWN_ERROR", "the answer is no key set", { status: 200 });
      const all = await Promise.all(keys.filter(isUsable).map((key) => imported(key).catch(() => undefined)));
      this.#keys = new Map(all.filter((key) => key !== undefined));
      this.#fetchAgainAt = this.#now() + CACHED_MS;
    } catch (error) {
      if (!this.#keys) throw error;
      this.#fetchAgainAt = this.#now() + ASKED_AGAIN_MS;
    }
  }
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
