// The API writes names as `otp_id`, TypeScript as `otpId`.

/** Deeper than any answer of the API; the stack ends somewhere beyond. */
const DEEPEST = 100;

/** An object or a list in which all names are as TypeScript writes them. It throws if it is too deep. */
export function camelCased(value: unknown): unknown {
  return renamed(value, (name) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()));
}

/** An object or a list in which all names are as the API writes them. */
export function snakeCased(value: unknown): unknown {
  return renamed(value, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

function renamed(value: unknown, rename: (name: string) => string, depth = 0): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === DEEPEST) throw new RangeError("nested too deeply");
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename, depth + 1));
  const fields = Object.entries(value).map(([name, inner]) => [rename(name), renamed(inner, rename, depth + 1)]);
  return Object.fromEntries(fields);
}
