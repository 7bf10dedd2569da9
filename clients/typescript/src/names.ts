// The API writes names as `otp_id`, TypeScript as `otpId`.

/** For `JSON.parse`: all names are as TypeScript writes them. */
export function camelCased(_: string, value: unknown): unknown {
  return renamed(value, (name) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()));
}

/** For `JSON.stringify`: all names are as the API writes them. */
export function snakeCased(_: string, value: unknown): unknown {
  return renamed(value, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [rename(name), inner]));
}
