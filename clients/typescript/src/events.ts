import { fromBase64, hmacKey, utf8, type Bytes } from "./encoding.js";
import { DwarError } from "./error.js";
import type { DwarEvent } from "./event-types.js";
import { camelCased } from "./names.js";

export interface SignedRequest {
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The raw body, before it is parsed. */
  body: string | Uint8Array;
}

export interface EventOptions {
  /** `whsec_…`; both secrets during a rotation. */
  secret: string | readonly string[];
  /** How old or how far ahead the request may be, in seconds; 300 by default. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970; `Date.now` by default. */
  now?: () => number;
}

/** The event of a request that the service signed (Standard Webhooks). Otherwise `WEBHOOK_UNAUTHENTICATED`. */
export async function verifyEvent(request: SignedRequest, options: EventOptions): Promise<DwarEvent> {
  const { secret, toleranceSeconds = 300, now = Date.now } = options;
  const id = header(request, "webhook-id");
  const timestamp = header(request, "webhook-timestamp");
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(now() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw unauthenticated("its time is too far off");
  }
  const body = typeof request.body === "string" ? utf8(request.body) : new Uint8Array(request.body);
  const signed = new Uint8Array([...utf8(`${id}.${timestamp}.`), ...body]);
  const signatures = header(request, "webhook-signature").split(" ");
  for (const key of await Promise.all([secret].flat().map(keyOf))) {
    for (const signature of signatures) {
      if (await matches(key, signature, signed)) return parse(id, body);
    }
  }
  throw unauthenticated("no signature is right");
}

async function keyOf(secret: string): Promise<CryptoKey> {
  try {
    if (!secret.startsWith("whsec_")) throw new TypeError();
    return await hmacKey(fromBase64(secret.slice("whsec_".length)));
  } catch {
    throw new TypeError("secret must be whsec_ and base64");
  }
}

async function matches(key: CryptoKey, signature: string, signed: Bytes): Promise<boolean> {
  if (!signature.startsWith("v1,")) return false;
  try {
    return await crypto.subtle.verify("HMAC", key, fromBase64(signature.slice("v1,".length)), signed);
  } catch {
    return false;
  }
}

function parse(id: string, body: Bytes): DwarEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(body), camelCased);
    if (typeof event === "object" && event !== null && !Array.isArray(event)) {
      const { type, timestamp, data } = event as Record<string, unknown>;
      return { id, type, timestamp, data } as DwarEvent;
    }
  } catch {
    // Refused below, like every value that is not an object.
  }
  throw unauthenticated("it is not a JSON object");
}

function header({ headers }: SignedRequest, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== "string" || value === "") throw unauthenticated(`no ${name}`);
  return value;
}

function unauthenticated(reason: string): DwarError {
  return new DwarError("WEBHOOK_UNAUTHENTICATED", `the request is not from the service: ${reason}`);
}
