// All messages of test mode on one page. Run by run.sh.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { LOOK, open } from "./house.mjs";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
let house, project;

before(async () => {
  house = await open();
  project = await house.enter();
});
after(() => house.close());

async function send(phone) {
  const answer = await fetch(`${house.api}/v1/otp/send`, {
    method: "POST",
    headers: { "X-Api-Key": house.testKey, "Content-Type": "application/json" },
    body: JSON.stringify({ phone }),
  });
  assert.equal(answer.status, 200);
  return (await answer.json()).otp_id;
}
const numbers = (page) => page.locator("#rows .number-of").allTextContents();

test("messages appear by themselves, newest first, and lead to their story", async () => {
  const { page } = house;
  await page.goto(`${project}/inbox`);
  await page.waitForSelector("#nothing >> text=No messages yet");
  await page.waitForSelector('#live-bar[data-state="going"]');
  const otp = await send("9876543210");
  await page.waitForSelector("#rows >> text=+919876543210");
  assert.equal(await page.locator("#nothing").isVisible(), false);
  await send("9000000001");
  await page.waitForSelector("#rows >> text=+919000000001");
  assert.deepEqual(await numbers(page), ["+919000000001", "+919876543210"]);
  assert.match(await page.textContent("#rows tr:last-child .message"), /^\d{6} is your Demo verification code/);
  await page.click("#rows tr:last-child a");
  await page.waitForSelector(".timeline");
  assert.ok(page.url().endsWith(`/activity/${otp}`));
  assert.deepEqual(house.faults, []);
});

test("a search as one types keeps to what matches, also for what comes", async () => {
  const { page } = house;
  await page.goto(`${project}/inbox`);
  await page.waitForSelector('#live-bar[data-state="going"]');
  await page.locator("#wanted").pressSequentially("98765 43210");
  await page.waitForFunction(() => document.querySelectorAll("#rows tr").length === 1);
  assert.deepEqual(await numbers(page), ["+919876543210"]);
  await page.locator("#rows a").first().focus();
  await send("9123456789");
  await send("9876543210");
  await page.waitForFunction(() => document.querySelectorAll("#rows tr").length === 2);
  assert.deepEqual(await numbers(page), ["+919876543210", "+919876543210"]);
  assert.equal(await page.evaluate(() => document.activeElement.closest("tr") === document.querySelector("#rows tr:last-child")), true, "what has the focus keeps it");
  assert.ok(!page.url().includes("98765"));
  await page.fill("#wanted", "coffee");
  await page.waitForSelector("#nothing >> text=No messages match");
  await page.fill("#wanted", "");
  await page.waitForFunction(() => document.querySelectorAll("#rows tr").length === 4);
  assert.deepEqual(house.faults, []);
});

test("without scripts it is a list that is searched by a form, page by page", async () => {
  for (let number = 0; number < 50; number += 1) await send(`98111000${String(number).padStart(2, "0")}`);
  const context = await house.browser.newContext({ ...LOOK, javaScriptEnabled: false, storageState: await house.context.storageState() });
  const page = await context.newPage();
  await page.goto(`${project}/inbox`);
  assert.equal(await page.locator("#rows tr").count(), 50);
  const follow = (what) => Promise.all([page.waitForEvent("load"), page.click(what)]);
  await follow("text=Older messages");
  assert.deepEqual((await numbers(page)).slice(-2), ["+919000000001", "+919876543210"]);
  await follow("text=Newer messages");
  assert.equal((await numbers(page))[0], "+919811100049");
  await page.fill("#wanted", "code 98111-00004");
  await follow("#search button");
  assert.deepEqual(await numbers(page), ["+919811100004"]);
  assert.ok(!page.url().includes("11100"));
  await follow("text=Show all");
  assert.equal(await page.locator("#rows tr").count(), 50);
  await context.close();
});

test("a full inbox is fit for everybody, in both themes, and under 120 kB with its files", async () => {
  const page = await house.context.newPage();
  for (const viewport of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) for (const colorScheme of ["light", "dark"]) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await page.goto(`${project}/inbox`);
    assert.equal(await page.locator("#rows tr").count(), 50);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run());
    const told = violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 120))]);
    assert.deepEqual(told, [], `${viewport.width} ${colorScheme}`);
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(beyond <= 0, `${beyond} pixels too wide at ${viewport.width}`);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/inbox-${viewport.width}-${colorScheme}.png` });
  }
  const html = await (await page.context().request.get(`${project}/inbox`)).text();
  const files = await page.evaluate(() => [...document.querySelectorAll("script[src], link[rel]")].map((it) => it.src || it.href));
  let size = html.length;
  for (const file of files) size += (await (await page.context().request.get(file)).text()).length;
  assert.ok(size < 120_000, `${size} bytes`);
  await page.close();
});
