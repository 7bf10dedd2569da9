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
    if (!this.#keys?.has(kid) && this.#now() >= this.#unknownAgainAt) {
      this.#unknownAgainAt = this.#now() + ASKED_AGAIN_MS;
      await this.#refresh();
    }
    return this.#keys?.get(kid);
  }

  #refresh(): Promise<void> {
    this.#fetching ??= this.#replace().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #replace(): Promise<void> {
    try {
      const { keys } = await this.#fetch();
      const all = await Promise.all(keys.filter(isUsable).map((key) => imported(key).catch(() => undefined)));
      this.#keys = new Map(all.filter((key) => key !== undefined));
      this.#fetchAgainAt = this.#now() + CACHED_MS;
    } catch (error) {
      if (!this.#keys) throw error;
      this.#fetchAgainAt = this.#now() + ASKED_AGAIN_MS;
    }
  }
}

function isUsable({ alg, use }: PublicKey): boolean {
  return Object.hasOwn(PARAMETERS, alg) && use === "sig";
}

async function imported({ kid, alg, kty, crv, x, y, n, e }: PublicKey): Promise<[string, VerifyingKey]> {
  const parameters = PARAMETERS[alg as Algorithm];
  const present = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value != null);
  const key = await crypto.subtle.importKey("jwk", Object.fromEntries(present), parameters, false, ["verify"]);
  return [kid, { alg, verifies: (signature, data) => crypto.subtle.verify(parameters, key, signature, data) }];
}
