// What is of this language alone; everything else is in the suite.
import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { Dwar, verifyEvent } from "../dist/index.js";
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
  const tokens = { access_token: "at_1", refresh_token: "svc_rt_1" };
  const dwar = new Dwar({ ...options, fetch: async () => Response.json(tokens) });
  assert.equal(JSON.stringify(await dwar.refresh("svc_rt_0")), JSON.stringify(tokens));
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
