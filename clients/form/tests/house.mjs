// A backend that answers as a test says, a page with the form under a strict policy, and Chromium before it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, beforeEach, afterEach } from "node:test";
import { chromium } from "playwright-core";

const MODULE = new URL("../dwar-login.js", import.meta.url);
const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 5000);

/** No inline script or style, no HTML out of strings, nothing from elsewhere, no form that is sent by itself. */
export const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
export const SENT = { body: { otp_id: "01a1fd34-3aef-7770-a038-fb77decadd73", expires_in: 600 } };
export const VERIFIED = {
  body: { identity_id: "01a1fd34-405d-7726-8dd7-a07883461652", phone: "+919876543210", expires_in: 900 },
};
/** An answer that waits: `{ ...VERIFIED, held }`, until `release` is called. */
export function hold() {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  return { held, release };
}
/** An answer in Dwar's shape. */
export const refusal = (status, code, retryAfter, error = "A sentence of the backend.") => ({
  status, body: { error, code }, headers: retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) },
});

const page = (attributes, lang) => `<!doctype html><html lang="${lang}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Log in</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css"><script type="module" src="/dwar-login.js"></script>
</head><body><main><h1>Shop</h1><dwar-login ${attributes}><p>Scripts are needed to log in.</p></dwar-login></main>
<script>window.inline = true</script></body></html>`;
// axe takes a page that names no ground for a white one.
const CSS = "html { color-scheme: light dark; background: Canvas } body { margin: 16px; font-family: system-ui, sans-serif }";

export class Backend {
  policy = POLICY;
  #answers = {};
  /** What was asked: `path`, `body`, `headers`. */
  asked = [];
  #server = createServer((request, response) => void this.#serve(request, response));

  async start() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.origin = `http://127.0.0.1:${this.#server.address().port}`;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Answers per call, in order; the last one is repeated. */
  play(answers) {
    this.#answers = { send: [SENT], verify: [VERIFIED], ...answers };
    this.asked = [];
    this.policy = POLICY;
  }

  bodies(call) {
    return this.asked.filter(({ path }) => path.endsWith(`/${call}`)).map(({ body }) => body);
  }

  async #serve(request, response) {
    const { pathname: path, searchParams } = new URL(request.url, this.origin);
    if (path === "/dwar-login.js") {
      response.writeHead(200, { "Content-Type": "text/javascript" }).end(readFileSync(MODULE));
    } else if (path === "/page.css") {
      response.writeHead(200, { "Content-Type": "text/css" }).end(CSS);
    } else if (request.method === "GET") {
      const html = page(searchParams.get("attributes") ?? "", searchParams.get("lang") ?? "en");
      response.writeHead(200, { "Content-Type": "text/html", "Content-Security-Policy": this.policy }).end(html);
    } else {
      const { headers } = request;
      const text = Buffer.concat(await request.toArray()).toString();
      this.asked.push({ path, headers, body: text && JSON.parse(text) });
      const answers = this.#answers[path.split("/").at(-1)];
      await answer(response, answers.length > 1 ? answers.shift() : answers[0]);
    }
  }
}

async function answer(response, { status = 200, headers, body, text, held, cut }) {
  await held;
  if (cut) return response.socket.destroy();
  response.writeHead(status, { "Content-Type": text ? "text/html" : "application/json", ...headers });
  response.end(text ?? JSON.stringify(body));
}

/**
 * For the tests of a file: `house.backend`, and `house.page` with nothing on it. After each test no request has gone
 * elsewhere, and nothing has failed or offended the policy. A test that changes what stays with the page, such as its
 * clock, sets `house.spent`, and the next one gets another. With a `domain` the backend is at home there.
 */
export function house({ domain, args = [] } = {}) {
  const house = { backend: new Backend(), spent: true };
  if (domain) args.push(`--host-resolver-rules=MAP ${domain} 127.0.0.1`);
  before(async () => {
    await house.backend.start();
    if (domain) house.backend.origin = house.backend.origin.replace("127.0.0.1", domain);
    house.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", ...args] });
  });
  after(async () => {
    await house.browser.close();
    house.backend.stop();
  });
  beforeEach(async () => {
    house.backend.play({});
    if (house.spent) await renew(house);
    house.spent = false;
    house.expected = [];
    house.faults.length = house.elsewhere.length = 0;
  });
  afterEach(async () => {
    const offences = await house.page.evaluate(() => window.offences ?? []);
    if (house.spent) await house.context.close();
    else {
      await forget(house);
      await house.page.goto("about:blank");
    }
    assert.deepEqual(house.elsewhere, []);
    assert.deepEqual(house.faults, house.expected);
    // The page's own inline script and its icon, which the policy refuses as it should.
    assert.deepEqual(offences.filter((it) => it !== "script-src-elem inline" && it !== "img-src data"), []);
  });
  return house;
}

async function renew(house) {
  house.context = await house.browser.newContext({ viewport: { width: 360, height: 740 } });
  house.context.setDefaultTimeout(PATIENCE_MS);
  const { hostname, origin } = new URL(house.backend.origin);
  // The clipboard wants a secure context.
  if (hostname === "127.0.0.1") await house.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  house.page = await house.context.newPage();
  house.faults = [];
  house.elsewhere = [];
  house.page.on("pageerror", ({ message }) => house.faults.push(message));
  house.context.on("request", (request) => {
    if (!request.url().startsWith(`${house.backend.origin}/`) && !request.url().startsWith("data:")) {
      house.elsewhere.push(request.url());
    }
  });
  await house.context.addInitScript(() => {
    window.offences = [];
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
      window.offences.push(`${effectiveDirective} ${blockedURI}`));
    document.addEventListener("dwar-login", ({ detail }) => (window.loggedIn = detail));
  });
}

/** The page's clock, from here on in the hands of the test. */
export async function stopClock(house) {
  house.spent = true;
  await house.page.clock.install();
}

/** Clears what the tab keeps of earlier pages, on one without a form: an answer that comes now would be kept again. */
async function forget({ page, backend }) {
  if (page.url() === "about:blank") return;
  await page.goto(`${backend.origin}/dwar-login.js`);
  await page.evaluate(() => sessionStorage.clear());
}

/** A page in a tab that keeps nothing of earlier ones. */
export async function open({ page, backend }, { attributes = "", lang = "en" } = {}) {
  await forget({ page, backend });
  await page.goto(`${backend.origin}/?${new URLSearchParams({ attributes, lang })}`);
}

export const field = ({ page }) => page.locator("dwar-login input");
export const alert = ({ page }) => page.locator("dwar-login [role=alert]");
export const button = ({ page }, name) => page.locator("dwar-login button", { hasText: name });

/** Goes on to the step of the code. */
export async function sendCode(house, phone = "9876543210") {
  await field(house).fill(phone);
  await field(house).press("Enter");
  await house.page.locator("[autocomplete=one-time-code]").waitFor();
}

/** The element that has the focus, in a shadow root too. */
export const focused = ({ page }) => page.evaluateHandle(() => {
  let element = document.activeElement;
  while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
});

export async function paste({ page }, text) {
  await page.evaluate((text) => navigator.clipboard.writeText(text), text);
  await page.keyboard.press("Control+V");
}

/** As long as a request that should not come would need, and some more. */
export const settle = ({ page }) => page.waitForTimeout(150);

export async function until(check) {
  for (const end = Date.now() + PATIENCE_MS; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** The clipboard of a page that is not at home on this machine is out of reach. */
const pasteEvent = (house, text) => field(house).evaluate((input, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text", text);
  input.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}, text);

/** Pastes each message of the table, and wants its code submitted, or nothing filled in. */
export async function pasteAll(house, messages) {
  house.backend.play({ verify: [refusal(400, "INVALID_OTP")] });
  await open(house);
  await sendCode(house);
  const submitted = () => house.backend.bodies("verify").map(({ code }) => code);
  for (const { text, code, read = code } of messages) {
    const before = submitted().length;
    await pasteEvent(house, text);
    if (read === null) {
      await settle(house);
      assert.equal(submitted().length, before, text);
      assert.equal(await alert(house).textContent(), "Enter all 6 digits of the OTP.", text);
    } else {
      await alert(house).getByText("not correct").waitFor();
      await until(() => assert.deepEqual(submitted().slice(before), [read], text));
    }
    assert.equal(await field(house).inputValue(), "", text);
    await field(house).fill("1");
    await field(house).fill("");
  }
}
