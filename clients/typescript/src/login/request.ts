import { deviceOf, fromCookies, type Credentials } from "./cookies.js";
import { isLoopback } from "./origins.js";
import { httpsRequired, originRefused, Refusal } from "./refusal.js";

const BODY_BYTES = 16 * 1024;

/** The members of a request that `authenticate` uses, such as those of a `Request`. */
export interface RequestHead {
  method: string;
  headers: { get(name: string): string | null };
}

/** The members of a request that the endpoints use; `path` is the part below the prefix. */
export interface LoginRequest extends RequestHead {
  path: string;
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | null;
}

export type Body = Record<string, unknown>;

/** The caller: a page, which sends cookies, or an app, which sends the tokens in the body. */
export class Asker {
  readonly isPage: boolean;
  /** Whether a page of another site made the request. */
  readonly isForeign: boolean;
  readonly #keepsNoCookie: boolean;

  constructor({ headers }: RequestHead, origins: readonly string[]) {
    const origin = headers.get("Origin");
    const site = headers.get("Sec-Fetch-Site");
    this.isPage = origin !== null || site !== null;
    this.isForeign = origin === null ? site !== null && site !== "same-origin" : !origins.includes(origin);
    this.#keepsNoCookie = origin === `http://${headers.get("Host")}` && !isLoopback(origin.slice("http://".length));
  }

  /** Refuses another site's page. */
  refuseForeign(): void {
    if (this.isForeign) throw this.#keepsNoCookie ? httpsRequired() : originRefused();
  }

  credentials({ headers }: RequestHead, body: Body): Credentials {
    if (this.isPage) return fromCookies(headers.get("Cookie"));
    return {
      otpId: text(body, "otp_id"),
      accessToken: text(body, "access_token"),
      refreshToken: text(body, "refresh_token"),
      device: deviceOf(text(body, "device")),
    };
  }

  /** Whether the tokens go into the body. No script of a page may read them. */
  wantsTokens(body: Body): boolean {
    if (body["tokens"] !== "body") return false;
    if (this.isPage) throw originRefused();
    return true;
  }
}

/** A field that is absent or not a text counts as empty, which the service refuses with the code of that field. */
export function text(body: Body, name: string): string {
  const value = body[name];
  return typeof value === "string" ? value : "";
}

export async function jsonBody({ headers, body }: LoginRequest): Promise<Body> {
  if (!/^application\/json\s*(;|$)/i.test(headers.get("Content-Type") ?? ""))
    throw new Refusal(415, "UNSUPPORTED_MEDIA_TYPE", "The body must be JSON.");
  if (Number(headers.get("Content-Length")) > BODY_BYTES) throw tooLarge();
  const bytes = await bytesOf(body ?? []);
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Body;
  } catch {
    // Refused below, like every value that is not an object.
  }
  throw new Refusal(400, "INVALID_REQUEST", "The request cannot be read.");
}

/** Reads to the end, since leaving a Node request unread would cut the connection before the answer. */
async function bytesOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array> {
  const bytes = new Uint8Array(BODY_BYTES);
  let length = 0;
  for await (const chunk of body) {
    if (length + chunk.length <= BODY_BYTES) bytes.set(chunk, length);
    length += chunk.length;
  }
  if (length > BODY_BYTES) throw tooLarge();
  return bytes.subarray(0, length);
}

const tooLarge = () => new Refusal(413, "PAYLOAD_TOO_LARGE", "The body is too large.");
