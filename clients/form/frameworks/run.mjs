// Drives <dwar-login> in pages of frameworks, rendered on a server, in Chromium. The element is there before the framework
// takes the page over, or after it: with either, nothing is said on the console, the framework's own children stay as they
// are, and what it changes and hears goes through.
//
//   node run.mjs [FRAMEWORK…]
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { chromium } from "playwright-core";
import { make } from "./apps.mjs";

const MODULE = readFileSync(process.env.DWAR_LOGIN ?? new URL("../dwar-login.js", import.meta.url), "utf8");
const IDENTITY = "01a1fd34-405d-7726-8dd7-a07883461652";
const json = (body) => ({ contentType: "application/json", body: JSON.stringify(body) });

/** @param {{ origin: string, html?: string, program?: string }} site @param {"form" | "framework"} first */
async function drive(browser, { origin, html, program }, first) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const said = [], asked = [];
  page.on("pageerror", ({ message }) => said.push(message));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && said.push(message.text()));
  let release;
  const later = new Promise((resolve) => (release = resolve));
  const isFramework = (url) => url.pathname === "/app.js" || /^\/_next\/.*\.js$/.test(url.pathname);
  await page.route(isFramework, async (route) => {
    if (first === "form") await later;
    return program ? route.fulfill({ contentType: "text/javascript", body: program }) : route.continue();
  });
  await page.route(`${origin}/dwar-login.js`, async (route) => {
    if (first === "framework") await later;
    return route.fulfill({ contentType: "text/javascript", body: MODULE });
  });
  await page.route(/\/(login|auth)\/(send|verify)$/, (route) => {
    asked.push(new URL(route.request().url()).pathname);
    return route.fulfill(json({ otp_id: "1", identity_id: IDENTITY, expires_in: 600 }));
  });
  if (html) {
    await page.route(`${origin}/`, (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body: `<!doctype html><html lang="en">
      <head><link rel="icon" href="data:,"></head><body>${html}<script async type="module" src="/app.js"></script></body></html>` }));
  } else await page.route(`${origin}/favicon.ico`, (route) => route.fulfill({ body: "" }));
  await page.goto(`${origin}/`, { waitUntil: "commit" });
  const form = () => page.addScriptTag({ url: `${origin}/dwar-login.js`, type: "module" });
  const label = (text) => page.locator("dwar-login label").getByText(text).waitFor();
  await page.locator("output").waitFor();
  if (first === "form") {
    await form();
    await label("Mobile number");
    await page.locator("dwar-login input").fill("98765");
    release();
  } else {
    await page.waitForTimeout(1500);
    void form();
    release();
  }
  // The button does nothing until the framework has taken over.
  for (let tries = 0; (await page.locator("main").getAttribute("lang")) !== "hi"; tries++) {
    assert.ok(tries < 100, `the framework did not take over: ${said}`);
    await page.locator("#change").click();
    await page.waitForTimeout(50);
  }
  await label("मोबाइल नंबर");
  assert.deepEqual(await page.locator("dwar-login").evaluate((it) => [...it.children].map(({ outerHTML }) => outerHTML.replace(/^<p [^>]*>/, "<p>"))),
    ["<p>Scripts are needed to log in.</p>"]);
  await page.locator("dwar-login input").fill("9876543210");
  await page.locator("dwar-login input").press("Enter");
  await page.locator("dwar-login [autocomplete=one-time-code]").waitFor();
  await page.keyboard.insertText("123456");
  await page.locator("output", { hasText: IDENTITY }).waitFor();
  assert.deepEqual(asked, ["/auth/send", "/auth/verify"]);
  assert.deepEqual(said, []);
  await context.close();
}

async function next() {
  const cwd = new URL("next/", import.meta.url);
  const environment = { cwd, env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" }, stdio: ["ignore", "ignore", "inherit"] };
  const program = new URL("node_modules/next/dist/bin/next", import.meta.url).pathname;
  const [status] = await once(spawn(process.execPath, [program, "build"], environment), "exit");
  assert.equal(status, 0, "next build");
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address();
  await new Promise((closed) => free.close(closed));
  const server = spawn(process.execPath, [program, "start", "-H", "127.0.0.1", "-p", port], environment);
  const origin = `http://127.0.0.1:${port}`;
  for (let tries = 0; !(await fetch(origin).catch(() => undefined)); tries++) {
    assert.ok(tries < 300, "next start");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { origin, stop: () => server.kill() };
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : ["react", "preact", "vue", "svelte", "angular", "next"];
const scratch = mkdtempSync(`${tmpdir()}/dwar-login-`);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
let failed = 0;
for (const framework of wanted) {
  let site;
  try {
    site = framework === "next" ? await next() : { origin: `http://${framework}.example`, ...(await make(framework, scratch)) };
    for (const first of ["form", "framework"]) await drive(browser, site, first);
    console.log(`ok      ${framework}`);
  } catch (error) {
    failed = 1;
    console.log(`not ok  ${framework}: ${error.stack}`);
  } finally {
    site?.stop?.();
  }
}
await browser.close();
rmSync(scratch, { recursive: true });
process.exit(failed);
