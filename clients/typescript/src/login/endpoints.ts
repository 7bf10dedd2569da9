import type { Dwar } from "../client.js";
import { DwarError } from "../error.js";
import { snakeCased } from "../names.js";
import { refreshKey } from "../session.js";
import type { Tokens, Visitor } from "../types.js";
import type { TokenVerifier, AccessClaims } from "../verifier.js";
import { addressOf, AddressLimit, networkOf } from "./addresses.js";
import {
  codeCookie,
  deviceCookie,
  deviceOf,
  fromCookies,
  noCodeCookie,
  noTokenCookies,
  tokenCookies,
  type Credentials,
} from "./cookies.js";
import { refuseWrongOrigins } from "./origins.js";
import { Refusal, refusalOf, tooManySends } from "./refusal.js";
import { Asker, jsonBody, text, type Body, type LoginRequest, type RequestHead } from "./request.js";

/** Nothing, or a refusal that is sent unchanged, such as 403 `CAPTCHA_REQUIRED`. */
export type Admission = void | undefined | { status: number; code: string; message: string };

export interface EndpointsOptions {
  dwar: Dwar;
  verifier: TokenVerifier;
  /** A secret of your backend, 32 characters or more, the same in all its processes; see `SessionOptions`. */
  secret: string;
  /** The origins of your own pages, exactly: `https://shop.example`, or `http://localhost:3000` on your own machine. */
  origins: readonly string[];
  /** The `last_line` that each send names; by default none. */
  lastLine?: string;
  /**
   * How many codes one client address may request in ten minutes; 30 by default. Raise it for people behind one IPv4
   * address.
   */
  sendsPerAddress?: number;
  /**
   * Called for every failure that the person sees as `LOGIN_UNAVAILABLE`, and once if `clientAddress` returns no
   * address.
   */
  onError?: (error: DwarError) => void;
}

/** An IP address, with or without a port, or nothing if it is unknown: then the send is not counted by address. */
export type Address = string | null | undefined;

/** The headers of an answer that is not sent yet, such as `Headers`. */
export interface AnswerHeaders {
  set(name: string, value: string): unknown;
  append(name: string, value: string): unknown;
}

/** What the endpoints ask the application about one request. */
export interface Application {
  clientAddress(): Address | Promise<Address>;
  admit(body: Body): Admission | Promise<Admission>;
  prove(proof: string): boolean | undefined | Promise<boolean | undefined>;
}

interface Call {
  body: Body;
  credentials: Credentials;
  tokensInBody: boolean;
  application: Application;
}

/** The login contract (clients/login/README.md), independent of the framework. */
export class Endpoints {
  readonly #options: EndpointsOptions;
  readonly #addresses: AddressLimit;
  #isToldOfAddress = false;
  readonly #paths = new Map<string, (call: Call) => Promise<Response>>([
    ["/send", (call) => this.#send(call)],
    ["/verify", (call) => this.#verify(call)],
    ["/refresh", (call) => this.#refresh(call)],
    ["/logout", (call) => this.#logout(call)],
  ]);

  constructor(options: EndpointsOptions) {
    if (!(options.secret.length >= 32)) throw new TypeError("secret must have 32 characters or more");
    refuseWrongOrigins(options.origins);
    const { sendsPerAddress = 30 } = options;
    if (!(Number.isInteger(sendsPerAddress) && sendsPerAddress > 0))
      throw new TypeError("sendsPerAddress must be a whole number above 0");
    this.#addresses = new AddressLimit(sendsPerAddress);
    this.#options = options;
  }

  async handle(request: LoginRequest, application: Application): Promise<Response> {
    try {
      return await this.#answer(request, application);
    } catch (error) {
      if (error instanceof Refusal) return refused(error);
      if (!(error instanceof DwarError)) throw error;
      const refusal = refusalOf(error);
      if (refusal.code === "LOGIN_UNAVAILABLE") this.#options.onError?.(error);
      return refused(refusal, refusal.code === "SESSION_EXPIRED" ? noTokenCookies() : []);
    }
  }

  /** See `Login.authenticate`. */
  async authenticate(request: RequestHead, answer?: AnswerHeaders): Promise<AccessClaims | undefined> {
    return this.#authenticated(request, answer).catch(unknown);
  }

  async #authenticated(request: RequestHead, answer?: AnswerHeaders): Promise<AccessClaims | undefined> {
    const claims = await this.#verified(bearerOf(request) ?? this.#cookiesOf(request).accessToken);
    if (claims || !answer || !this.canRenew(request)) return claims;
    // Before the renewal, since immutable headers throw here and the new pair would be lost.
    answer.set("Cache-Control", "no-store");
    const tokens = await this.#renewed(this.#cookiesOf(request).refreshToken).catch(unless("SESSION_EXPIRED"));
    for (const cookie of tokens ? tokenCookies(tokens) : noTokenCookies()) answer.append("Set-Cookie", cookie);
    return tokens && this.#verified(tokens.accessToken);
  }

  /** See `Login.canRenew`. */
  canRenew(request: RequestHead): boolean {
    return bearerOf(request) === undefined && this.#cookiesOf(request).refreshToken !== "";
  }

  async #verified(token: string): Promise<AccessClaims | undefined> {
    if (!token) return undefined;
    return this.#options.verifier.verify(token).catch(unless("INVALID_ACCESS_TOKEN"));
  }

  /** The cookies of the request, unless another site's page may change something with it. */
  #cookiesOf(request: RequestHead): Credentials {
    const isSafe = request.method === "GET" || request.method === "HEAD";
    const counts = isSafe || !new Asker(request, this.#options.origins).isForeign;
    return fromCookies(counts ? request.headers.get("Cookie") : null);
  }

  async #answer(request: LoginRequest, application: Application): Promise<Response> {
    const call = this.#paths.get(request.path);
    if (!call) throw new Refusal(404, "NOT_FOUND", "There is no such resource.");
    if (request.method !== "POST")
      throw new Refusal(405, "METHOD_NOT_ALLOWED", "The resource does not support this method.", { Allow: "POST" });
    const asker = new Asker(request, this.#options.origins);
    asker.refuseForeign();
    const body = await jsonBody(request);
    const tokensInBody = asker.wantsTokens(body);
    return call({ body, tokensInBody, credentials: asker.credentials(request, body), application });
  }

  async #send({ body, credentials: { device }, application }: Call): Promise<Response> {
    const network = networkOf(await application.clientAddress());
    const uncount = this.#counted(network);
    try {
      const refusal = await application.admit(body);
      if (refusal) throw new Refusal(refusal.status, refusal.code, refusal.message);
      const { dwar, lastLine } = this.#options;
      const visitor = await visitorOf(network, body, application);
      const { otpId, expiresIn } = await dwar.send({
        phone: text(body, "phone"),
        ...(lastLine !== undefined && { lastLine }),
        ...(visitor && { visitor }),
        ...(device !== undefined && { device }),
      });
      return answer(200, { otpId, expiresIn }, codeCookie(otpId, expiresIn));
    } catch (error) {
      uncount();
      throw error;
    }
  }

  /** Counts a send, and returns a function that takes it back. */
  #counted(network: string | undefined): () => void {
    if (network === undefined) {
      this.#tellOfAddress();
      return () => {};
    }
    const taken = this.#addresses.take(network);
    if (typeof taken === "number") throw tooManySends(taken);
    return taken;
  }

  #tellOfAddress(): void {
    if (this.#isToldOfAddress) return;
    this.#isToldOfAddress = true;
    const message = "clientAddress gave no IP address, so sends are not counted by address";
    this.#options.onError?.(new DwarError("ARGUMENT", message));
  }

  async #verify({ body, credentials: { otpId, device }, tokensInBody }: Call): Promise<Response> {
    if (!otpId)
      throw new DwarError("OTP_NOT_FOUND", "There is no active code for this phone number.", { httpStatus: 400 });
    const guess = { phone: text(body, "phone"), code: text(body, "code"), otpId, ...(device !== undefined && { device }) };
    const tokens = await this.#options.dwar.verify(guess);
    return loggedIn(tokens, tokensInBody, [...noCodeCookie(), ...deviceCookie(tokens)]);
  }

  async #refresh({ credentials: { refreshToken }, tokensInBody }: Call): Promise<Response> {
    return loggedIn(await this.#renewed(refreshToken), tokensInBody);
  }

  async #logout({ credentials: { accessToken, refreshToken } }: Call): Promise<Response> {
    if (!(accessToken && (await this.#end(accessToken))))
      await this.#renewed(refreshToken).then((tokens) => this.#end(tokens.accessToken), unless("SESSION_EXPIRED"));
    return answer(204, undefined, noTokenCookies());
  }

  /** Whether the token was valid: only a valid access token ends a session. */
  async #end(accessToken: string): Promise<boolean> {
    const ended = await this.#options.dwar.logout(accessToken).catch(unless("INVALID_ACCESS_TOKEN"));
    return ended !== undefined;
  }

  /** Two tabs that refresh at the same time get the same pair, since their requests have the same key. */
  async #renewed(refreshToken: string): Promise<Tokens> {
    if (!refreshToken) throw new DwarError("SESSION_EXPIRED", "There is no session.", { httpStatus: 401 });
    const idempotencyKey = await refreshKey(this.#options.secret, refreshToken);
    return this.#options.dwar.refresh(refreshToken, { idempotencyKey });
  }
}

/**
 * What the service is told about the person. Only the application says that a proof is good: whatever a page or an app
 * sends under these names is ignored.
 */
async function visitorOf(network: string | undefined, body: Body, application: Application): Promise<Visitor | undefined> {
  const proof = text(body, "proof");
  const trusted = proof !== "" && (await application.prove(proof)) === true;
  if (network === undefined && !trusted) return undefined;
  return { ...(network !== undefined && { address: addressOf(network) }), ...(trusted && { trusted }) };
}

/** The login state is unknown. Express and others answer with the `status` of an error. */
function unknown(error: unknown): never {
  throw error instanceof DwarError ? Object.assign(error, { status: 503 }) : error;
}

/** Empty, and so invalid, if the header has only the scheme. */
function bearerOf({ headers }: RequestHead): string | undefined {
  const [scheme = "", ...token] = (headers.get("Authorization") ?? "").trim().split(/[ \t]+/);
  return scheme.toLowerCase() === "bearer" ? token.join(" ") : undefined;
}

/** A rejection with this code becomes nothing. */
function unless(code: DwarError["code"]): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof DwarError && error.code === code)) throw error;
  };
}

function loggedIn(tokens: Tokens, inBody: boolean, cookies: string[] = []): Response {
  const { identityId, expiresIn, accessToken, refreshToken, refreshExpiresIn } = tokens;
  const device = deviceOf(tokens.device);
  if (inBody)
    return answer(200, { identityId, expiresIn, accessToken, refreshToken, refreshExpiresIn, ...(device && { device }) });
  return answer(200, { identityId, expiresIn }, [...tokenCookies(tokens), ...cookies]);
}

function refused({ status, code, message, requestId, headers }: Refusal, cookies: string[] = []): Response {
  return answer(status, { error: message, code, ...(requestId && { requestId }) }, cookies, headers);
}

function answer(
  status: number,
  body: object | undefined,
  cookies: string[] = [],
  more: Record<string, string> = {},
): Response {
  const headers = new Headers({ "Cache-Control": "no-store", ...more });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  if (!body) return new Response(null, { status, headers });
  headers.set("Content-Type", "application/json");
  return new Response(JSON.stringify(body, snakeCased), { status, headers });
}
