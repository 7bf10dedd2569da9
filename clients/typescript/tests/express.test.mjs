// The handler for Express beside other handlers and parsers of the same application.
import { test } from "node:test";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { Dwar, TokenVerifier } from "../dist/index.js";
import { createLogin } from "../dist/express.js";
import { complaints } from "./compile.mjs";

const url = "https://otp.example.com";
const SENT = { otp_id: "o1", status: "sent", channel: "sms", expires_at: "2026-01-01T00:00:00.000Z", expires_in: 600 };

/** The answer to a send, where `before` has had the request first. */
async function sent(before, body = '{"phone":"9876543210"}') {
  const phones = [];
  const fetch = async (_, init) => {
    phones.push(JSON.parse(init.body).phone);
    return Response.json(SENT);
  };
  const login = createLogin({
    dwar: new Dwar({ url, apiKey: "svc_test_1", fetch }),
    verifier: new TokenVerifier({ url, audience: "p" }),
    secret: "the secret of this backend, 32 characters",
    origins: ["https://shop.example"],
  });
  const server = createServer(async (request, response) => {
    await before(request, response);
    request.url = "/send";
    await login.router(request, response, (error) => response.destroy(error));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const headers = { "Content-Type": "application/json" };
    const address = `http://127.0.0.1:${server.address().port}/login/send`;
    const response = await fetchOf(address, { method: "POST", headers, body });
    return { status: response.status, cookies: response.headers.getSetCookie(), phones };
  } finally {
    server.close();
  }
}

const fetchOf = globalThis.fetch;

async function bytes(request) {
  return Buffer.concat(await request.toArray());
}

test("cookies that others have set stay", async () => {
  const before = (_, response) => response.setHeader("Set-Cookie", ["cart=1; Path=/", "lang=hi"]);
  const { status, cookies } = await sent(before);
  assert.equal(status, 200);
  assert.deepEqual([cookies.slice(0, 2), cookies.length], [["cart=1; Path=/", "lang=hi"], 3]);
  assert.match(cookies[2], /^__Host-dwar_otp=o1;/);
});

for (const [parser, before] of Object.entries({
  none: () => {},
  json: async (request) => (request.body = JSON.parse(await bytes(request))),
  text: async (request) => (request.body = String(await bytes(request))),
  raw: async (request) => (request.body = await bytes(request)),
  "urlencoded of Express 4, which passes JSON by": (request) => (request.body = {}),
}))
  test(`the body is taken where the parser before is ${parser}`, async () => {
    const { status, phones } = await sent(before);
    assert.deepEqual([status, phones], [200, ["9876543210"]]);
  });

test("an empty body that a parser has read is not waited for", async () => {
  const { status } = await sent(async (request) => (request.body = JSON.parse(await bytes(request))), "{}");
  assert.equal(status, 422);
});

test("`request.ip` is typed", () => {
  const program = `
    import { createLogin, type ExpressLoginOptions } from "dwar-client/express";
    declare const options: Omit<ExpressLoginOptions<any>, "clientAddress" | "admit">;
    export const login = createLogin({ ...options, clientAddress: (request) => request.ip });`;
  assert.equal(complaints(program), "");
});
