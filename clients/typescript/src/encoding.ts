/** `Uint8Array<ArrayBuffer>`, in a form that TypeScript 5.6 accepts. */
export type Bytes = ReturnType<TextEncoder["encode"]>;

/** Throws on anything that is not base64 (RFC 4648 section 4). */
export function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Throws on anything that is not base64url without padding (RFC 7515 section 2). */
export function fromBase64Url(text: string): Bytes {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new TypeError("not base64url");
  return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}

export function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

export async function hmacKey(secret: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}
