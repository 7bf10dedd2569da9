const ORIGIN =
  /^(?!https:.*:443$|http:.*:80$)(https?):\/\/((?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:]+])(?::[1-9][0-9]{0,4})?$/;
const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}|\[::1])(?::[0-9]+)?$/;

/** Whether browsers keep `Secure` cookies of this host over plain http; a port may follow it. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Refuses an origin that is not in the form in which browsers send it, or whose pages cannot keep the cookies.
 * clients/login/README.md has the rule.
 */
export function refuseWrongOrigins(origins: readonly string[]): void {
  if (!Array.isArray(origins) || origins.length === 0)
    throw new TypeError("origins must be a list of at least one, such as https://shop.example");
  for (const origin of origins) {
    const reason = faultOf(String(origin));
    if (reason) throw new TypeError(`origins: "${origin}" ${reason}`);
  }
}

function faultOf(origin: string): string | undefined {
  if (/^(capacitor|ionic):/.test(origin))
    return "is an app, whose web view keeps no cookies of yours: let it call by native HTTP, such as CapacitorHttp";
  const [, scheme, host = ""] = ORIGIN.exec(origin) ?? [];
  if (!scheme) return "is not an origin as browsers send it, such as https://shop.example";
  if (scheme === "http" && !isLoopback(host))
    return "is plain http, of which browsers keep no login, but for loopback such as http://localhost:3000";
  return undefined;
}
