// fetchWithLogin in Chromium, against a backend that answers as a test says.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";

const MODULE = readFileSync(new URL("../fetch-with-login.js", import.meta.url));
const PAGE = '<title>Shop</title><link rel="icon" href="data:,">';
const OK = { status: 200, body: { identity_id: "i1", expires_in: 900 } };
const OVER = { status: 401, body: { code: "SESSION_EXPIRED", error: "It is over." } };

/** Whether a page is answered, and how a renewal is: `status`, `body`, `delay_ms`, `cut`. */
let isLive, renewal, asked, browser, page, origin;

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString();
  if (request.url === "/fetch-with-login.js")
    return response.writeHead(200, { "Content-Type": "text/javascript" }).end(MODULE);
  if (request.url === "/") return response.writeHead(200, { "Content-Type": "text/html" }).end(PAGE);
  asked.push(`${request.method} ${request.url}${body && ` ${body}`}`);
  if (request.url.endsWith("/refresh")) return renew(response);
  if (request.url === "/late") await sleep(300);
  response.writeHead(isLive ? 200 : 401, { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*" });
  response.end(isLive ? `for ${body || "nobody"}` : "nobody is logged in");
});

async function renew(response) {
  const { status, body, delay_ms = 0, cut } = renewal;
  await sleep(delay_ms);
  if (cut) return response.socket.destroy();
  if (status === 200) isLive = !renewal.useless;
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${server.address().port}`;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
});
after(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  [isLive, renewal, asked] = [false, OK, []];
  page = await (await browser.newContext()).newPage();
  await page.goto(`${origin}/`);
});

/** Runs in the page, with `fetchWithLogin` and what else is given. */
const run = (inPage, given) =>
  page.evaluate(
    async ([source, value]) => {
      const { fetchWithLogin } = await import("/fetch-with-login.js");
      const seen = async (going) => {
        try {
          const response = await going;
          return [response.status, await response.text()];
        } catch (error) {
          return error.name;
        }
      };
      return new Function("fetchWithLogin", "seen", "value", `return (${source})()`)(fetchWithLogin, seen, value);
    },
    [inPage.toString(), given],
  );

test("a request that finds nobody logged in is sent again after a renewal, with its body", async () => {
  const answer = await run(() => seen(fetchWithLogin("/orders", { method: "POST", body: "tea" })));
  assert.deepEqual(answer, [200, "for tea"]);
  assert.deepEqual(asked, ["POST /orders tea", "POST /login/refresh {}", "POST /orders tea"]);
});

test("a Request is taken, and a stream", async () => {
  const answer = await run(() => seen(fetchWithLogin(new Request("/orders", { method: "PUT", body: new Blob(["tea"]) }))));
  assert.deepEqual(answer, [200, "for tea"]);
});

test("with a session there is one fetch only", async () => {
  isLive = true;
  assert.deepEqual(await run(() => seen(fetchWithLogin("/orders"))), [200, "for nobody"]);
  assert.deepEqual(asked, ["GET /orders"]);
});

test("a hundred requests share one renewal", async () => {
  renewal = { ...OK, delay_ms: 200 };
  const statuses = await run(async () => {
    const all = Array.from({ length: 100 }, (_, number) => fetchWithLogin(`/orders/${number}`));
    return (await Promise.all(all)).map(({ status }) => status);
  });
  assert.deepEqual(new Set(statuses), new Set([200]));
  assert.equal(asked.filter((line) => line.includes("refresh")).length, 1);
});

test("a 401 that comes after a renewal does not renew again", async () => {
  const answers = await run(() => Promise.all([seen(fetchWithLogin("/late")), seen(fetchWithLogin("/orders"))]));
  assert.deepEqual(answers, [
    [200, "for nobody"],
    [200, "for nobody"],
  ]);
  assert.equal(asked.filter((line) => line.includes("refresh")).length, 1);
});

test("a session that is over gives the 401 of the page", async () => {
  renewal = OVER;
  assert.deepEqual(await run(() => seen(fetchWithLogin("/orders"))), [401, "nobody is logged in"]);
  assert.equal(asked.length, 2);
  renewal = OK;
  assert.deepEqual(await run(() => seen(fetchWithLogin("/orders"))), [200, "for nobody"]);
});

test("a session that cannot be renewed now is not said to be over", async () => {
  const body = { code: "LOGIN_UNAVAILABLE", error: "Later." };
  renewal = { status: 503, body, delay_ms: 100 };
  const answers = await run(() => Promise.all([seen(fetchWithLogin("/a")), seen(fetchWithLogin("/b"))]));
  for (const [status, text] of answers) assert.deepEqual([status, JSON.parse(text)], [503, body]);
  renewal = { cut: true };
  assert.equal(await run(() => seen(fetchWithLogin("/orders"))), "TypeError");
  renewal = OK;
  assert.deepEqual(await run(() => seen(fetchWithLogin("/orders"))), [200, "for nobody"]);
});

test("a browser that keeps no cookies does not ask forever", async () => {
  renewal = { ...OK, useless: true };
  assert.deepEqual(await run(() => seen(fetchWithLogin("/orders"))), [401, "nobody is logged in"]);
  assert.equal(asked.length, 3);
});

test("a request that leaves early leaves at once, and the others stay", async () => {
  renewal = { ...OK, delay_ms: 1500 };
  const [left, stayed, took] = await run(async () => {
    const start = performance.now();
    const left = seen(fetchWithLogin("/orders", { signal: AbortSignal.timeout(200) }));
    const stayed = seen(fetchWithLogin("/orders"));
    return [await left, await stayed, performance.now() - start];
  });
  assert.deepEqual([left, stayed], ["TimeoutError", [200, "for nobody"]]);
  assert.ok(took < 10_000);
});

test("neither another origin, nor a bearer token, nor a request without cookies renews", async () => {
  const other = origin.replace("127.0.0.1", "localhost");
  assert.equal((await run(() => seen(fetchWithLogin(`${value}/orders`)), other))[0], 401);
  assert.equal((await run(() => seen(fetchWithLogin("/orders", { headers: { Authorization: "Bearer x" } }))))[0], 401);
  assert.equal((await run(() => seen(fetchWithLogin("/orders", { credentials: "omit" }))))[0], 401);
  assert.equal(asked.length, 3);
});

test("the contract may be mounted elsewhere, but not at another origin", async () => {
  assert.deepEqual(await run(() => seen(fetchWithLogin("/orders", {}, { endpoint: "/api/login" }))), [200, "for nobody"]);
  assert.equal(asked[1], "POST /api/login/refresh {}");
  for (const endpoint of ["https://evil.example/login", "//evil.example/login"])
    assert.equal(await run(() => seen(fetchWithLogin("/orders", {}, { endpoint: value })), endpoint), "TypeError");
  assert.equal(asked.length, 3);
});
