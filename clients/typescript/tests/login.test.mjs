// What the suite of the login contract cannot see: a clock, IPv6, and the functions of the application.
import { test } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { Dwar, DwarError, TokenVerifier } from "../dist/index.js";
import { createLogin as createExpressLogin } from "../dist/express.js";
import { AddressLimit, networkOf } from "../dist/login/addresses.js";
import { createLogin } from "../dist/login/index.js";

const ADDRESSES = JSON.parse(readFileSync(new URL("../../suite/login/addresses.json", import.meta.url)));
const ORIGINS = JSON.parse(readFileSync(new URL("../../suite/login/origins.json", import.meta.url)));
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const url = "https://otp.example.com";
const secret = "the secret of this backend, 32 characters";
const sent = { otp_id: "otp-1", expires_in: 600 };

/** Options of a login whose service answers so. */
function options(answer = async () => Response.json(sent), more = {}) {
  const dwar = new Dwar({ url, apiKey: "svc_test_1", fetch: answer });
  const verifier = new TokenVerifier({ url, audience: "project-1", fetch: answer });
  return { dwar, verifier, secret, origins: ["https://shop.example"], clientAddress: () => "192.0.2.1", ...more };
}

function sending(body = { phone: "9876543210" }) {
  const headers = { "Content-Type": "application/json", Origin: "https://shop.example" };
  return new Request("https://shop.example/login/send", { method: "POST", headers, body: JSON.stringify(body) });
}

test("the login contract is kept", () => {
  const words = [path("../../suite/login.mjs"), process.execPath, path("backend.mjs")];
  const { status } = spawnSync(process.execPath, words, { stdio: "inherit" });
  assert.equal(status, 0);
});

test("sends are counted in any ten minutes", () => {
  let now = 0;
  const limit = new AddressLimit(5, () => now);
  for (const second of [0, 100, 200, 300, 400]) {
    now = second * 1000;
    assert.equal(typeof limit.take("192.0.2.1"), "function");
  }
  assert.equal(limit.take("192.0.2.1"), 200);
  now = 599_001;
  assert.equal(limit.take("192.0.2.1"), 1);
  now = 600_000;
  assert.equal(typeof limit.take("192.0.2.1"), "function");
  assert.equal(limit.take("192.0.2.1"), 100);
});

test("a clock that is set back makes nobody wait for longer", (t) => {
  let wall = 7_200_000;
  t.mock.method(Date, "now", () => wall);
  const limit = new AddressLimit(1);
  limit.take("192.0.2.1");
  wall = 0;
  assert.equal(limit.take("192.0.2.1"), 600);
});

test("a send that is uncounted makes room for one", () => {
  const limit = new AddressLimit(5, () => 0);
  const uncount = Array.from({ length: 5 }, () => limit.take("192.0.2.1"))[0];
  assert.equal(typeof limit.take("192.0.2.1"), "number");
  uncount();
  assert.equal(typeof limit.take("192.0.2.1"), "function");
  assert.equal(typeof limit.take("192.0.2.1"), "number");
});

for (const { network, addresses } of ADDRESSES)
  test(`the addresses of ${network ?? "nobody"} are one, however they are written`, () => {
    for (const address of addresses) assert.equal(networkOf(address), networkOf(network), String(address));
    assert.equal(networkOf(network) === undefined, network === null);
  });

test("another network is another address", () => {
  const networks = ADDRESSES.filter(({ network }) => network !== null).map(({ network }) => networkOf(network));
  assert.equal(new Set(networks).size, networks.length);
});

test("the oldest of more than 100,000 addresses are forgotten", () => {
  const limit = new AddressLimit(5, () => 0);
  const fill = (address) => {
    for (let sends = 0; sends < 5; sends++) limit.take(address);
  };
  fill("a");
  fill("b");
  for (let number = 0; number < 99_999; number++) limit.take(`n${number}`);
  assert.equal(limit.take("b"), 600);
  assert.equal(typeof limit.take("a"), "function");
});

test("the application says how many codes an address gets, and a port makes no other address", async () => {
  let port = 1;
  const login = createLogin(options(undefined, { sendsPerAddress: 2, clientAddress: () => `192.0.2.1:${port++}` }));
  const statuses = [];
  for (let sends = 0; sends < 3; sends++) statuses.push((await login.handle(sending())).status);
  assert.deepEqual(statuses, [200, 200, 429]);
});

test("without an address nothing is counted, and the application is told once", async () => {
  const told = [];
  const nobody = [undefined, null, "", "unknown", "192.0.2.1, 192.0.2.2"];
  const more = { sendsPerAddress: 1, clientAddress: () => nobody.shift(), onError: (error) => told.push(error) };
  const login = createLogin(options(undefined, more));
  for (let sends = 0; sends < 6; sends++) assert.equal((await login.handle(sending())).status, 200);
  assert.deepEqual(
    told.map(({ code, message }) => [code, /clientAddress/.test(message)]),
    [["ARGUMENT", true]],
  );
});

test("admit may refuse a send, which then is none", async () => {
  const asked = [];
  const admit = (request, body, context) => {
    asked.push([request.method, body.captcha, context]);
    if (body.captcha !== "right") return { status: 403, code: "CAPTCHA_REQUIRED", message: "Solve it first." };
  };
  const login = createLogin(options(undefined, { sendsPerAddress: 5, admit }));
  for (let tries = 0; tries < 6; tries++) {
    const response = await login.handle(sending({ phone: "9876543210" }), "context");
    assert.equal(response.status, 403);
    assert.deepEqual(await response.json(), { error: "Solve it first.", code: "CAPTCHA_REQUIRED" });
  }
  assert.deepEqual(asked[0], ["POST", undefined, "context"]);
  const right = sending({ phone: "9876543210", captcha: "right" });
  assert.equal((await login.handle(right, "context")).status, 200);
});

test("a visitor is trusted only if the application says that the proof is good", async () => {
  const visitors = [];
  const service = async (_, { body }) => {
    visitors.push(JSON.parse(body).visitor);
    return Response.json(sent);
  };
  const asked = [];
  const prove = async (request, proof, context) => {
    asked.push([request.method, proof, context]);
    return { right: true, wrong: false }[proof] ?? "yes";
  };
  const login = createLogin(options(service, { prove }));
  const proofs = [undefined, "", 5, "wrong", "odd", "right"];
  for (const proof of proofs) {
    const body = { phone: "9876543210", proof, trusted: true, visitor: { trusted: true } };
    assert.equal((await login.handle(sending(body), "context")).status, 200);
  }
  const [address, unproven] = ["192.0.2.1", { address: "192.0.2.1" }];
  assert.deepEqual(visitors, [...Array(5).fill(unproven), { address, trusted: true }]);
  assert.deepEqual(asked, ["wrong", "odd", "right"].map((proof) => ["POST", proof, "context"]));

  const nowhere = createLogin(options(service, { prove, clientAddress: () => undefined }));
  await nowhere.handle(sending({ phone: "9876543210", proof: "right" }));
  await nowhere.handle(sending({ phone: "9876543210" }));
  assert.deepEqual(visitors.slice(proofs.length), [{ trusted: true }, undefined]);
});

test("a prove that throws lets nothing through, and the send does not count", async () => {
  const prove = () => Promise.reject(new Error("the captcha's service is out of reach"));
  const login = createLogin(options(undefined, { prove, sendsPerAddress: 1 }));
  const body = { phone: "9876543210", proof: "x" };
  for (let tries = 0; tries < 2; tries++) await assert.rejects(login.handle(sending(body)), /out of reach/);
  assert.equal((await login.handle(sending())).status, 200);
});

for (const { network } of ADDRESSES.filter(({ network }) => network !== null))
  test(`the service is told ${network}`, async () => {
    const service = async (_, { body }) => {
      assert.equal(networkOf(JSON.parse(body).visitor.address), networkOf(network));
      return Response.json(sent);
    };
    const clientAddress = () => network;
    assert.equal((await createLogin(options(service, { clientAddress })).handle(sending())).status, 200);
  });

test("admit is not asked for an address without sends left", async () => {
  let asked = 0;
  const login = createLogin(options(undefined, { sendsPerAddress: 5, admit: async () => void asked++ }));
  for (let sends = 0; sends < 7; sends++) await login.handle(sending());
  assert.equal(asked, 5);
});

test("an admit that throws lets nothing through", async () => {
  const admit = () => {
    throw new Error("the captcha's service is out of reach");
  };
  const login = createLogin(options(() => assert.fail("the service was asked"), { admit }));
  await assert.rejects(login.handle(sending()), /captcha/);
});

test("each send names the last line of the options, or none", async () => {
  const asked = [];
  const answer = async (_, { body }) => {
    asked.push(JSON.parse(body));
    return Response.json(sent);
  };
  await createLogin(options(answer)).handle(sending());
  const body = { phone: "9876543210", last_line: "evil.example" };
  await createLogin(options(answer, { lastLine: "FA+9qCX9VSu" })).handle(sending(body));
  const usual = { phone: "9876543210", visitor: { address: "192.0.2.1" } };
  assert.deepEqual(asked, [usual, { ...usual, last_line: "FA+9qCX9VSu" }]);
});

test("onError is told of faults, and of nothing that the person can mend", async () => {
  const told = [];
  const answer = (status, code) => async () => Response.json({ error: "…", code, request_id: "r" }, { status });
  for (const [status, code] of [
    [402, "INSUFFICIENT_BALANCE"],
    [429, "OTP_RATE_LIMITED"],
  ])
    await createLogin(options(answer(status, code), { onError: (error) => told.push(error) })).handle(sending());
  assert.deepEqual(
    told.map((error) => [error instanceof DwarError, error.code]),
    [[true, "INSUFFICIENT_BALANCE"]],
  );
});

test("without keys nobody is refused or let in", async () => {
  const login = createLogin(options(async () => new Response(null, { status: 500 })));
  const header = Buffer.from('{"alg":"ES256","typ":"at+jwt","kid":"1"}').toString("base64url");
  const headers = new Headers({ Authorization: `Bearer ${header}.e30.AA` });
  await assert.rejects(login.authenticate({ method: "GET", headers }), { name: "DwarError" });
});

test("where the answer cannot carry cookies nothing is renewed", async () => {
  const refuse = () => assert.fail("the service was asked");
  const cookie = "__Host-dwar_refresh=r1";
  const request = new Request("https://shop.example/me", { headers: { cookie } });
  const login = createLogin(options(refuse));
  assert.equal(await login.authenticate(request), undefined);
  assert.equal(login.canRenew(request), true);
  await assert.rejects(login.authenticate(request, Response.redirect("https://shop.example/").headers), TypeError);
  const express = createExpressLogin(options(refuse));
  const sentAlready = { headersSent: true, setHeader: refuse, appendHeader: refuse };
  assert.equal(await express.authenticate({ method: "GET", headers: { cookie } }, sentAlready), undefined);
});

test("a refusal of a renewal has a status that Express answers with", async () => {
  const answer = async () =>
    Response.json({ error: "…", code: "INVALID_API_KEY" }, { status: 401, headers: { "X-Request-Id": "r" } });
  const request = new Request("https://shop.example/me", { headers: { cookie: "__Host-dwar_refresh=r1" } });
  const error = await createLogin(options(answer)).authenticate(request, new Headers()).catch((error) => error);
  assert.deepEqual([error.code, error.status, error.requestId], ["INVALID_API_KEY", 503, "r"]);
});

test("wrong settings are refused", () => {
  const refused = (more) => assert.throws(() => createLogin(options(undefined, more)), TypeError);
  refused({ secret: "short" });
  refused({ clientAddress: undefined });
  for (const sendsPerAddress of [0, -1, 1.5, NaN, "30", null]) refused({ sendsPerAddress });
  for (const origins of [[], undefined, "https://shop.example", [undefined], [null]]) refused({ origins });
});

for (const { origin, is } of ORIGINS)
  test(`as an origin ${JSON.stringify(origin)} is ${is}`, () => {
    const make = () => createLogin(options(undefined, { origins: ["https://shop.example", origin] }));
    if (is === "allowed") make();
    else assert.throws(make, (error) => error instanceof TypeError && error.message.includes(`"${origin}" `) && error.message.includes(is));
  });

test("a prefix is the same with slashes at its ends and without", async () => {
  const status = async (prefix, path) => {
    const request = new Request(`https://shop.example${path}`, sending());
    return (await createLogin(options(undefined, { prefix })).handle(request)).status;
  };
  for (const prefix of ["/api/login", "/api/login/", "api/login", "//api/login//"])
    assert.deepEqual([await status(prefix, "/api/login/send"), await status(prefix, "/login/send")], [200, 404], prefix);
  for (const prefix of ["", "/"]) assert.equal(await status(prefix, "/send"), 200, `"${prefix}"`);
  assert.equal(await status("/login", "/loginsend"), 404);
});

test("a login shows no secret", () => {
  const shown = inspect(createLogin(options()), { showHidden: true, depth: 9 });
  assert.doesNotMatch(shown, /svc_test_1|secret of this/);
});

test("in Express a body that was parsed already is taken", async () => {
  const { clientAddress: _, ...rest } = options();
  const login = createExpressLogin(rest);
  const answered = new Promise((resolve) => {
    const request = {
      method: "POST",
      url: "/send?x=1",
      headers: { "content-type": "application/json", origin: "https://shop.example" },
      socket: { remoteAddress: "192.0.2.1" },
      body: { phone: "9876543210" },
    };
    const response = { setHeader() {}, appendHeader() {}, end: (body) => resolve([response.statusCode, JSON.parse(body)]) };
    login.router(request, response, resolve);
  });
  assert.deepEqual(await answered, [200, sent]);
});

test("in Express a failure of the application goes to its handler of errors", async () => {
  const admit = () => Promise.reject(new Error("of the application"));
  const login = createExpressLogin({ ...options(), admit });
  const headers = { "content-type": "application/json" };
  const request = { method: "POST", url: "/send", headers, socket: {}, body: { phone: "9876543210" } };
  const error = await new Promise((resolve) => login.router(request, {}, resolve));
  assert.match(error.message, /of the application/);
});
