// Options of a single call, and what JavaScript lets through that TypeScript would not.
import { after, test } from "node:test";
import assert from "node:assert/strict";
import { Dwar, DwarError, TokenVerifier } from "../dist/index.js";

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
