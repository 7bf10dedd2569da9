// Both pages in Chromium (CHROMIUM is its path), before a service that asks everybody for a proof. ALTCHA's widget and
// library are the real ones; of Turnstile there is a stand-in, since its own needs the internet.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { chromium } from "playwright-core";

const SENT = { otp_id: "01a1fd34-3aef-7770-a038-fb77decadd73", status: "sent", channel: "sms", expires_in: 600 };
const TURNSTILE = `let count = 0;
  globalThis.turnstile = { render: (place, { callback }) => (setTimeout(callback, 50, "token " + ++count), count), remove() {} };`;
let service, url, browser;
/** The visitors that the service was told of, and the tokens that were used up. */
let visitors = [];
const used = new Set(["token 1"]);

before(async () => {
  service = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const answer = (status, value) => response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
    if (request.url === "/siteverify") {
      const token = new URLSearchParams(body).get("response");
      return answer(200, { success: !used.has(token) && !!used.add(token) });
    }
    if (request.url !== "/v1/otp/send") return answer(404, {});
    const { visitor } = JSON.parse(body);
    visitors.push(visitor);
    if (visitor.trusted) return answer(200, { ...SENT, expires_at: new Date(Date.now() + 600_000) });
    answer(403, { error: "A proof is needed.", code: "PROOF_REQUIRED", request_id: "r-1" });
  });
  url = await listening(service);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  service.close();
  service.closeAllConnections();
});

async function listening(server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
}

/** A page with the form; `run` gets it after its number was sent for the first time. */
async function onPage(PROOF, run) {
  visitors = [];
  const free = createServer();
  const site = (await listening(free)).replace("127.0.0.1", "localhost");
  free.close();
  const env = {
    ...process.env, PORT: new URL(site).port, ORIGIN: site, PROOF, DWAR_URL: url, DWAR_API_KEY: "svc_test_1",
    DWAR_PROJECT_ID: "p", DWAR_MODE: "test", DWAR_SECRET: "for this test alone, 32 characters",
    ALTCHA_SECRET: "of this test", TURNSTILE_SECRET: "of this test", TURNSTILE_VERIFY: `${url}/siteverify`,
  };
  const backend = spawn(process.execPath, ["server.mjs"], { env, stdio: ["ignore", "ignore", "inherit"] });
  try {
    while (!(await fetch(`${site}/me`).catch(() => undefined))) await new Promise((resolve) => setTimeout(resolve, 50));
    const page = await browser.newPage();
    const offences = [];
    page.on("console", (message) => message.text().includes("Content Security Policy") && offences.push(message.text()));
    await page.route("https://challenges.cloudflare.com/**", (route) =>
      route.fulfill({ contentType: "text/javascript", body: TURNSTILE }),
    );
    await page.goto(site);
    await page.locator("dwar-login input").first().fill("9876543210");
    await page.keyboard.press("Enter");
    await run(page, site);
    assert.deepEqual(offences, []);
    await page.close();
  } finally {
    backend.kill();
  }
}

const trusted = () => visitors.map((visitor) => visitor.trusted);

test("ALTCHA's widget proves one send, once", () =>
  onPage("altcha", async (page, site) => {
    await page.locator("altcha-widget input[type=checkbox]").press("Space");
    const [sent] = await Promise.all([
      page.waitForRequest((request) => request.url() === `${site}/login/send`),
      page.locator("[autocomplete=one-time-code]").waitFor(),
    ]);
    assert.deepEqual(trusted(), [undefined, true]);
    for (const proof of [JSON.parse(sent.postData()).proof, "e30=", "nonsense"]) {
      const data = { phone: "9876543210", proof };
      assert.equal((await page.request.post(`${site}/login/send`, { data })).status(), 403);
    }
    assert.deepEqual(trusted().slice(2), [undefined, undefined, undefined]);
  }));

test("of Turnstile a token that is not good is followed by another", () =>
  onPage("turnstile", async (page) => {
    await page.locator("[autocomplete=one-time-code]").waitFor();
    assert.deepEqual(trusted(), [undefined, undefined, true]);
  }));
