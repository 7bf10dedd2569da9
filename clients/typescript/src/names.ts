// The API writes names as `otp_id`, TypeScript as `otpId`.

/** An object or a list in which all names are as TypeScript writes them. */
export function camelCased(value: unknown): unknown {
  return renamed(value, (name) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()));
}

/** An object or a list in which all names are as the API writes them. */
export function snakeCased(value: unknown): unknown {
  return renamed(value, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [rename(name), renamed(inner, rename)]));
}
