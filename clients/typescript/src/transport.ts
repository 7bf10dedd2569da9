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
  /** Aborts the call: it rejects with `NETWORK_ERROR`, whose `cause` is the reason of the signal. */
  signal?: AbortSignal;
  /** Replaces the time limit of the client for this call, in milliseconds. */
  timeoutMs?: number;
}

export interface Operation {
  method: "GET" | "POST" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: object;
  /** Whether it is safe to send again when the outcome of a try is unknown. */
  repeatable: boolean;
  /** The field that a complete answer has, with a value other than `false`. */
  answers: string;
}

const USER_AGENT = `dwar-client/${VERSION} (typescript)`;
const MAX_ANSWER_BYTES = 1 << 20;
const LOOPBACK = /^(localhost|127(\.[0-9]+){3}|\[::1\])$/;
const MAX_TIMEOUT_MS = 600_000;
const TRIES = 3;
const FIRST_WAIT_MS = 250;
const REPEATED_STATUSES = [409, 429, 500, 502, 503, 504];
/** Any other 429 or 409 is an answer for the person, or final. */
const REPEATED_CODES = [
  "RATE_LIMITED",
  "IDEMPOTENCY_CONFLICT",
  "INTERNAL_ERROR",
  "SERVICE_UNAVAILABLE",
  "UNKNOWN_ERROR",
];

/** Sends operations to one service within a time limit, and repeats those that are safe to repeat. */
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

  async send<Body>(operation: Operation, { signal, timeoutMs = this.#timeoutMs }: CallOptions = {}): Promise<Answer<Body>> {
    const over = overAfter(timeoutMs, signal);
    const deadline = performance.now() + timeoutMs;
    for (let tries = 1; ; tries++) {
      try {
        return (await this.#sendOnce(operation, over, signal)) as Answer<Body>;
      } catch (error) {
        if (!(error instanceof DwarError) || tries === TRIES || !operation.repeatable || !mayPass(error)) throw error;
        const wait = error.retryAfter === undefined ? backoff(tries) : error.retryAfter * 1000;
        if (performance.now() + wait >= deadline || over.aborted) throw error;
        await sleep(wait, over);
      }
    }
  }

  async #sendOnce(operation: Operation, over: AbortSignal, given?: AbortSignal): Promise<unknown> {
    const { method, path, headers, body, answers } = operation;
    let response: Response;
    let text: string;
    try {
      over.throwIfAborted();
      response = await this.#fetch(this.#url + path, {
        method,
        headers: { "User-Agent": USER_AGENT, ...headers, ...(body && { "Content-Type": "application/json" }) },
        body: body ? JSON.stringify(body, snakeCased) : null,
        // A redirect would take the API key to another address.
        redirect: "manual",
        signal: over,
        // Next.js may cache any answer, and would then accept a session that has ended. Not every platform knows the
        // option.
        ...(globalThis.Request && "cache" in Request.prototype && { cache: "no-store" }),
      });
      text = await read(response);
    } catch (error) {
      throw lost(over, given, path.includes("?") && error !== over.reason ? withoutAddress(error) : error);
    }
    const answer = parse(text);
    if (response.status === 200 && answer?.[answers]) return withRequestId(withoutSecrets(answer), requestId(response));
    throw refusal(response, answer, text);
  }
}

/** The outcome of shared work, unless this caller aborts its wait. */
export async function within<Result>({ signal, timeoutMs }: CallOptions, work: () => Promise<Result>): Promise<Result> {
  if (!signal && timeoutMs === undefined) return work();
  const over = overAfter(timeoutMs ?? MAX_TIMEOUT_MS, signal);
  const end = () => lost(over, signal, over.reason);
  if (over.aborted) throw end();
  const ended = new Promise<never>((_, reject) => over.addEventListener("abort", () => reject(end())));
  return Promise.race([work(), ended]);
}

function overAfter(timeoutMs: number, signal: AbortSignal | undefined): AbortSignal {
  const late = AbortSignal.timeout(Math.ceil(checked(timeoutMs)));
  return signal ? AbortSignal.any([late, signal]) : late;
}

function checked(timeoutMs: number): number {
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) throw new TypeError("timeoutMs must lie between 1 and 600,000");
  return timeoutMs;
}

function lost(over: AbortSignal, given: AbortSignal | undefined, cause: unknown): DwarError {
  const late = over.aborted ? "no answer within the time limit" : "the request did not complete";
  return new DwarError("NETWORK_ERROR", given?.aborted ? "the call was given up" : late, { cause });
}

/** Ends early when the call is over. */
async function sleep(ms: number, over: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    over.addEventListener("abort", () => (clearTimeout(timer), resolve()));
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

/** The error without the URL that errors of `fetch` name: its query may contain a phone number. */
function withoutAddress(error: unknown): Error {
  const { name, cause } = Object(error) as Partial<Error>;
  const { code = name } = Object(cause ?? error) as { code?: string };
  return new Error(`the request failed: ${code}`);
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text, camelCased) as unknown;
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function refusal(response: Response, answer: Record<string, unknown> | undefined, raw: string): DwarError {
  const details = {
    httpStatus: response.status,
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

/** Not an enumerable field of the answer, so copies and JSON do not contain it. */
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

function mayPass({ code, httpStatus }: DwarError): boolean {
  if (httpStatus === undefined) return code === "NETWORK_ERROR";
  return REPEATED_STATUSES.includes(httpStatus) && REPEATED_CODES.includes(code);
}

/** Doubles with each try; the random half keeps many clients from retrying at the same moment. */
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
