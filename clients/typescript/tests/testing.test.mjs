import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { inspect } from "node:util";
import { TokenVerifier } from "../dist/index.js";
import { createLogin } from "../dist/login/index.js";
import { startDwar } from "../dist/testing.js";

let dwar;
before(async () => (dwar = await startDwar()));
after(() => dwar.stop());

const verifier = ({ DWAR_URL: url, DWAR_PROJECT_ID: audience, DWAR_MODE: mode }) =>
  new TokenVerifier({ url, audience, mode });

test("a phone logs in", async () => {
  const { accessToken, identityId } = await dwar.logIn("9876543210");
  assert.equal((await verifier(dwar.environment).verify(accessToken)).sub, identityId);
  assert.equal((await dwar.logIn("+919876543210")).identityId, identityId);
  assert.notEqual((await dwar.logIn("9876543211")).identityId, identityId);
});

test("the last code is the one that works", async () => {
  const phone = "9876543212";
  await assert.rejects(dwar.lastCode(phone), /no code/);
  await dwar.client.send({ phone });
  await dwar.client.send({ phone });
  assert.ok((await dwar.client.verify({ phone, code: await dwar.lastCode(phone) })).accessToken);
});

test("the cookies of a browser are those of the login contract", async () => {
  const { cookies, origins } = await dwar.storageState("9876543213", "http://localhost:3000/x");
  assert.deepEqual(origins, []);
  assert.deepEqual([...new Set(cookies.map(({ domain }) => domain))], ["localhost"]);
  const login = createLogin({
    dwar: dwar.client,
    verifier: verifier(dwar.environment),
    secret: "a secret of this test, 32 characters",
    origins: ["http://localhost:3000"],
    clientAddress: () => "",
  });
  const headers = new Headers({ Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; ") });
  const { sub } = await login.authenticate({ method: "GET", headers });
  assert.equal(sub, (await dwar.logIn("9876543213")).identityId);

  headers.set("Origin", "http://localhost:3000");
  headers.set("Content-Type", "application/json");
  const refresh = { method: "POST", headers, body: "{}" };
  const response = await login.handle(new Request("http://localhost:3000/login/refresh", refresh));
  assert.equal(response.status, 200);
  const attributes = (cookie) =>
    cookie
      .replace(/=[^;]+/, "")
      .split("; ")
      .sort();
  const expected = cookies.map(({ name, path, sameSite, expires }) => {
    const seconds = Math.round((expires - Date.now() / 1000) / 100) * 100;
    return [name, `Max-Age=${seconds}`, `Path=${path}`, "HttpOnly", "Secure", `SameSite=${sameSite}`].sort();
  });
  assert.deepEqual(response.headers.getSetCookie().map(attributes), expected);
});

test("two services know nothing of each other, and a setting is taken", async () => {
  const other = await startDwar({ settings: { DWAR__LIMITS__TEST__SEND: "1" } });
  try {
    await dwar.client.send({ phone: "9876543214" });
    await assert.rejects(other.lastCode("9876543214"), /no code/);
    await other.client.send({ phone: "9876543214" });
    await assert.rejects(other.client.send({ phone: "9876543214" }), { code: "OTP_RATE_LIMITED" });
  } finally {
    await other.stop();
  }
  await assert.rejects(other.client.send({ phone: "9876543215" }), { code: "NETWORK_ERROR" });
});

test("the service ends with a process that is told to end", async () => {
  const module = new URL("../dist/testing.js", import.meta.url);
  const program = `import { startDwar } from "${module}";
    await startDwar();
    console.log((await startDwar()).environment.DWAR_URL);`;
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program]);
    const [printed] = await once(child.stdout, "data");
    const health = `${String(printed).trim()}/healthz`;
    assert.equal((await fetch(health)).status, 200);
    child.kill(signal);
    assert.deepEqual(await once(child, "exit"), [null, signal]);
    await gone(health);
  }
});

async function gone(url) {
  for (const end = Date.now() + 5000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (!(await fetch(url).catch(() => undefined))) return;
  }
  assert.fail("the service is still there");
}

test("a binary that is not there, or that ends, is said", async () => {
  await assert.rejects(startDwar({ binary: "/nowhere/dwar" }), /did not start/);
  await assert.rejects(startDwar({ settings: { DWAR__HTTP__ADDRESS: "nonsense" } }), /did not start: it ended with/);
});

test("no key is shown", () => {
  assert.doesNotMatch(inspect(dwar, { showHidden: true, depth: 9 }), /svc_test_/);
});
