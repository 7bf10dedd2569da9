const PORT = "(?::([1-9][0-9]{0,4}))?";
const ORIGIN = new RegExp(`^(https?)://(\\[[0-9a-f:]+]|(?:[a-z0-9_-]+\\.)*[a-z][a-z0-9_-]*|[0-9.]+)${PORT}$`);
const LOOPBACK = new RegExp(`^(?:localhost|.+\\.localhost|127(?:\\.[0-9]{1,3}){3}|\\[::1])${PORT}$`);

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
  const [, scheme, host = "", port] = ORIGIN.exec(origin) ?? [];
  const isOrdinary = port === undefined || (Number(port) < 65536 && port !== (scheme === "http" ? "80" : "443"));
  if (!isHost(host) || !isOrdinary) return "is no origin as browsers send it, such as https://shop.example";
  if (scheme === "http" && !isLoopback(host))
    return "is plain http, of which browsers keep no login, but for loopback such as http://localhost:3000";
  return undefined;
}

/** Whether an address is written as browsers write it; a name always is. */
function isHost(host: string): boolean {
  if (/^[^[]*[a-z]/.test(host)) return true;
  if (host.startsWith("[::ffff:") || !URL.canParse(`http://${host}`)) return false;
  return new URL(`http://${host}`).hostname === host;
}
