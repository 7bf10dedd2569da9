const ORIGIN = /^(https?):\/\/(\[[0-9a-f:]+]|(?:[a-z0-9_-]+\.)*[a-z0-9_-]+)(?::[1-9][0-9]{0,4})?$/;
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.[0-9]{1,3}){3}|\[::1])(?::[1-9][0-9]{0,4})?$/;

/** Whether browsers keep `Secure` cookies of this host over plain http; a port may follow it. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Refuses what no browser sends as the origin of a page that can keep the cookies. clients/login/README.md has the rule. */
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
  // An address of IPv4 that is written as IPv6 has two forms.
  const isOrdinary = scheme && !host.startsWith("[::ffff:") && URL.canParse(origin) && new URL(origin).origin === origin;
  if (!isOrdinary) return "is no origin as browsers send it, such as https://shop.example";
  if (scheme === "http" && !isLoopback(host))
    return "is plain http, of which browsers keep no login, but for loopback such as http://localhost:3000";
  return undefined;
}
