// The example in Chromium (CHROMIUM is its path), as an application would test its login. Only a browser shows that
// `__Host-` cookies are kept, and are kept from scripts.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
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

/** The answer that a script of the page gets for a call of the contract. */
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

test("a person whom the test logs in is logged in", async () => {
  const phone = "9876543210";
  const { identityId } = await dwar.logIn(phone);
  const context = await browser.newContext({ storageState: await dwar.storageState(phone, site) });
  const page = await context.newPage();
  await page.goto(`${site}/me`);
  assert.deepEqual(JSON.parse(await page.textContent("body")), { identity_id: identityId });
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

/** A person who is logged in and whose access token has expired. */
async function stale(phone) {
  const context = await browser.newContext({ storageState: await dwar.storageState(phone, site) });
  await context.clearCookies({ name: "__Host-dwar_access" });
  return context;
}

test("a link of another site arrives logged in after the access token has ended", async () => {
  const context = await stale("9876543213");
  const page = await context.newPage();
  await page.route("http://news.example/", (route) =>
    route.fulfill({ contentType: "text/html", body: `<a href="${site}/me">Shop</a>` }),
  );
  await page.goto("http://news.example/");
  await page.click("a");
  await page.waitForURL(`${site}/me`);
  assert.match(await page.textContent("body"), /"identity_id"/);
  const kept = (await context.cookies()).map(({ name, sameSite }) => `${name} ${sameSite}`).sort();
  assert.deepEqual(kept, ["__Host-dwar_access Lax", "__Host-dwar_refresh Lax"]);
});

test("fetchWithLogin of a page renews where the answer cannot", async () => {
  const context = await stale("9876543214");
  const page = await context.newPage();
  const module = readFileSync(new URL("../../form/fetch-with-login.js", import.meta.url), "utf8");
  await page.route(`${site}/fetch-with-login.js`, (route) =>
    route.fulfill({ contentType: "text/javascript", body: module }),
  );
  await page.route(`${site}/`, (route) => route.fulfill({ contentType: "text/html", body: "<title>Shop</title>" }));
  await page.goto(`${site}/`);
  const statuses = await page.evaluate(async () => {
    const { fetchWithLogin } = await import("/fetch-with-login.js");
    const alone = await fetch("/claims");
    const together = await Promise.all(Array.from({ length: 20 }, () => fetchWithLogin("/claims")));
    return [alone.status, ...new Set(together.map(({ status }) => status))];
  });
  assert.deepEqual(statuses, [401, 200]);
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
