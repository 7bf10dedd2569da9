import { KEYS } from "./client.js";
import { fromBase64Url, utf8, type Bytes } from "./encoding.js";
import { DwarError } from "./error.js";
import { KeySet, type Algorithm } from "./keys.js";
import { Transport, within, type CallOptions, type TransportOptions } from "./transport.js";
import type { PublicKeys } from "./types.js";

/** The header `typ` of an access token. */
export type TokenType = "at+jwt" | "JWT";

export interface VerifierOptions extends TransportOptions {
  /** The longest that fetching the keys may take in milliseconds: 5,000 by default. */
  timeoutMs?: number;
  /** The project's id. */
  audience: string;
  /** The service's setting `tokens.issuer`; `dwar` by default. */
  issuer?: string;
  /** `live` by default. Anyone with a test key can get a test token, so it proves nothing. */
  mode?: "live" | "test";
  /** The service's setting `tokens.algorithm`; by default only ES256. */
  algorithms?: readonly Algorithm[];
  /** The project's setting `token_type`; by default only `at+jwt`. */
  tokenTypes?: readonly TokenType[];
  /** How far the clocks of service and verifier may differ, in seconds, at most 300; 30 by default. */
  leewaySeconds?: number;
  /** Milliseconds since 1970; `Date.now` by default. */
  now?: () => number;
}

/**
 * Claims of an access token (RFC 9068), under their own names. `iat` and `exp` are seconds since 1970. Those that the project
 * adds are there too.
 */
export interface AccessClaims {
  iss: string;
  /** The project. */
  aud: string;
  /** The person: `identity_id`. */
  sub: string;
  /** The session: `session_id`. */
  sid: string;
  jti: string;
  mode: "live" | "test";
  iat: number;
  exp: number;
}

/**
 * Verifies access tokens without a call per token. It does not notice a logout or a refresh until the token expires;
 * where that matters, use `Dwar.validate`.
 *
 * Keep one for the life of the process: it caches the public keys for five minutes, fetches them for an unknown `kid`
 * at most once a minute, and uses the cached keys for up to an hour while the service does not answer within half a
 * second.
 */
export class TokenVerifier {
  readonly #expected: Record<string, string>;
  readonly #algorithms: readonly string[];
  readonly #mediaTypes: readonly string[];
  readonly #leewaySeconds: number;
  readonly #now: () => number;
  readonly #keys: KeySet;

  constructor(options: VerifierOptions) {
    const {
      audience,
      issuer = "dwar",
      mode = "live",
      algorithms = ["ES256"],
      tokenTypes = ["at+jwt"],
      timeoutMs = 5000,
      leewaySeconds = 30,
      now = Date.now,
    } = options;
    if (!audience) throw new TypeError("audience must be the project's id");
    if (!(leewaySeconds >= 0 && leewaySeconds <= 300)) throw new TypeError("leewaySeconds must lie between 0 and 300");
    const transport = new Transport({ ...options, timeoutMs });
    this.#expected = { iss: issuer, aud: audience, client_id: audience, mode };
    this.#algorithms = algorithms;
    this.#mediaTypes = tokenTypes.map(mediaType);
    this.#leewaySeconds = leewaySeconds;
    this.#now = now;
    this.#keys = new KeySet(() => transport.send<PublicKeys>(KEYS), timeoutMs, now);
  }

  /**
   * The claims of a token that is valid now. Rejects with `INVALID_ACCESS_TOKEN` and no status for any other token, and
   * with `NETWORK_ERROR`, `UNKNOWN_ERROR` or the service's refusal if its key is unknown and the key set could not be
   * fetched.
   */
  async verify(token: string, options: CallOptions = {}): Promise<AccessClaims> {
    return within(options, () => this.#verified(token));
  }

  async #verified(token: string): Promise<AccessClaims> {
    if (typeof token !== "string" || token.length > 4096) throw invalid("not a JWT");
    const [header = "", payload = "", signature = "", ...rest] = token.split(".", 4);
    if (rest.length > 0) throw invalid("not a JWT");
    const { alg, typ, kid, crit } = decode(header);
    if (typeof alg !== "string" || !this.#algorithms.includes(alg)) throw invalid("another algorithm");
    if (typeof typ !== "string" || !this.#mediaTypes.includes(mediaType(typ)) || crit !== undefined)
      throw invalid("not an access token");
    const key = typeof kid === "string" ? await this.#keys.find(kid) : undefined;
    if (!key || key.alg !== alg) throw invalid("no such key");
    if (!(await key.verifies(bytes(signature), utf8(`${header}.${payload}`)))) throw invalid("a wrong signature");
    return this.#checked(decode(payload));
  }

  #checked(claims: Record<string, unknown>): AccessClaims {
    for (const [name, value] of Object.entries(this.#expected)) {
      if (claims[name] !== value) throw invalid(`another ${name}`);
    }
    for (const name of ["sub", "sid", "jti"]) {
      if (typeof claims[name] !== "string") throw invalid(`no ${name}`);
    }
    const { iat, nbf = iat, exp } = claims;
    const now = this.#now() / 1000;
    if (!(typeof exp === "number" && exp > now - this.#leewaySeconds)) throw invalid("expired");
    if (!(typeof iat === "number" && iat <= now + this.#leewaySeconds)) throw invalid("issued in the future");
    if (!(typeof nbf === "number" && nbf <= now + this.#leewaySeconds)) throw invalid("not valid yet");
    return claims as unknown as AccessClaims;
  }
}

/**
 * Without the optional prefix `application/`, and in lower case, since case does not matter (RFC 7515 section 4.1.9).
 */
function mediaType(typ: string): string {
  return typ.toLowerCase().replace(/^application\//, "");
}

function invalid(reason: string): DwarError {
  return new DwarError("INVALID_ACCESS_TOKEN", `the access token is not valid: ${reason}`);
}

function bytes(part: string): Bytes {
  try {
    return fromBase64Url(part);
  } catch {
    throw invalid("not a JWT");
  }
}

function decode(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes(part)));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Refused below, like every value that is not an object.
  }
  throw invalid("not a JWT");
}
