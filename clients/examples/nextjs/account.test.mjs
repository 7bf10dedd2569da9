// The server component of the example: its session is renewed by proxy.ts. Wants `next build` first.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Backend } from "../../suite/login/backend.mjs";
import { serve } from "../../suite/serve.mjs";

const ORIGIN = "https://shop.example";
const backend = new Backend();
let service;

before(async () => {
  service = await serve("real");
  const { url, test_key, project_id } = service.variables;
  await backend.start(["next", "start", "--hostname", "127.0.0.1"], {
    ORIGIN,
    DWAR_URL: url,
    DWAR_API_KEY: test_key,
    DWAR_PROJECT_ID: project_id,
    DWAR_MODE: "test",
    DWAR_SECRET: "a secret of this test and no other",
  });
});

after(async () => {
  await backend.stop();
  await service.stop();
});

async function ask(path, body) {
  const headers = { "X-Api-Key": service.variables.test_key, "Content-Type": "application/json" };
  const request = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
  return (await fetch(service.variables.url + path, request)).json();
}

async function logIn(phone) {
  await ask("/v1/otp/send", { phone });
  const { messages } = await ask(`/v1/sandbox/messages?phone=${phone}`);
  return ask("/v1/otp/verify", { phone, code: messages[0].code });
}

const account = (cookie) =>
  fetch(`http://127.0.0.1:${backend.port}/account`, { headers: { Cookie: cookie }, redirect: "manual" });

test("a server component is for those who are logged in", async () => {
  const { access_token, identity_id } = await logIn("9876543210");
  const response = await account(`__Host-dwar_access=${access_token}`);
  assert.equal(response.status, 200);
  assert.ok((await response.text()).includes(identity_id));
  assert.deepEqual(response.headers.getSetCookie(), []);
  assert.equal((await account("theme=dark")).status, 307);
});

test("a session whose access token has ended is renewed before a server component", async () => {
  const { refresh_token, identity_id } = await logIn("9876543211");
  const response = await account(`__Host-dwar_access=expired; __Host-dwar_refresh=${refresh_token}`);
  assert.equal(response.status, 200);
  assert.ok((await response.text()).includes(identity_id));
  assert.match(response.headers.get("Cache-Control"), /no-store/);
  const pairs = response.headers.getSetCookie().map((cookie) => cookie.split(";", 1)[0]);
  assert.deepEqual(pairs.map((pair) => pair.split("=")[0]).sort(), ["__Host-dwar_access", "__Host-dwar_refresh"]);
  assert.equal((await account(pairs.join("; "))).status, 200);
  const over = await account("__Host-dwar_refresh=svc_rt_x");
  assert.equal(over.status, 307);
  assert.ok(over.headers.getSetCookie().every((cookie) => cookie.includes("Max-Age=0")));
});
