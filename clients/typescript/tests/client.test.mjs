// What is of this language alone; everything else is in the suite.
import { test } from "node:test";
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { inspect } from "node:util";
import { Dwar, DwarError, Session, verifyEvent } from "../dist/index.js";
import { VERSION } from "../dist/version.js";

const options = { url: "https://otp.example.com", apiKey: "svc_test_1" };

test("a key is refused in a page", () => {
  globalThis.document = {};
  try {
    assert.throws(() => new Dwar(options), TypeError);
  } finally {
    delete globalThis.document;
  }
});

test("a time limit of nothing is refused", () => {
  for (const timeoutMs of [0, -1, Number.NaN, Infinity])
    assert.throws(() => new Dwar({ ...options, timeoutMs }), TypeError);
});

test("another fetch is called", async () => {
  const seen = [];
  const fetch = async (url, { headers }) => {
    seen.push([url, headers["X-Api-Key"]]);
    return Response.json({ id: "i1" });
  };
  assert.deepEqual(await new Dwar({ ...options, fetch }).identity("i1"), { id: "i1" });
  assert.deepEqual(seen, [["https://otp.example.com/v1/identity/i1", "svc_test_1"]]);
});

test("tokens are complete as JSON, though they are not printed", async () => {
  const answer = { access_token: "at_1", refresh_token: "svc_rt_1" };
  const dwar = new Dwar({ ...options, fetch: async () => Response.json(answer) });
  const tokens = await dwar.refresh("svc_rt_0");
  assert.equal(JSON.stringify(tokens), JSON.stringify({ accessToken: "at_1", refreshToken: "svc_rt_1" }));
});

test("a stored pair has the names of the API, so that a client in another language can go on with it", async () => {
  let pair;
  const fetch = async () => Response.json({ access_token: "at_2", refresh_token: "rt_2", expires_in: 900 });
  const session = new Session(new Dwar({ ...options, fetch }), {
    load: async () => pair,
    save: async (text) => void (pair = text),
    secret: "the secret of this backend, 32 characters",
    now: () => 1000_000,
  });
  pair = '{"access_token":"at_1","refresh_token":"rt_1","expires_in":900,"expires_at":900}';
  assert.equal(await session.accessToken(), "at_2");
  assert.deepEqual(JSON.parse(pair), { access_token: "at_2", refresh_token: "rt_2", expires_in: 900, expires_at: 1900 });
});

test("a stored session that cannot be read is over, and that of a store that fails is not", async () => {
  const session = (load) =>
    new Session(new Dwar(options), { load, save: async () => {}, secret: "the secret of this backend, 32 characters" });
  const whole = { access_token: "at_1", refresh_token: "rt_1", expires_in: 900, expires_at: 9e9 };
  const without = (name) => JSON.stringify({ ...whole, [name]: undefined });
  assert.equal(await session(async () => JSON.stringify(whole)).accessToken(), "at_1");
  const texts = ["", "x", "{}", "null", "[]", '"at_1"', JSON.stringify({ ...whole, access_token: 1, refresh_token: {} })];
  const unreadable = [null, undefined, whole, ...texts, ...["access_token", "refresh_token", "expires_at"].map(without)];
  for (const pair of unreadable)
    await assert.rejects(
      session(async () => pair).accessToken(),
      (error) => error instanceof DwarError && error.code === "SESSION_EXPIRED" && !/[ar]t_1/.test(inspect(error)),
      String(pair),
    );
  const failure = new Error("the store is not there");
  await assert.rejects(session(() => Promise.reject(failure)).accessToken(), failure);
});

test("an answer that is nested without an end is an error of this client, with its text", async () => {
  for (const [open, close] of [["[", "]"], ['{"a":', "}"]]) {
    const deep = `${open.repeat(50_000)}1${close.repeat(50_000)}`;
    const fetch = async () => new Response(`{"id":"i1","later":${deep}}`);
    const error = await new Dwar({ ...options, fetch }).identity("i1").catch((error) => error);
    assert.ok(error instanceof DwarError, String(error));
    assert.deepEqual([error.code, error.httpStatus, error.raw.length > 100_000], ["UNKNOWN_ERROR", 200, true]);
  }
});

test("what is signed and no event is refused", async () => {
  const key = Buffer.from("0123456789abcdef0123456789abcdef");
  const verified = (body) => {
    const signature = createHmac("sha256", key).update(`m1.1674087231.${body}`).digest("base64");
    const headers = { "webhook-id": "m1", "webhook-timestamp": "1674087231", "webhook-signature": `v1,${signature}` };
    return verifyEvent({ headers, body }, { secret: `whsec_${key.toString("base64")}`, now: () => 1674087231000 });
  };
  assert.equal((await verified('{"type":"otp.sent","data":{}}')).type, "otp.sent");
  for (const body of ["5", "[]", '"otp.sent"', "true", "null", '[{"type":"otp.sent"}]', `{"data":${"[".repeat(50_000)}${"]".repeat(50_000)}}`])
    await assert.rejects(verified(body), { code: "WEBHOOK_UNAUTHENTICATED" }, body.slice(0, 30));
});

test("an event is taken from a Request and from the bytes of a body", async () => {
  const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  const headers = new Headers({
    "webhook-id": "msg_1",
    "webhook-timestamp": "1674087231",
    "webhook-signature": "v1,hiSfYKchzkhTeg8BCiooMdjDn0ct8IPJUznfEFWq7Ao=",
  });
  const body = new TextEncoder().encode('{"test": 2432232314}');
  const event = await verifyEvent({ headers, body }, { secret, now: () => 1674087231000 });
  assert.equal(event.id, "msg_1");
});

test("the version is that of the package", () => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url)));
  assert.equal(VERSION, version);
});

test("the cause of an error of the network stays, without the number in the address", async () => {
  const address = `${options.url}/v1/identity?phone=9876543210`;
  const failure = Object.assign(new TypeError(`error sending request for url (${address})`), { code: "E", path: address });
  const dwar = new Dwar({ ...options, timeoutMs: 200, fetch: () => Promise.reject(failure) });
  const error = await dwar.identityByPhone("9876543210").catch((error) => error);
  assert.equal(error.code, "NETWORK_ERROR");
  assert.equal(error.cause.message, "the request failed: E");
  assert.doesNotMatch(inspect(error), /9876543210/);
});

test("no error within the cause shows the number either", async () => {
  const address = `GET ${options.url}/v1/identity?phone=%2B919876543210&x`;
  const inner = Object.assign(new Error(address), { code: "ECONNRESET", request: { url: address } });
  const circular = new Error("circular", { cause: inner });
  inner.cause = circular;
  const failures = [
    new TypeError("fetch failed", { cause: inner }),
    new TypeError("fetch failed", { cause: new Error("once more", { cause: inner }) }),
    new TypeError("fetch failed", { cause: new AggregateError([inner, new Error("query phone=9876543210")], "all") }),
    new TypeError("fetch failed", { cause: address }),
    Object.assign(new TypeError("fetch failed"), { request: { url: address }, cause: { url: address } }),
    address,
    circular,
  ];
  for (const failure of failures) {
    const dwar = new Dwar({ ...options, timeoutMs: 100, fetch: () => Promise.reject(failure) });
    const error = await dwar.identityByPhone("9876543210").catch((error) => error);
    assert.equal(error.code, "NETWORK_ERROR");
    assert.doesNotMatch(inspect(error, { depth: 20, showHidden: true }), /9876543210/);
  }
  const dwar = new Dwar({ ...options, timeoutMs: 100, fetch: () => Promise.reject(failures[0]) });
  const { cause } = await dwar.identityByPhone("9876543210").catch((error) => error);
  assert.equal(cause.message, "the request failed: ECONNRESET");
});

test("the request id of an answer is neither printed nor copied", async () => {
  const fetch = async () => Response.json({ id: "i1" }, { headers: { "X-Request-Id": "r-1" } });
  const identity = await new Dwar({ ...options, fetch }).identity("i1");
  assert.equal(identity.requestId, "r-1");
  assert.deepEqual(Object.keys(identity), ["id"]);
});

test("no module but that for tests imports one of Node, which bundlers for other platforms would miss", () => {
  const dist = new URL("../dist/", import.meta.url);
  const modules = readdirSync(dist, { recursive: true }).filter((name) => name.endsWith(".js"));
  const importing = modules.filter((name) =>
    /(from|import|require)[ (]*"node:/.test(readFileSync(new URL(name, dist), "utf8")),
  );
  assert.deepEqual(importing.sort(), ["cjs/testing.js", "testing.js"]);
});
