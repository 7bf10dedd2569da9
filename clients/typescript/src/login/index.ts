import type { AccessClaims } from "../verifier.js";
import { Endpoints, type Address, type Admission, type AnswerHeaders, type EndpointsOptions } from "./endpoints.js";
import type { Body, RequestHead } from "./request.js";

export type { Address, Admission, AnswerHeaders, Body, EndpointsOptions, RequestHead };

export interface LoginOptions<Context> extends EndpointsOptions {
  /** The path where the endpoints are mounted, with a slash at its end or without; `/login` by default. */
  prefix?: string;
  /**
   * The IP address of the client, or nothing, since a `Request` has none. `context` is the second argument of `handle`,
   * such as the server of Bun. Behind a proxy take what your own proxy writes: the last entry of `X-Forwarded-For`,
   * never the first, which any client can forge.
   */
  clientAddress: (request: Request, context: Context) => Address | Promise<Address>;
  /** May refuse a send, for example because `body` has no captcha. */
  admit?: (request: Request, body: Body, context: Context) => Admission | Promise<Admission>;
  /**
   * Whether the proof that a page or an app sent with a send is good, such as the answer to a captcha: ask its vendor.
   * Only `true` makes the visitor trusted.
   */
  prove?: (request: Request, proof: string, context: Context) => boolean | Promise<boolean>;
}

export interface Login<Context = unknown> {
  /** Answers `send`, `verify`, `refresh` and `logout` below the prefix. */
  handle: (request: Request, context?: Context) => Promise<Response>;
  /**
   * The claims of a valid access token, from `Authorization: Bearer` or the cookie, or nothing. With the headers of the
   * answer, `new Headers()`, it renews a session whose access token has expired and appends the cookies to them: send
   * them, also with an error. Rejects only if this cannot be decided: there are no keys, or the service does not
   * answer.
   */
  authenticate: (request: RequestHead, answer?: AnswerHeaders) => Promise<AccessClaims | undefined>;
  /**
   * Whether a renewal may help after `authenticate` without headers returned nothing, for an answer that sets no
   * cookies.
   */
  canRenew: (request: RequestHead) => boolean;
}

/** The endpoints that a login form and an app call (clients/login/README.md), for the Fetch API. */
export function createLogin<Context = unknown>(options: LoginOptions<Context>): Login<Context> {
  const { prefix = "/login", clientAddress, admit, prove } = options;
  if (typeof clientAddress !== "function") throw new TypeError("clientAddress must be a function");
  const mounted = `/${prefix}`.replace(/^\/+/, "/").replace(/\/+$/, "");
  const endpoints = new Endpoints(options);
  return {
    handle: (request, context) => {
      const { method, headers, body, url } = request;
      const { pathname } = new URL(url);
      const path = pathname.startsWith(mounted) ? pathname.slice(mounted.length) : "";
      return endpoints.handle(
        { method, headers, body, path },
        {
          clientAddress: () => clientAddress(request, context as Context),
          admit: (fields) => admit?.(request, fields, context as Context),
          prove: (proof) => prove?.(request, proof, context as Context),
        },
      );
    },
    authenticate: (request, answer) => endpoints.authenticate(request, answer),
    canRenew: (request) => endpoints.canRenew(request),
  };
}
