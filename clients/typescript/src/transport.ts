import { DwarError, isServiceCode } from "./error.js";
import { withoutSecrets } from "./secrecy.js";

export interface TransportOptions {
  /** Address of the service, such as `https://otp.example.com`; plain http only on loopback. */
  url: string;
  /** The longest that one call may take in milliseconds, repetitions and waits included: 30,000 by default. */
  timeoutMs?: number;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

export interface Operation {
  method: "GET" | "POST" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: object;
  /** May be sent again when the outcome of a try is unknown. */
  repeatable: boolean;
  /** The field that an answer must have to be understood, and not as `false`. */
  answers: string;
}

const TRIES = 3;
const FIRST_WAIT_MS = 250;
const REPEATED_STATUSES = [409, 429, 500, 502, 503, 504];
/** A 429 or 409 that is not one of these is an answer for the person, or final. */
const REPEATED_CODES = [
  "RATE_LIMITED",
  "IDEMPOTENCY_CONFLICT",
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
  "UNKNOWN_ERROR",
];

/** Sends operations to one service, within a time limit, and repeats what may be repeated. */
export class Transport {
  readonly #url: string;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  constructor({ url, timeoutMs = 30_000, fetch = globalThis.fetch }: TransportOptions) {
    if (!(timeoutMs > 0 && timeoutMs <= 600_000)) throw new TypeError("timeoutMs must lie between 1 and 600,000");
    this.#url = serviceUrl(url);
    this.#timeoutMs = timeoutMs;
    this.#fetch = (...request) => fetch(...request);
  }

  async send<Answer>(operation: Operation): Promise<Answer> {
    const deadline = performance.now() + this.#timeoutMs;
    for (let tries = 1; ; tries++) {
      try {
        return (await this.#sendOnce(operation, deadline)) as Answer;
      } catch (error) {
        if (!(error instanceof DwarError) || tries === TRIES || !operation.repeatable || !mayPass(error)) throw error;
        const wait = error.retryAfter === undefined ? backoff(tries) : error.retryAfter * 1000;
        if (performance.now() + wait >= deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  async #sendOnce({ method, path, headers, body, answers }: Operation, deadline: number): Promise<unknown> {
    let response: Response;
    let text: string;
    try {
      response = await this.#fetch(this.#url + path, {
        method,
        headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
        body: body ? JSON.stringify(body) : null,
        // A redirect would take the API key to another address.
        redirect: "manual",
        signal: AbortSignal.timeout(Math.max(0, Math.ceil(deadline - performance.now()))),
      });
      text = await response.text();
    } catch {
      const late = performance.now() >= deadline;
      throw new DwarError("NETWORK_ERROR", late ? "no answer within the time limit" : "the request did not complete");
    }
    const answer = parse(text);
    if (response.status === 200 && answer && answer[answers]) return withoutSecrets(answer);
    throw refusal(response, answer, text);
  }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function refusal(response: Response, answer: Record<string, unknown> | undefined, raw: string): DwarError {
  const details = {
    status: response.status,
    requestId: response.headers.get("X-Request-Id") ?? undefined,
    retryAfter: wholeNumber(response.headers.get("Retry-After")),
    remaining: wholeNumber(response.headers.get("RateLimit-Remaining")),
  };
  const code = answer?.["code"];
  return response.status >= 400 && isServiceCode(code)
    ? new DwarError(code, sentence(answer), details)
    : new DwarError("UNKNOWN_ERROR", "an answer that this version of the client does not know", { ...details, raw });
}

function sentence(answer: Record<string, unknown> | undefined): string {
  const error = answer?.["error"];
  return typeof error === "string" ? error : "the service refused";
}

function wholeNumber(header: string | null): number | undefined {
  return header && /^[0-9]{1,9}$/.test(header) ? Number(header) : undefined;
}

function mayPass({ code, status }: DwarError): boolean {
  if (status === undefined) return code === "NETWORK_ERROR";
  return REPEATED_STATUSES.includes(status) && REPEATED_CODES.includes(code);
}

/** Doubles with each try; the random half keeps many clients from coming back together. */
function backoff(tries: number): number {
  return FIRST_WAIT_MS * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
}

function serviceUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError("url is not an absolute URL");
  }
  const loopback = /^(localhost|127(\.[0-9]+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && loopback)) {
    throw new TypeError("url must be https, or http on loopback");
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError("url must not have a user, a password, a query or a fragment");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}
