import { DwarError, isServiceCode } from "./error.js";
import { loopbackFetch } from "./loopback.js";
import { camelCased, snakeCased } from "./names.js";
import { withoutSecrets } from "./secrecy.js";
import type { Answer } from "./types.js";
import { VERSION } from "./version.js";

export interface TransportOptions {
  /** Address of the service, such as `https://otp.example.com`; plain http only on loopback. */
  url: string;
  /** The longest that one call may take in milliseconds, repetitions and waits included: 30,000 by default. */
  timeoutMs?: number;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Gives the call up: it rejects with `NETWORK_ERROR`, whose `cause` is the reason of the signal. */
  signal?: AbortSignal;
  /** Replaces the time limit of the client for this call, in milliseconds. */
  timeoutMs?: number;
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

const USER_AGENT = `dwar-client/${VERSION} (typescript)`;
const MAX_ANSWER_BYTES = 1 << 20;
const LOOPBACK = /^(localhost|127(\.[0-9]+){3}|\[::1\])$/;
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

  constructor({ url, timeoutMs = 30_000, fetch }: TransportOptions) {
    this.#url = serviceUrl(url);
    this.#timeoutMs = checked(timeoutMs);
    const used = fetch ?? (LOOPBACK.test(new URL(url).hostname) ? loopbackFetch() : globalThis.fetch);
    this.#fetch = (...request) => used(...request);
  }

  async send<Body>(operation: Operation, options: CallOptions = {}): Promise<Answer<Body>> {
    const { signal, timeoutMs = this.#timeoutMs } = options;
    const deadline = performance.now() + checked(timeoutMs);
    for (let tries = 1; ; tries++) {
      try {
        return (await this.#sendOnce(operation, deadline, signal)) as Answer<Body>;
      } catch (error) {
        if (!(error instanceof DwarError) || tries === TRIES || !operation.repeatable || !mayPass(error)) throw error;
        const wait = error.retryAfter === undefined ? backoff(tries) : error.retryAfter * 1000;
        if (performance.now() + wait >= deadline || signal?.aborted) throw error;
        await sleep(wait, signal);
      }
    }
  }

  async #sendOnce(operation: Operation, deadline: number, signal?: AbortSignal): Promise<unknown> {
    const { method, path, headers, body, answers } = operation;
    let response: Response;
    let text: string;
    const late = AbortSignal.timeout(Math.max(0, Math.ceil(deadline - performance.now())));
    try {
      signal?.throwIfAborted();
      response = await this.#fetch(this.#url + path, {
        method,
        headers: { "User-Agent": USER_AGENT, ...headers, ...(body && { "Content-Type": "application/json" }) },
        body: body ? JSON.stringify(snakeCased(body)) : null,
        // A redirect would take the API key to another address.
        redirect: "manual",
        signal: signal ? AbortSignal.any([late, signal]) : late,
        // Next.js may keep any answer, and would take a session for valid that has ended. Not every platform knows the option.
        ...(globalThis.Request && "cache" in Request.prototype && { cache: "no-store" }),
      });
      text = await read(response);
    } catch (error) {
      const isToldWhole = !path.includes("?") || error === signal?.reason;
      throw new DwarError("NETWORK_ERROR", whyNot(late, signal), { cause: isToldWhole ? error : withoutQuery(error) });
    }
    const answer = parse(text);
    if (response.status === 200 && answer?.[answers]) return withRequestId(withoutSecrets(answer), requestId(response));
    throw refusal(response, answer, text);
  }
}

function checked(timeoutMs: number): number {
  if (!(timeoutMs > 0 && timeoutMs <= 600_000)) throw new TypeError("timeoutMs must lie between 1 and 600,000");
  return timeoutMs;
}

function whyNot(late: AbortSignal, signal: AbortSignal | undefined): string {
  if (signal?.aborted) return "the call was given up";
  return late.aborted ? "no answer within the time limit" : "the request did not complete";
}

/** Ends early when the signal says so. */
async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const over = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal?.addEventListener("abort", over);
  });
}

/** At most 1 MiB of the body. */
async function read({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let left = MAX_ANSWER_BYTES;
  for await (const part of body ?? []) {
    text += decoder.decode(part.subarray(0, left), { stream: true });
    left -= part.length;
    if (left < 0) break;
  }
  return text + decoder.decode();
}

/**
 * An error of `fetch` whose address may have a phone number in its query. Errors name it in their message, and in fields of
 * their own; what may have caused them does too.
 */
function withoutQuery(error: unknown, depth = 0): unknown {
  const hidden = (text: unknown) => String(text).replace(/\??\bphone=[^\s)"']*/g, "");
  if (typeof error === "string") return hidden(error);
  if (!isError(error) || depth === 5) return undefined;
  const { name, message, stack, code, cause, errors } = error;
  const copy = new Error(hidden(message), { cause: withoutQuery(cause, depth + 1) });
  const all = Array.isArray(errors) && { errors: errors.map((one) => withoutQuery(one, depth + 1)) };
  return Object.assign(copy, { name, stack: hidden(stack), ...(code !== undefined && { code }), ...all });
}

/** Also of another realm, such as that of a test in Jest. */
function isError(value: unknown): value is Error & { code?: unknown; errors?: unknown } {
  return typeof value === "object" && value !== null && "message" in value;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value = camelCased(JSON.parse(text));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function refusal(response: Response, answer: Record<string, unknown> | undefined, raw: string): DwarError {
  const details = {
    status: response.status,
    requestId: requestId(response),
    retryAfter: wholeNumber(response.headers.get("Retry-After")),
    remaining: wholeNumber(response.headers.get("RateLimit-Remaining")),
  };
  const code = answer?.["code"];
  return response.status >= 400 && isServiceCode(code)
    ? new DwarError(code, sentence(answer), details)
    : new DwarError("UNKNOWN_ERROR", unknown(response), { ...details, raw });
}

function unknown({ status, headers }: Response): string {
  const [, type] = /^([\w.+-]{1,60}\/[\w.+-]{1,60})(;|$)/.exec(headers.get("Content-Type") ?? "") ?? [];
  return `an answer that this version of the client does not know: status ${status}${type ? `, ${type}` : ""}`;
}

function requestId(response: Response): string | undefined {
  return response.headers.get("X-Request-Id") ?? undefined;
}

/** It is no field of the answer, so neither copies nor JSON have it. */
function withRequestId(answer: object, requestId: string | undefined): object {
  return Object.defineProperty(answer, "requestId", { value: requestId });
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
  if (url.protocol !== "https:" && !(url.protocol === "http:" && LOOPBACK.test(url.hostname))) {
    throw new TypeError("url must be https, or http on loopback");
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError("url must not have a user, a password, a query or a fragment");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}
