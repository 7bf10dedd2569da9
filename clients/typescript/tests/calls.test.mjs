// Options of a single call, and what JavaScript lets through that TypeScript would not.
import { after, test } from "node:test";
import assert from "node:assert/strict";
import { Dwar, DwarError, Session, TokenVerifier } from "../dist/index.js";

const url = "https://otp.example.com";
const apiKey = "svc_test_1";

// A time limit alone does not keep Node running, but a connection would.
const connection = setInterval(() => {}, 1000);
after(() => clearInterval(connection));

/** Hangs until it is told to stop, as `fetch` does. */
function hanging() {
  const requests = [];
  const fetch = (_, init) =>
    new Promise((_, reject) => {
      requests.push(init);
      init.signal.addEventListener("abort", () => reject(init.signal.reason));
    });
  return { requests, dwar: new Dwar({ url, apiKey, fetch }) };
}

const givenUp = (reason) => (error) =>
  error instanceof DwarError && error.code === "NETWORK_ERROR" && /given up/.test(error.message) && error.cause === reason;

test("a call that is given up ends at once, with the reason, and is not repeated", async () => {
  const { requests, dwar } = hanging();
  const abort = new AbortController();
  const call = dwar.identity("i1", { signal: abort.signal });
  await new Promise((resolve) => setTimeout(resolve, 20));
  const reason = new Error("the person has left");
  abort.abort(reason);
  await assert.rejects(call, givenUp(reason));
  await assert.rejects(dwar.send({ phone: "9876543210" }, { signal: abort.signal }), givenUp(reason));
  assert.equal(requests.length, 1);
});

test("a call is given up while it waits for its next try", async () => {
  const fetch = async () => Response.json({ code: "SERVICE_UNAVAILABLE" }, { status: 503, headers: { "Retry-After": "20" } });
  const signal = AbortSignal.timeout(50);
  const started = performance.now();
  await assert.rejects(new Dwar({ url, apiKey, fetch }).identity("i1", { signal }), (error) => givenUp(signal.reason)(error));
  assert.ok(performance.now() - started < 5000);
});

test("a call may have a time limit of its own", async () => {
  const { requests, dwar } = hanging();
  await assert.rejects(dwar.validate("token", { timeoutMs: 30 }), { code: "NETWORK_ERROR", message: /time limit/ });
  await assert.rejects(dwar.validate("token", { timeoutMs: 0 }), TypeError);
  assert.equal(requests.length, 1);
});

test("a framework that answers with the status of an error takes none of the service for its own", async () => {
  const fetch = async () => Response.json({ code: "INVALID_API_KEY" }, { status: 401 });
  const error = await new Dwar({ url, apiKey, fetch }).validate("token").catch((error) => error);
  assert.deepEqual([error.httpStatus, error.status, error.statusCode], [401, undefined, undefined]);
});

test("a verification and a session are given up as any call, and the work goes on for others", async () => {
  const { requests, dwar } = hanging();
  const { fetch } = { fetch: (_, init) => new Promise(() => requests.push(init)) };
  const verifier = new TokenVerifier({ url, audience: "p", fetch });
  const header = Buffer.from('{"alg":"ES256","typ":"at+jwt","kid":"k"}').toString("base64url");
  const pair = JSON.stringify({ access_token: "a", refresh_token: "r", expires_at: 0 });
  const secret = "the secret of this backend, 32 characters";
  const session = new Session(dwar, { load: async () => pair, save: async () => {}, secret });
  const uses = [
    (options) => verifier.verify(`${header}.e30.x`, options),
    (options) => session.accessToken(options),
    (options) => session.call(() => assert.fail("there is no token"), options),
  ];
  for (const use of uses) {
    await assert.rejects(use({ timeoutMs: 30 }), { code: "NETWORK_ERROR", message: /time limit/ });
    await assert.rejects(use({ timeoutMs: 0 }), TypeError);
    const abort = new AbortController();
    const call = use({ signal: abort.signal });
    const reason = new Error("the person has left");
    abort.abort(reason);
    await assert.rejects(call, givenUp(reason));
    await assert.rejects(use({ signal: abort.signal }), givenUp(reason));
  }
  assert.equal(requests.length, 2, "the keys are fetched once, and the pair is refreshed once");
  assert.equal(requests.some(({ signal }) => signal.aborted), false);
});

test("no platform may keep an answer", async () => {
  const seen = [];
  const fetch = async (_, init) => {
    seen.push(init.cache);
    return Response.json({ valid: true });
  };
  await new Dwar({ url, apiKey, fetch }).validate("token");
  // The Request of Cloudflare Workers had no such option for long, and refused it.
  const { Request } = globalThis;
  globalThis.Request = class {};
  try {
    await new Dwar({ url, apiKey, fetch }).validate("token");
  } finally {
    globalThis.Request = Request;
  }
  assert.deepEqual(seen, ["no-store", undefined]);
});

test("a key that is not set is refused when the client is made", () => {
  for (const missing of [undefined, null, 1, ""]) assert.throws(() => new Dwar({ url, apiKey: missing }), /apiKey must/);
});

test("a token that is not there is no valid one", async () => {
  const verifier = new TokenVerifier({ url, audience: "p" });
  for (const missing of [undefined, null, 1]) await assert.rejects(verifier.verify(missing), { code: "INVALID_ACCESS_TOKEN" });
});
