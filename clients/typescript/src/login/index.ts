import type { AccessClaims } from "../verifier.js";
import { Endpoints, type Admission, type EndpointsOptions } from "./endpoints.js";
import type { Body, RequestHead } from "./request.js";

export type { Admission, Body, EndpointsOptions, RequestHead };

export interface LoginOptions<Context> extends EndpointsOptions {
  /** Where the endpoints are mounted; `/login` by default. */
  prefix?: string;
  /**
   * The network address of whoever asks, since a `Request` has none. `context` is what `handle` got beside the request,
   * such as the server of Bun. A header is worth no more than the proxy that sets it.
   */
  clientAddress: (request: Request, context: Context) => string | Promise<string>;
  /** May refuse a send, for example for want of a captcha in `body`. */
  admit?: (request: Request, body: Body, context: Context) => Admission | Promise<Admission>;
}

export interface Login<Context = unknown> {
  /** Answers `send`, `verify`, `refresh` and `logout` below the prefix. */
  handle: (request: Request, context?: Context) => Promise<Response>;
  /**
   * The claims of a valid access token, from `Authorization: Bearer` or the cookie, or nothing. Rejects only if there
   * are no keys to verify it with.
   */
  authenticate: (request: RequestHead) => Promise<AccessClaims | undefined>;
}

/** The endpoints that a login form and an app call (clients/login/README.md), for the Fetch API. */
export function createLogin<Context = unknown>(options: LoginOptions<Context>): Login<Context> {
  const { prefix = "/login", clientAddress, admit } = options;
  if (typeof clientAddress !== "function") throw new TypeError("clientAddress must be a function");
  const endpoints = new Endpoints(options);
  return {
    handle: (request, context) => {
      const { method, headers, body, url } = request;
      const { pathname } = new URL(url);
      const path = pathname.startsWith(prefix) ? pathname.slice(prefix.length) : "";
      return endpoints.handle(
        { method, headers, body, path },
        {
          clientAddress: () => clientAddress(request, context as Context),
          admit: (fields) => admit?.(request, fields, context as Context),
        },
      );
    },
    authenticate: (request) => endpoints.authenticate(request),
  };
}
