// What is of this language alone; everything else is in the suite.
import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { inspect } from "node:util";
import { Dwar, Session, verifyEvent } from "../dist/index.js";
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
  for (const wrong of ["x", "{}", "null", "[]"]) {
    pair = wrong;
    await assert.rejects(session.accessToken(), (error) => error instanceof TypeError && /no token pair/.test(error.message));
  }
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
  assert.equal(error.cause.message, `error sending request for url (${options.url}/v1/identity)`);
  assert.equal(error.cause.code, "E");
  assert.doesNotMatch(inspect(error), /9876543210/);
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
