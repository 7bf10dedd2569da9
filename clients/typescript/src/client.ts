import { DwarError } from "./error.js";
import { Transport, type CallOptions, type Operation, type TransportOptions } from "./transport.js";
import type {
  AccessBody,
  Answer,
  CheckedCode,
  CodeStatus,
  DeletedIdentity,
  EndedSession,
  Identity,
  LiveSession,
  PublicKeys,
  RefreshBody,
  RelayBody,
  SandboxMessages,
  SendBody,
  SentCode,
  Tokens,
  VerifyBody,
} from "./types.js";

export interface DwarOptions extends TransportOptions {
  /** `svc_live_…` or `svc_test_…`. It belongs on a server, never in a page or an app. */
  apiKey: string;
}

export interface WriteOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters, the same for every repetition of one send, relay or refresh. Without it, each
   * call makes its own key for its own repetitions.
   */
  idempotencyKey?: string;
}

/**
 * Calls a Dwar service. Every method rejects with a `DwarError`.
 *
 * Operations that are safe to repeat are sent up to three times within the time limit, after `Retry-After` or a quarter
 * and half a second: reads, `validate`, and `send`, `relay` and `refresh` with the same `Idempotency-Key`. `verify`,
 * `check`, `logout` and `deleteIdentity` are sent once, since a lost answer may have taken effect.
 */
export class Dwar {
  readonly #transport: Transport;
  readonly #apiKey: string;

  constructor({ apiKey, ...options }: DwarOptions) {
    if ("document" in globalThis) throw new TypeError("an API key does not belong in a page; use dwar-client/form");
    this.#apiKey = visibleAscii("apiKey", apiKey);
    this.#transport = new Transport(options);
  }

  /** Sends a new code, which replaces the phone's current one. */
  async send(body: SendBody, { idempotencyKey, ...options }: WriteOptions = {}): Promise<Answer<SentCode>> {
    return this.#write("/v1/otp/send", phoned(body), "otpId", options, idempotencyKey ?? crypto.randomUUID());
  }

  /** Sends a code that you make and verify yourself. */
  async relay(body: RelayBody, { idempotencyKey, ...options }: WriteOptions = {}): Promise<Answer<SentCode>> {
    return this.#write("/v1/otp/relay", phoned(body), "otpId", options, idempotencyKey ?? crypto.randomUUID());
  }

  /** The status of a send so far. */
  async status(otpId: string, options?: CallOptions): Promise<Answer<CodeStatus>> {
    return this.#call("GET", `/v1/otp/status/${encodeURIComponent(otpId)}`, "otpId", options);
  }

  /** Verifies the code that the person entered. The right code is accepted once and starts a session. */
  async verify(body: VerifyBody, options?: CallOptions): Promise<Answer<Tokens>> {
    return this.#write("/v1/otp/verify", phoned(body), "accessToken", options);
  }

  /** Verifies the code that the person entered, without starting a session. The right code is accepted once. */
  async check(body: VerifyBody, options?: CallOptions): Promise<Answer<CheckedCode>> {
    return this.#write("/v1/otp/check", phoned(body), "verified", options);
  }

  /** Asks the service whether an access token is valid now. Rejects if it is not. */
  async validate(accessToken: string, options?: CallOptions): Promise<Answer<LiveSession>> {
    const body: AccessBody = { accessToken };
    return this.#call("POST", "/v1/session/validate", "valid", options, { body, repeatable: true });
  }

  /**
   * Exchanges a refresh token for a new pair; both old tokens stop working at once. `Session` does this for you, once
   * for all calls that wait.
   */
  async refresh(refreshToken: string, { idempotencyKey, ...options }: WriteOptions = {}): Promise<Answer<Tokens>> {
    const body: RefreshBody = { refreshToken };
    return this.#write("/v1/session/refresh", body, "accessToken", options, idempotencyKey ?? crypto.randomUUID());
  }

  /** Ends the session of an access token: both of its tokens stop working at once. */
  async logout(accessToken: string, options?: CallOptions): Promise<Answer<EndedSession>> {
    const body: AccessBody = { accessToken };
    return this.#write("/v1/session/logout", body, "revoked", options);
  }

  async identity(id: string, options?: CallOptions): Promise<Answer<Identity>> {
    return this.#call("GET", `/v1/identity/${encodeURIComponent(id)}`, "id", options);
  }

  async identityByPhone(phone: string, options?: CallOptions): Promise<Answer<Identity>> {
    return this.#call("GET", `/v1/identity?phone=${encodeURIComponent(phoned({ phone }).phone)}`, "id", options);
  }

  /** Erases a person and their sessions. */
  async deleteIdentity(id: string, options?: CallOptions): Promise<Answer<DeletedIdentity>> {
    return this.#call("DELETE", `/v1/identity/${encodeURIComponent(id)}`, "deleted", options);
  }

  /** With a test key: the messages to this phone that were not sent, newest first, at most 50. */
  async sandboxMessages(phone: string, options?: CallOptions): Promise<Answer<SandboxMessages>> {
    return this.#call("GET", `/v1/sandbox/messages?phone=${encodeURIComponent(phoned({ phone }).phone)}`, "messages", options);
  }

  /** The public keys of access tokens; `TokenVerifier` caches them. */
  async keys(options?: CallOptions): Promise<Answer<PublicKeys>> {
    return this.#transport.send(KEYS, options);
  }

  async #write<Body>(
    path: string,
    body: object,
    answers: string,
    options?: CallOptions,
    idempotencyKey?: string,
  ): Promise<Answer<Body>> {
    if (idempotencyKey === undefined) return this.#call("POST", path, answers, options, { body });
    const headers = { "Idempotency-Key": visibleAscii("idempotencyKey", idempotencyKey) };
    return this.#call("POST", path, answers, options, { body, headers, repeatable: true });
  }

  async #call<Body>(
    method: Operation["method"],
    path: string,
    answers: string,
    options?: CallOptions,
    more: Partial<Operation> = {},
  ): Promise<Answer<Body>> {
    const headers = { "X-Api-Key": this.#apiKey, ...more.headers };
    return this.#transport.send({ method, path, answers, repeatable: method === "GET", ...more, headers }, options);
  }
}

/** The only operation that needs no API key. */
export const KEYS = { method: "GET", path: "/.well-known/jwks.json", answers: "keys", repeatable: true } as const;

/**
 * Refuses text that cannot be a phone number before anything is sent. Only the service knows which numbers are valid.
 */
function phoned<Body extends { phone: string }>(body: Body): Body {
  if (!/^\+?[0-9]+$/.test(body.phone))
    throw new DwarError("INVALID_PHONE", "a phone number is digits alone, with or without +91");
  return body;
}

/** The message does not contain the value, which may be a key with a line break at its end. */
function visibleAscii(name: string, value: string): string {
  if (typeof value !== "string" || !/^[!-~]{1,255}$/.test(value)) throw new TypeError(`${name} must be 1 to 255 visible ASCII characters`);
  return value;
}
