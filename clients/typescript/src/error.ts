/** Every code that the service answers with. */
const SERVICE_CODES = [
  "MISSING_API_KEY",
  "INVALID_API_KEY",
  "RATE_LIMITED",
  "INVALID_PHONE",
  "INVALID_OTP_CODE",
  "OTP_RATE_LIMITED",
  "INSUFFICIENT_BALANCE",
  "SPEND_LIMIT_REACHED",
  "PROOF_REQUIRED",
  "SMS_FAILED",
  "OTP_REQUEST_NOT_FOUND",
  "OTP_NOT_FOUND",
  "INVALID_OTP",
  "VERIFY_RATE_LIMITED",
  "RELAY_DISABLED",
  "INVALID_FIELD",
  "MISSING_ACCESS_TOKEN",
  "MISSING_REFRESH_TOKEN",
  "INVALID_ACCESS_TOKEN",
  "SESSION_EXPIRED",
  "IDENTITY_LOOKUP_DISABLED",
  "IDENTITY_DELETE_DISABLED",
  "IDENTITY_NOT_FOUND",
  "EVENTS_FEED_DISABLED",
  "CURSOR_INVALIDATED",
  "CURSOR_EXPIRED",
  "INVALID_REQUEST",
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "IDEMPOTENCY_CONFLICT",
  "IDEMPOTENCY_KEY_REUSED",
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
  "WEBHOOK_UNAUTHENTICATED",
] as const;

export type ServiceCode = (typeof SERVICE_CODES)[number];
export type ErrorCode = ServiceCode | "NETWORK_ERROR" | "UNKNOWN_ERROR" | "ARGUMENT";

export interface ErrorDetails {
  httpStatus?: number | undefined;
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  remaining?: number | undefined;
  raw?: string | undefined;
  cause?: unknown;
}

const IS_DWAR_ERROR = Symbol.for("dwar-client.DwarError");

/**
 * Why a call failed. Programs use `code`; `message` is a sentence for people.
 *
 * An error that the client raised itself has no `httpStatus`: `INVALID_PHONE` (the text cannot be a number; nothing was
 * sent), `NETWORK_ERROR` (no whole answer within the time limit), `INVALID_ACCESS_TOKEN` of a `TokenVerifier`,
 * `WEBHOOK_UNAUTHENTICATED` of `verifyEvent` and `ARGUMENT` of a login without addresses. `UNKNOWN_ERROR` has the status
 * of an answer that this version of the client does not understand. `cause` is the reason of a `NETWORK_ERROR`.
 */
export class DwarError extends Error {
  override readonly name = "DwarError";
  readonly code: ErrorCode;
  /** Status of the answer. It is not named `status`, because Express would answer with that status. */
  readonly httpStatus: number | undefined;
  /** Id of the request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next try. */
  readonly retryAfter: number | undefined;
  /** Remaining guesses or sends, from `RateLimit-Remaining`. */
  readonly remaining: number | undefined;
  readonly #raw: string | undefined;

  /**
   * An application may load this package twice, by `import` and by `require`; each copy recognises the errors of the
   * other.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== DwarError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return value instanceof Error && IS_DWAR_ERROR in value;
  }

  static {
    Object.defineProperty(this.prototype, IS_DWAR_ERROR, { value: true });
  }

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : {});
    this.code = code;
    this.httpStatus = details.httpStatus;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.remaining = details.remaining;
    this.#raw = details.raw;
  }

  /** The body of the answer, for `UNKNOWN_ERROR`. It is not printed with the error, since it may contain a token. */
  get raw(): string | undefined {
    return this.#raw;
  }
}

export function isServiceCode(code: unknown): code is ServiceCode {
  return SERVICE_CODES.includes(code as ServiceCode);
}
