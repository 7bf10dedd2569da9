// `fetch` for the pages of a backend that keeps the login contract: after a 401 it renews the session and repeats the
// request.

const RENEWAL_MS = 40_000;

/** @typedef {{ done: number, running?: Promise<Response> | undefined }} Renewals how many succeeded, and the one under way */
/** @type {Map<string, Renewals>} by the address that renews */
const all = new Map();

/**
 * Fetches as `fetch` does. If the answer is 401 it renews the session, once, no matter how many requests wait, and
 * sends the request again. It returns the 401 if the session is over, and the answer of the renewal if the backend
 * cannot renew it, such as 503 `LOGIN_UNAVAILABLE`. A request to another origin, or with `Authorization`, is only
 * fetched.
 *
 * @param {RequestInfo | URL} input
 * @param {RequestInit} [init]
 * @param {{ endpoint?: string }} [options] `endpoint` is the path at which the backend mounts the contract: `/login`
 * @returns {Promise<Response>}
 */
export async function fetchWithLogin(input, init, { endpoint = "/login" } = {}) {
  const url = new URL(`${endpoint}/refresh`, location.origin);
  if (url.origin !== location.origin) throw new TypeError("endpoint has to be a path of this origin");
  const request = new Request(input, init);
  const isOwn = new URL(request.url).origin === location.origin;
  if (!isOwn || request.headers.has("Authorization") || request.credentials === "omit") return fetch(request);

  const again = request.clone();
  const renewals = renewalsAt(url.href);
  const before = renewals.done;
  const response = await fetch(request);
  if (response.status !== 401) return response;
  if (renewals.done === before) {
    const renewed = await unlessAborted(request.signal, renew(url.href, renewals));
    if (renewed.status === 401) return response;
    if (!renewed.ok) return renewed.clone();
  }
  return fetch(again);
}

/** @param {string} url */
function renewalsAt(url) {
  const renewals = all.get(url) ?? { done: 0 };
  all.set(url, renewals);
  return renewals;
}

/**
 * Joins the renewal under way. It has its own time limit, since the callers that wait may stop waiting.
 *
 * @param {string} url
 * @param {Renewals} renewals
 */
function renew(url, renewals) {
  renewals.running ??= ask(url)
    .then((response) => {
      if (response.ok) renewals.done += 1;
      return response;
    })
    .finally(() => (renewals.running = undefined));
  return renewals.running;
}

/** @param {string} url */
function ask(url) {
  return fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: "{}",
    credentials: "same-origin",
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(RENEWAL_MS),
  });
}

/**
 * @template Result
 * @param {AbortSignal} signal
 * @param {Promise<Result>} result
 * @returns {Promise<Result>}
 */
function unlessAborted(signal, result) {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
