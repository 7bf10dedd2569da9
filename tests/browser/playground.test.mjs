// The playground, as a new user sees it. Run by run.sh.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { LOOK, open, step } from "./house.mjs";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const DESKTOP = { width: 1440, height: 900 };
const MOBILE = { width: 390, height: 844 };
let house, project;

before(async () => {
  house = await open();
  project = await house.enter();
});
after(() => house.close());

/** Whether the element is completely visible in the window. */
const inSight = (page, selector) => page.locator(selector).first().evaluate((it) => {
  const { top, bottom, left, right } = it.getBoundingClientRect();
  return it.checkVisibility() && top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
});
/** A click of a mouse, which never scrolls, on what is in sight. */
async function press(page, selector) {
  await page.waitForSelector(selector);
  assert.ok(await inSight(page, selector), `${selector} is in sight`);
  const { x, y, width, height } = await page.locator(selector).boundingBox();
  await page.mouse.click(x + width / 2, y + height / 2);
}
const folded = (page, name) => page.locator(`[data-step="${name}"] .step-body`).isHidden();
const scrolled = (page) => page.evaluate(() => scrollY);

/** Nothing for axe to find, in both themes at both widths, and nothing wider than the window. */
async function fits(page, what) {
  for (const viewport of [DESKTOP, MOBILE]) for (const colorScheme of ["light", "dark"]) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run());
    const told = violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 120))]);
    assert.deepEqual(told, [], `${what} ${viewport.width} ${colorScheme}`);
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(beyond <= 0, `${what} is ${beyond} pixels too wide at ${viewport.width}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

test("three clicks lead from a fresh page to a verified code, without scrolling at 1440 by 900", async () => {
  const { page } = house;
  await page.setViewportSize(DESKTOP);
  await page.goto(`${project}/playground`);
  for (const part of ["#own-key", "#phone", '[data-number="9000000005"]', ".phone", '[data-step="verify"] .run']) {
    assert.ok(await inSight(page, part), `${part} is above the fold`);
  }
  const top = (id) => page.locator(id).evaluate((it) => it.getBoundingClientRect().top);
  assert.ok((await top("#own-key")) < (await top("#phone")), "the key comes first");
  await press(page, '[data-step="send"] .run');
  await press(page, ".autofill");
  await press(page, '[data-step="verify"] .run');
  await page.waitForSelector(".next >> text=The code is verified");
  assert.equal(await scrolled(page), 0);
  for (const part of [".next", '[data-step="validate"] .run']) assert.ok(await inSight(page, part), part);
  assert.equal(await page.locator(".autofill").isVisible(), false, "a used code is offered no more");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Validate");
  await fits(page, "a verified code");
  assert.deepEqual(house.faults, []);
});

test("a step that is done folds to a line with its story, and unfolds", async () => {
  const { page } = house;
  await page.setViewportSize(DESKTOP);
  await page.goto(`${project}/playground`);
  assert.equal(await folded(page, "send"), false);
  assert.equal(await folded(page, "verify"), true);
  await step(page, "send");
  assert.equal(await folded(page, "send"), true);
  assert.equal(await folded(page, "verify"), false);
  const head = page.locator('[data-step="send"]');
  assert.ok((await head.evaluate((it) => it.getBoundingClientRect().height)) < 70, "one line");
  assert.equal(await head.locator("#code").count(), 0);
  await head.locator(".fold").click();
  assert.equal(await head.locator(".fold").getAttribute("aria-expanded"), "true");
  assert.match(await head.locator(".panel").textContent(), /"otp_id"/);
  const otp = (await head.locator(".panel").textContent()).match(/"otp_id": "([^"]+)"/)[1];
  await page.click(".autofill");
  await step(page, "verify");
  assert.equal(await page.locator("#code").isVisible(), false);
  for (const name of ["send", "verify"]) {
    const story = page.locator(`[data-step="${name}"] a.story`);
    assert.equal(await story.getAttribute("href"), `${new URL(project).pathname}/activity/${otp}`);
  }
  const [story] = await Promise.all([page.waitForEvent("popup"), page.click('[data-step="verify"] a.story')]);
  await story.waitForSelector(".timeline >> text=WhatsApp via sandbox");
  await story.close();
});

test("a send that fails resets what follows, and the phone says why nothing came", async () => {
  const { page } = house;
  await page.setViewportSize(DESKTOP);
  await page.goto(`${project}/playground`);
  await step(page, "send");
  await page.click(".autofill");
  await step(page, "verify");
  await step(page, "validate");
  await page.fill("#phone", "9000000002");
  assert.equal(await step(page, "send"), "500");
  await page.waitForSelector(".chat-why >> text=WhatsApp and SMS both failed");
  assert.equal(await page.locator(".bubble").count(), 0);
  assert.equal(await page.locator(".autofill").isVisible(), false);
  assert.equal(await page.inputValue("#code"), "");
  for (const name of ["verify", "validate"]) {
    assert.equal(await page.getAttribute(`[data-step="${name}"]`, "data-state"), "", name);
    assert.equal(await page.textContent(`[data-step="${name}"] .status`), "", name);
    assert.equal(await page.locator(`[data-step="${name}"] a.story`).isVisible(), false, name);
  }
  assert.equal(await page.locator(".token-full").isVisible(), false, "no token of the login before");
  assert.equal(await page.locator(".next").isVisible(), false);
  assert.equal(await step(page, "validate"), "422");
  const [story] = await Promise.all([page.waitForEvent("popup"), page.click('[data-step="send"] button.story')]);
  await story.waitForSelector(".timeline >> text=No code reached the phone");
  assert.ok(!story.url().includes("9000000002"));
  await story.close();
  await page.click('[data-number="9000000004"]');
  assert.equal(await step(page, "send"), "402");
  await page.waitForSelector(".chat-why >> text=the balance is too low");
  await fits(page, "a failed send");
  await page.fill("#phone", "12345");
  assert.equal(await page.locator(".chat-why").isVisible(), false, "another number, another phone");
  await step(page, "send");
  await page.waitForSelector(".chat-why >> text=not an Indian mobile number");
  assert.deepEqual(house.faults, []);
});

test("the login form is loaded when somebody comes to it, and its code comes to the phone beside it", async () => {
  const { page } = house;
  await page.setViewportSize(DESKTOP);
  await page.goto(`${project}/playground`);
  await page.waitForSelector("#playground:not([hidden])");
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(() => customElements.get("dwar-login")), undefined);
  await page.locator("#login-form").scrollIntoViewIfNeeded();
  await page.fill("dwar-login input", "9876543210");
  await page.press("dwar-login input", "Enter");
  await page.waitForSelector("dwar-login [autocomplete=one-time-code]");
  const fill = page.locator(".autofill:not([hidden])");
  await fill.waitFor();
  const code = (await fill.textContent()).match(/[0-9]{6}/)[0];
  assert.equal(await page.locator(".phone").evaluate((phone) => phone.getBoundingClientRect().top < innerHeight), true);
  await fill.click();
  await page.waitForFunction((code) => {
    const form = document.querySelector("dwar-login");
    const field = form.shadowRoot.querySelector("[autocomplete=one-time-code]");
    return field ? field.value === code : form.shadowRoot.textContent.includes("You are logged in");
  }, code);
  assert.equal(await page.inputValue("#code"), "", "the steps above have a code of their own");
  await fits(page, "the form beside the phone");
  assert.deepEqual(house.faults, []);
});

test("without scripts the playground says so and shows no dead buttons", async () => {
  const context = await house.browser.newContext({ ...LOOK, javaScriptEnabled: false, storageState: await house.context.storageState() });
  const page = await context.newPage();
  await page.goto(`${project}/playground`);
  assert.match(await page.innerText("main"), /needs JavaScript/);
  const dead = await page.locator("main button, main input").evaluateAll((all) => all.filter((it) => it.checkVisibility()).length);
  assert.equal(dead, 0);
  await context.close();
});

test("an example of the reference is copied as it stands, by a stranger too", async () => {
  const context = await house.browser.newContext({ ...LOOK, permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  await page.goto(`${house.base}/reference#sendOtp`);
  const example = page.locator("#sendOtp .copied").first();
  await example.locator("button").click();
  await example.locator("button >> text=Copied").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await example.locator("pre").textContent());
  await context.close();
});
