import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Backend, POLICY, alert, field, focused, house, open, sendCode, settle, until } from "./house.mjs";

const it = house();

async function logIn() {
  await sendCode(it);
  await it.page.keyboard.insertText("123456");
}
const loggedIn = () => it.page.getByText("You are logged in.").waitFor();
const home = () => it.page.url().startsWith(`${it.backend.origin}/?attributes=`);

test("the module is under 13 KB, compressed by gzip", () => {
  assert.ok(gzipSync(readFileSync(new URL("../dwar-login.js", import.meta.url))).length < 13 * 1024);
});

test("a server that renders pages can import it", () => {
  const program = "import('./dwar-login.js').then(({ DwarLogin }) => console.log(DwarLogin.name))";
  const folder = new URL("..", import.meta.url);
  assert.equal(execFileSync("node", ["-e", program], { cwd: folder, encoding: "utf8" }), "DwarLogin\n");
});

test("under a strict policy it has its styles, and the page's inline script does not run", async () => {
  await open(it);
  assert.equal(await field(it).evaluate((input) => getComputedStyle(input).height), "48px");
  assert.equal(await it.page.evaluate(() => window.inline), undefined);
  assert.equal(await it.page.locator("style, [style]").count(), 0);
});

test("where the policy refuses its script, the page's own words stay", async () => {
  it.backend.policy = POLICY.replace("script-src 'self'", "script-src 'none'");
  await open(it);
  await it.page.getByText("Scripts are needed to log in.").waitFor();
  assert.equal(await it.page.locator("form").count(), 0);
  const refused = `script-src-elem ${it.backend.origin}/dwar-login.js`;
  assert.ok((await it.page.evaluate(() => window.offences.splice(0))).includes(refused));
});

test("the body of a call has what the contract wants, and the call goes to its own backend alone", async () => {
  await open(it, { attributes: 'endpoint="/auth/phone/"' });
  await logIn();
  await loggedIn();
  assert.deepEqual(it.backend.asked.map(({ path, body }) => [path, body]), [
    ["/auth/phone/send", { phone: "9876543210" }],
    ["/auth/phone/verify", { phone: "9876543210", code: "123456" }],
  ]);
  for (const { headers } of it.backend.asked) {
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers.origin, it.backend.origin);
    assert.equal(headers["sec-fetch-site"], "same-origin");
  }
});

test("after the login neither code nor phone is kept: not in a store, a cookie, the address or the history", async () => {
  await open(it);
  const before = await it.page.evaluate(() => history.length);
  await logIn();
  await loggedIn();
  const kept = await it.page.evaluate(async () => JSON.stringify([
    { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
    await indexedDB.databases(), await caches.keys(), document.body.innerHTML,
  ]));
  assert.doesNotMatch(kept, /98765|43210|123456/);
  assert.equal(await it.page.evaluate(() => history.length), before);
});

test("a redirect of the backend is not followed", async () => {
  const other = new Backend();
  await other.start();
  other.play({});
  it.backend.play({ send: [{ status: 307, headers: { Location: `${other.origin}/send` }, text: " " }] });
  it.backend.policy = POLICY.replace("connect-src 'self'", "connect-src *");
  await open(it);
  await field(it).fill("9876543210");
  await field(it).press("Enter");
  await until(() => assert.equal(it.backend.asked.length, 1));
  await settle(it);
  other.stop();
  assert.deepEqual(other.asked, []);
  assert.match(await alert(it).textContent(), /^Login is not possible at the moment\./);
  // Chromium names the target of a redirect that it does not follow.
  it.elsewhere.splice(0, Infinity, ...it.elsewhere.filter((url) => url !== `${other.origin}/send`));
});

for (const next of [
  "https://evil.example/", "//evil.example/", "/\\evil.example/", "\\\\evil.example/", "/\t/evil.example/",
  "javascript:window.evil=true", " javascript:window.evil=true", "data:text/html,evil", "account", "http:/account", "//",
]) {
  test(`next «${JSON.stringify(next)}» leads nowhere`, async () => {
    await open(it);
    await it.page.evaluate((next) => document.querySelector("dwar-login").setAttribute("next", next), next);
    await logIn();
    await loggedIn();
    await settle(it);
    assert.ok(home(), it.page.url());
    assert.equal(await it.page.evaluate(() => window.evil), undefined);
  });
}

test("next leads to a path of this origin, even one that begins with two slashes once it is resolved", async () => {
  await open(it, { attributes: 'next="/.//evil.example/"' });
  await logIn();
  await it.page.waitForURL(`${it.backend.origin}//evil.example/`);
});

test("the event has the identity, and cancels the navigation", async () => {
  await open(it, { attributes: 'next="/account"' });
  await it.page.evaluate(() => document.addEventListener("dwar-login", (event) => event.preventDefault()));
  await logIn();
  await loggedIn();
  await settle(it);
  assert.ok(home(), it.page.url());
  const detail = await it.page.evaluate(() => window.loggedIn);
  assert.deepEqual(detail, { identity_id: "01a1fd34-405d-7726-8dd7-a07883461652" });
  assert.equal(await (await focused(it)).evaluate(({ textContent }) => textContent), "You are logged in.");
});

for (const endpoint of ["https://evil.example/login", "//evil.example/login", "login"]) {
  test(`endpoint «${endpoint}» is an error of the page's author, and nothing is sent`, async () => {
    it.expected = ["dwar-login: endpoint has to be a path of this origin"];
    await open(it, { attributes: `endpoint="${endpoint}"` });
    await until(() => assert.deepEqual(it.faults, it.expected));
    assert.equal(await field(it).count(), 0);
  });
}

test("two forms on a page, one in a shadow root, do not disturb each other", async () => {
  await open(it);
  await it.page.evaluate(() => {
    const root = document.body.appendChild(document.createElement("div")).attachShadow({ mode: "open" });
    root.append(document.createElement("dwar-login"));
    document.body.append(document.createElement("dwar-login"));
  });
  const heights = await it.page.locator("dwar-login input").evaluateAll((all) =>
    all.map((input) => [getComputedStyle(input).height, input.getRootNode().querySelectorAll(`#${input.id}`).length]));
  assert.deepEqual(heights, Array(3).fill(["48px", 1]));
});
