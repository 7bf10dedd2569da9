import { Endpoints, type Address, type Admission, type AnswerHeaders, type EndpointsOptions } from "./login/endpoints.js";
import type { Body, RequestHead } from "./login/request.js";
import type { AccessClaims } from "./verifier.js";

/** The members of Express's request that the login uses. */
export interface ExpressRequest extends AsyncIterable<Uint8Array> {
  method: string;
  /** Below the path where the router is mounted. */
  url: string;
  headers: Record<string, string | string[] | undefined>;
  socket: { remoteAddress?: string | undefined };
  /** IP address according to Express's `trust proxy`. */
  ip?: string | undefined;
  /** The body as an earlier parser left it. */
  body?: unknown;
  readableDidRead?: boolean;
}

/** The members of Express's response that a renewal uses. */
export interface CookieResponse {
  /** A session is not renewed after this. */
  headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  appendHeader(name: string, value: string): unknown;
}

/** The members of Express's response that the login uses. */
export interface ExpressResponse extends CookieResponse {
  statusCode: number;
  end(body: string): unknown;
}

export interface ExpressLoginOptions<Request> extends EndpointsOptions {
  /**
   * The IP address of the client, or nothing; by default the address of the peer. Behind a proxy the peer is the proxy,
   * so that all people would share one limit: use `(request) => request.ip`, with Express's `trust proxy` set to your
   * own proxies, never to `true`.
   */
  clientAddress?: (request: Request) => Address | Promise<Address>;
  /** May refuse a send, for example because `body` has no captcha. */
  admit?: (request: Request, body: Body) => Admission | Promise<Admission>;
  /**
   * Whether the proof that a page or an app sent with a send is good, such as the answer to a captcha: ask its vendor.
   * Only `true` makes the visitor trusted.
   */
  prove?: (request: Request, proof: string) => boolean | Promise<boolean>;
}

export interface ExpressLogin {
  /** `app.use("/login", login.router)` */
  router: (request: ExpressRequest, response: ExpressResponse, next: (error: unknown) => void) => Promise<void>;
  /**
   * The claims of a valid access token, or nothing. With the response, it renews a session whose access token has
   * expired, by cookies of this response. Rejects only if this cannot be decided: there are no keys, or the service
   * does not answer.
   */
  authenticate: (request: ExpressRequest, response?: CookieResponse) => Promise<AccessClaims | undefined>;
  /** Whether a renewal may help after `authenticate` without a response returned nothing. */
  canRenew: (request: ExpressRequest) => boolean;
}

/** The endpoints that a login form and an app call (clients/login/README.md), for Express. */
export function createLogin<Request extends ExpressRequest = ExpressRequest>(
  options: ExpressLoginOptions<Request>,
): ExpressLogin {
  const { clientAddress = ({ socket }) => socket.remoteAddress, admit, prove } = options;
  const endpoints = new Endpoints(options);
  const answer = (request: Request) =>
    endpoints.handle(
      { ...head(request), path: request.url.split("?", 1)[0]!, body: unread(request) },
      {
        clientAddress: () => clientAddress(request),
        admit: (body) => admit?.(request, body),
        prove: (proof) => prove?.(request, proof),
      },
    );
  return {
    router: (request, response, next) =>
      answer(request as Request)
        .then((found) => write(found, response))
        .catch(next),
    authenticate: (request, response) => endpoints.authenticate(head(request), headersOf(response)),
    canRenew: (request) => endpoints.canRenew(head(request)),
  };
}

function head({ method, headers }: ExpressRequest): RequestHead {
  const get = (name: string) => headers[name.toLowerCase()]?.toString() ?? null;
  return { method, headers: { get } };
}

function headersOf(response: CookieResponse | undefined): AnswerHeaders | undefined {
  if (!response || response.headersSent) return undefined;
  return {
    set: (name, value) => response.setHeader(name, value),
    append: (name, value) => response.appendHeader(name, value),
  };
}

/** An earlier parser may have read the body, as text, bytes or JSON. */
function unread(request: ExpressRequest): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
  const { body } = request;
  if (body === undefined || (request.readableDidRead === false && isEmpty(body))) return request;
  if (body instanceof Uint8Array) return [body];
  return [new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body))];
}

/** Parsers of Express 4 leave this value if they have not read a body. */
function isEmpty(body: unknown): boolean {
  return typeof body === "object" && body !== null && Object.keys(body).length === 0;
}

async function write(found: Response, response: ExpressResponse): Promise<void> {
  response.statusCode = found.status;
  for (const [name, value] of found.headers) {
    // Cookies of other handlers stay.
    if (name === "set-cookie") response.appendHeader(name, value);
    else response.setHeader(name, value);
  }
  response.end(await found.text());
}
