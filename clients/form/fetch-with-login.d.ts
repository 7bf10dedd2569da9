export interface FetchWithLoginOptions {
  /** The path at which the backend mounts the login contract; `/login` by default. */
  endpoint?: string;
}

/**
 * Fetches as `fetch` does. If the answer is 401 it renews the session, once, no matter how many requests wait, and
 * sends the request again. It returns the 401 if the session is over, and the answer of the renewal if the backend
 * cannot renew it, such as 503 `LOGIN_UNAVAILABLE`. A request to another origin, or with `Authorization`, is only
 * fetched.
 */
export function fetchWithLogin(
  input: RequestInfo | URL,
  init?: RequestInit,
  options?: FetchWithLoginOptions,
): Promise<Response>;
