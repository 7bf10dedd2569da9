// The example in Chromium (CHROMIUM is its path), as an application would test its login. Only a browser shows that
// `__Host-` cookies are kept, and are kept from scripts.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { once } from "node:events";
import { chromium } from "playwright-core";
import { startDwar } from "dwar-client/testing";

let dwar, backend, browser, site;

before(async () => {
  dwar = await startDwar();
  const PORT = String(await freePort());
  site = `http://localhost:${PORT}`;
  const env = {
    ...process.env,
    ...dwar.environment,
    PORT,
    ORIGIN: site,
    DWAR_SECRET: "for this test alone, 32 characters",
  };
  backend = spawn(process.execPath, ["server.mjs"], { env, stdio: ["ignore", "ignore", "inherit"] });
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox"],
  });
  while (!(await fetch(`${site}/me`).catch(() => undefined))) await new Promise((resolve) => setTimeout(resolve, 50));
});

after(async () => {
  await browser?.close();
  backend?.kill();
  await dwar?.stop();
});

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

/** What a script of the page gets for a call of the contract. */
function post(page, step, body) {
  return page.evaluate(
    async ([url, text]) => {
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(url, { method: "POST", headers, body: text });
      return { status: response.status, text: await response.text(), cookies: document.cookie };
    },
    [`/login/${step}`, JSON.stringify(body)],
  );
}

test("somebody who is logged in by the test is logged in", async () => {
  const phone = "9876543210";
  const { identity_id } = await dwar.logIn(phone);
  const context = await browser.newContext({ storageState: await dwar.storageState(phone, site) });
  const page = await context.newPage();
  await page.goto(`${site}/me`);
  assert.deepEqual(JSON.parse(await page.textContent("body")), { identity_id });
  assert.equal((await post(page, "refresh", {})).status, 200);
  assert.equal((await post(page, "logout", {})).status, 204);
  assert.equal((await page.goto(`${site}/me`)).status(), 401);
  assert.deepEqual(await context.cookies(), []);
});

test("a page logs in, and its scripts see no token", async () => {
  const phone = "9876543211";
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site}/me`);
  assert.equal((await post(page, "send", { phone })).status, 200);
  const code = await dwar.lastCode(phone);
  assert.equal((await post(page, "verify", { phone, code, tokens: "body" })).status, 403);
  const { status, text, cookies } = await post(page, "verify", { phone, code });
  assert.deepEqual([status, Object.keys(JSON.parse(text)).sort(), cookies], [200, ["expires_in", "identity_id"], ""]);
  assert.equal((await page.goto(`${site}/me`)).status(), 200);
});

test("a page of another origin gets nothing", async () => {
  const context = await browser.newContext({ storageState: await dwar.storageState("9876543212", site) });
  const page = await context.newPage();
  await page.goto(`${site.replace("localhost", "127.0.0.1")}/me`);
  const answer = await page.evaluate(async (url) => {
    const headers = { "Content-Type": "application/json" };
    const request = { method: "POST", headers, body: "{}", credentials: "include" };
    return fetch(url, request).then(
      ({ status }) => status,
      () => "refused",
    );
  }, `${site}/login/logout`);
  assert.equal(answer, "refused");
  assert.equal((await page.goto(`${site}/me`)).status(), 200);
});
