import type { Dwar } from "./client.js";
import { hmacKey, toHex, utf8 } from "./encoding.js";
import { DwarError } from "./error.js";
import { Flight } from "./flight.js";
import { camelCased, snakeCased } from "./names.js";
import { withoutSecrets } from "./secrecy.js";
import { within, type CallOptions } from "./transport.js";
import type { Tokens } from "./types.js";

interface StoredTokens extends Omit<Tokens, "device"> {
  /** When the access token expires, in seconds since 1970 by the clock of your backend. */
  expiresAt: number;
}

export interface SessionOptions {
  /**
   * Reads the token pair of this session from the store that your processes share. If it returns nothing or no valid
   * pair, calls reject with `SESSION_EXPIRED`; its own rejection reaches the caller.
   */
  load: () => Promise<string | null | undefined>;
  /**
   * Replaces the stored pair: JSON, the same for the clients of all languages. Encrypt it if others can read the store.
   */
  save: (pair: string) => Promise<unknown>;
  /**
   * A secret of your backend, 32 characters or more, the same in all its processes. It makes the `Idempotency-Key` of a
   * refresh, so that processes that refresh at once get the same pair, but a thief of the refresh token does not.
   */
  secret: string;
  /** Milliseconds since 1970; `Date.now` by default. */
  now?: () => number;
}

/** An access token with less time left than this is refreshed before it is used. */
const EARLY_SECONDS = 10;
/** After this time a refresh is started again. It has the same key, and so gets the same answer. */
const LIMIT_MS = 10_000;

/**
 * The session of one person. It refreshes an expired access token once, no matter how many calls wait, and once over
 * all processes that share store and secret. When the session is over, calls reject with `SESSION_EXPIRED`: log in
 * again.
 */
export class Session {
  readonly #dwar: Dwar;
  readonly #load: SessionOptions["load"];
  readonly #save: SessionOptions["save"];
  readonly #secret: string;
  readonly #now: () => number;
  readonly #renewal = new Flight<StoredTokens>(LIMIT_MS);

  constructor(dwar: Dwar, { load, save, secret, now = Date.now }: SessionOptions) {
    if (!(secret.length >= 32)) throw new TypeError("secret must have 32 characters or more");
    this.#dwar = dwar;
    this.#load = load;
    this.#save = save;
    this.#secret = secret;
    this.#now = now;
  }

  /** Keeps the tokens of a login. */
  async begin(tokens: Tokens): Promise<void> {
    await this.#keep(tokens);
  }

  /** An access token that has not expired. */
  async accessToken(options: CallOptions = {}): Promise<string> {
    return within(options, () => this.#accessToken());
  }

  async #accessToken(): Promise<string> {
    const tokens = await this.#stored();
    if (this.#seconds() < tokens.expiresAt - EARLY_SECONDS) return tokens.accessToken;
    return (await this.#renew(tokens.accessToken)).accessToken;
  }

  /**
   * Calls with an access token, and once more with a fresh one if the first is refused:
   * `session.call((token) => dwar.validate(token))`.
   */
  async call<Answer>(use: (accessToken: string) => Promise<Answer>, options: CallOptions = {}): Promise<Answer> {
    return within(options, () => this.#call(use));
  }

  async #call<Answer>(use: (accessToken: string) => Promise<Answer>): Promise<Answer> {
    const token = await this.#accessToken();
    try {
      return await use(token);
    } catch (error) {
      if (!(error instanceof DwarError && error.code === "INVALID_ACCESS_TOKEN")) throw error;
    }
    return use((await this.#renew(token)).accessToken);
  }

  #renew(stale: string): Promise<StoredTokens> {
    return this.#renewal.join(() => this.#exchange(stale));
  }

  /**
   * Another process may have refreshed first and stored a new pair. A used refresh token that is presented later ends
   * the session.
   */
  async #exchange(stale: string): Promise<StoredTokens> {
    const tokens = await this.#stored();
    if (tokens.accessToken !== stale) return tokens;
    try {
      const idempotencyKey = await refreshKey(this.#secret, tokens.refreshToken);
      return await this.#keep(await this.#dwar.refresh(tokens.refreshToken, { idempotencyKey }));
    } catch (error) {
      if (!(error instanceof DwarError && error.code === "SESSION_EXPIRED")) throw error;
      const newer = await this.#stored();
      if (newer.accessToken === stale) throw error;
      return newer;
    }
  }

  async #stored(): Promise<StoredTokens> {
    const pair = await this.#load();
    if (!pair) throw new DwarError("SESSION_EXPIRED", "no session is stored");
    return withoutSecrets(pairOf(pair));
  }

  /** The device of a login belongs to its browser or app, not to the session. */
  async #keep({ device: _, ...tokens }: Tokens): Promise<StoredTokens> {
    const stored = withoutSecrets({ ...tokens, expiresAt: this.#seconds() + tokens.expiresIn });
    await this.#save(JSON.stringify(stored, snakeCased));
    return stored;
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000);
  }
}

function pairOf(pair: string): StoredTokens {
  try {
    const tokens = JSON.parse(pair, camelCased) as StoredTokens;
    if ([tokens.accessToken, tokens.refreshToken].every(isText) && typeof tokens.expiresAt === "number") return tokens;
  } catch {
    // Refused below, without quoting the stored text.
  }
  throw new DwarError("SESSION_EXPIRED", "the store has something other than a token pair");
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** The `Idempotency-Key` of a refresh, HMAC-SHA-256 in hexadecimal: clients in other languages make the same. */
export async function refreshKey(secret: string, refreshToken: string): Promise<string> {
  return toHex(await crypto.subtle.sign("HMAC", await hmacKey(utf8(secret)), utf8(refreshToken)));
}
