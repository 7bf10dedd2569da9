import type { Dwar } from "../client.js";
import { DwarError } from "../error.js";
import { refreshKey } from "../session.js";
import type { Tokens } from "../types.js";
import type { TokenVerifier, AccessClaims } from "../verifier.js";
import { AddressLimit } from "./addresses.js";
import { codeCookie, fromCookies, noCodeCookie, noTokenCookies, tokenCookies, type Credentials } from "./cookies.js";
import { originRefused, Refusal, refusalOf, tooManySends } from "./refusal.js";
import { Asker, jsonBody, text, type Body, type LoginRequest, type RequestHead } from "./request.js";

/** Nothing, or a refusal that is answered as it is, such as 403 `CAPTCHA_REQUIRED`. */
export type Admission = void | undefined | { status: number; code: string; message: string };

export interface EndpointsOptions {
  dwar: Dwar;
  verifier: TokenVerifier;
  /** A secret of your backend, 32 characters or more, the same in all its processes; see `SessionOptions`. */
  secret: string;
  /** The origins of your own pages, such as `https://shop.example`. */
  origins: readonly string[];
  /** The `last_line` that each send names; by default none. */
  lastLine?: string;
  /** Told of every failure that the person sees as `LOGIN_UNAVAILABLE`. */
  onError?: (error: DwarError) => void;
}

/** The questions of one request to the application. */
export interface Application {
  clientAddress(): string | Promise<string>;
  admit(body: Body): Admission | Promise<Admission>;
}

interface Call {
  body: Body;
  credentials: Credentials;
  tokensInBody: boolean;
  application: Application;
}

/** The login contract (clients/login/README.md), whatever the framework. */
export class Endpoints {
  readonly #options: EndpointsOptions;
  readonly #addresses = new AddressLimit();
  readonly #paths = new Map<string, (call: Call) => Promise<Response>>([
    ["/send", (call) => this.#send(call)],
    ["/verify", (call) => this.#verify(call)],
    ["/refresh", (call) => this.#refresh(call)],
    ["/logout", (call) => this.#logout(call)],
  ]);

  constructor(options: EndpointsOptions) {
    if (!(options.secret.length >= 32)) throw new TypeError("secret must have 32 characters or more");
    if (options.origins.length === 0 || !options.origins.every(isOrigin))
      throw new TypeError("origins must be such as https://shop.example");
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

  /** The claims of a valid access token. Rejects only if there are no keys to verify it with. */
  async authenticate(request: RequestHead): Promise<AccessClaims | undefined> {
    const bearer = /^Bearer +(\S+)$/i.exec(request.headers.get("Authorization") ?? "")?.[1];
    const token = bearer ?? this.#cookieOf(request);
    if (!token) return undefined;
    try {
      return await this.#options.verifier.verify(token);
    } catch (error) {
      if (error instanceof DwarError && error.code === "INVALID_ACCESS_TOKEN") return undefined;
      throw error;
    }
  }

  #cookieOf(request: RequestHead): string {
    const isSafe = request.method === "GET" || request.method === "HEAD";
    if (!isSafe && new Asker(request, this.#options.origins).isForeign) return "";
    return fromCookies(request.headers.get("Cookie")).access_token;
  }

  async #answer(request: LoginRequest, application: Application): Promise<Response> {
    const call = this.#paths.get(request.path);
    if (!call) throw new Refusal(404, "NOT_FOUND", "There is no such resource.");
    if (request.method !== "POST")
      throw new Refusal(405, "METHOD_NOT_ALLOWED", "The resource does not support this method.", { Allow: "POST" });
    const asker = new Asker(request, this.#options.origins);
    if (asker.isForeign) throw originRefused();
    const body = await jsonBody(request);
    const tokensInBody = asker.wantsTokens(body);
    return call({ body, tokensInBody, credentials: asker.credentials(request, body), application });
  }

  async #send({ body, application }: Call): Promise<Response> {
    const taken = this.#addresses.take(await application.clientAddress());
    if (typeof taken === "number") throw tooManySends(taken);
    try {
      const refusal = await application.admit(body);
      if (refusal) throw new Refusal(refusal.status, refusal.code, refusal.message);
      const { dwar, lastLine } = this.#options;
      const wanted = { phone: text(body, "phone"), ...(lastLine !== undefined && { last_line: lastLine }) };
      const { otp_id, expires_in } = await dwar.send(wanted);
      return answer(200, { otp_id, expires_in }, codeCookie(otp_id, expires_in));
    } catch (error) {
      if (!(error instanceof DwarError && error.status !== undefined)) taken();
      throw error;
    }
  }

  async #verify({ body, credentials: { otp_id }, tokensInBody }: Call): Promise<Response> {
    if (!otp_id)
      throw new DwarError("OTP_NOT_FOUND", "There is no active code for this phone number.", { status: 400 });
    const guess = { phone: text(body, "phone"), code: text(body, "code"), otp_id };
    return loggedIn(await this.#options.dwar.verify(guess), tokensInBody, noCodeCookie());
  }

  async #refresh({ credentials: { refresh_token }, tokensInBody }: Call): Promise<Response> {
    return loggedIn(await this.#renewed(refresh_token), tokensInBody);
  }

  async #logout({ credentials: { access_token, refresh_token } }: Call): Promise<Response> {
    if (!(access_token && (await this.#end(access_token))))
      await this.#renewed(refresh_token).then((tokens) => this.#end(tokens.access_token), unless("SESSION_EXPIRED"));
    return answer(204, undefined, noTokenCookies());
  }

  /** Whether the token was good for it: a session is ended by a valid access token alone. */
  async #end(accessToken: string): Promise<boolean> {
    const ended = await this.#options.dwar.logout(accessToken).catch(unless("INVALID_ACCESS_TOKEN"));
    return ended !== undefined;
  }

  /** Two tabs that ask at once get the same pair, since their requests have the same key. */
  async #renewed(refreshToken: string): Promise<Tokens> {
    if (!refreshToken) throw new DwarError("SESSION_EXPIRED", "There is no session.", { status: 401 });
    const idempotencyKey = await refreshKey(this.#options.secret, refreshToken);
    return this.#options.dwar.refresh(refreshToken, { idempotencyKey });
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

/** A rejection with this code becomes nothing. */
function unless(code: DwarError["code"]): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof DwarError && error.code === code)) throw error;
  };
}

function loggedIn(tokens: Tokens, inBody: boolean, cookies: string[] = []): Response {
  const { identity_id, expires_in, access_token, refresh_token, refresh_expires_in } = tokens;
  if (inBody) return answer(200, { identity_id, expires_in, access_token, refresh_token, refresh_expires_in });
  return answer(200, { identity_id, expires_in }, [...tokenCookies(tokens), ...cookies]);
}

function refused({ status, code, message, requestId, headers }: Refusal, cookies: string[] = []): Response {
  return answer(status, { error: message, code, ...(requestId && { request_id: requestId }) }, cookies, headers);
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
  return new Response(JSON.stringify(body), { status, headers });
}
