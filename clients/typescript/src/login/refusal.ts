import { DwarError } from "../error.js";

/** Failures that the person can correct or has to know. Every other failure of a call becomes `LOGIN_UNAVAILABLE`. */
const PASSED_ON = [
  "INVALID_PHONE",
  "INVALID_OTP_CODE",
  "INVALID_OTP",
  "OTP_NOT_FOUND",
  "OTP_RATE_LIMITED",
  "PROOF_REQUIRED",
  "VERIFY_RATE_LIMITED",
  "SESSION_EXPIRED",
];

/** A refusal, or the report of a failure. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;
  readonly requestId: string | undefined;

  constructor(status: number, code: string, message: string, headers = {}, requestId?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.requestId = requestId;
  }
}

/** The refusal that the person gets for a failed call of the service. */
export function refusalOf({ code, message, httpStatus, retryAfter, requestId }: DwarError): Refusal {
  const headers = retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) };
  if (!PASSED_ON.includes(code))
    return new Refusal(503, "LOGIN_UNAVAILABLE", "Login is not possible at the moment.", headers, requestId);
  // Without a status, the client itself refused text that cannot be a phone number, as the service would.
  if (httpStatus === undefined) return new Refusal(422, code, "The phone number is not a valid Indian mobile number.");
  return new Refusal(httpStatus, code, message, headers, requestId);
}

export const originRefused = () => new Refusal(403, "ORIGIN_REFUSED", "This page may not log in here.");
export const httpsRequired = () =>
  new Refusal(
    403,
    "HTTPS_REQUIRED",
    "Open this page with https to log in: without it the browser does not keep the login.",
  );
export const tooManySends = (seconds: number) =>
  new Refusal(429, "TOO_MANY_SENDS", "Too many codes were requested from this address.", {
    "Retry-After": String(seconds),
  });
