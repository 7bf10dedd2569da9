// Edge runtimes stop what a request has begun when it ends, and the promise of it stays open for ever.
import { test } from "node:test";
import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { Dwar, Session, TokenVerifier } from "../dist/index.js";

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = { ...publicKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "a" };
const seconds = Math.floor(Date.now() / 1000);

function token() {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iss: "dwar", aud: "p", client_id: "p", mode: "live", sub: "i", sid: "s", jti: "j" };
  const header = encode({ alg: "ES256", typ: "at+jwt", kid: "a" });
  const signed = `${header}.${encode({ ...claims, iat: seconds, exp: seconds + 900 })}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

/** Its first request never ends. */
function fetchOf(answer) {
  let requests = 0;
  return () => (requests++ === 0 ? new Promise(() => {}) : Promise.resolve(Response.json(answer)));
}

test("a verification does not wait for the keys of a request that has ended", async () => {
  const fetch = fetchOf({ keys: [jwk] });
  const verifier = new TokenVerifier({ url: "https://otp.example.com", audience: "p", timeoutMs: 100, fetch });
  void verifier.verify(token());
  assert.equal((await verifier.verify(token())).sub, "i");
});

test("a session does not wait for the refresh of a request that has ended", async (t) => {
  const { now } = performance;
  t.after(() => (performance.now = now));
  const fetch = fetchOf({ access_token: "at_2", refresh_token: "rt_2", expires_in: 900 });
  let stored = JSON.stringify({ access_token: "at_1", refresh_token: "rt_1", expires_at: 0 });
  const session = new Session(new Dwar({ url: "https://otp.example.com", apiKey: "svc_test_1", fetch }), {
    load: async () => stored,
    save: async (pair) => void (stored = pair),
    secret: "the secret of this backend, 32 characters",
  });
  void session.accessToken();
  await new Promise((resolve) => setTimeout(resolve, 50));
  performance.now = () => now.call(performance) + 11_000;
  assert.equal(await session.accessToken(), "at_2");
});
