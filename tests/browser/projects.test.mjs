// Creating, renaming, archiving and restoring projects, and booking money by hand. Run by run.sh.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { everywhere, open, sound } from "./house.mjs";

let house;

before(async () => {
  house = await open();
  await house.enter();
});
after(() => house.close());

const call = async (key, path, body) => {
  const headers = { "X-Api-Key": key, "Content-Type": "application/json" };
  const answer = await fetch(house.api + path, { method: "POST", headers, body: JSON.stringify(body) });
  return { ...(await answer.json()), status: answer.status };
};
const send = (key) => call(key, "/v1/otp/send", { phone: `98765${Math.floor(10_000 + Math.random() * 90_000)}` });

/** Creates a project on the page; returns its address and its keys. */
async function make(page, name) {
  await page.goto(`${house.base}/projects`);
  await page.click("summary:has-text('New project')");
  await page.fill("#name", name);
  await page.dblclick("text=Create project");
  await page.waitForSelector("h1:has-text('Your API keys')");
  const keys = { test: await page.textContent("#test-key"), live: await page.textContent("#live-key") };
  const href = await page.getAttribute("a:has-text('Open the playground')", "href");
  return { at: house.base + href.replace(/\/playground$/, ""), keys };
}

everywhere(() => house, "a project is made, renamed, archived and restored", async (page, width, theme) => {
  const look = `${width} ${theme}`;
  await page.goto(`${house.base}/projects`);
  await page.click("summary:has-text('New project')");
  await sound(house, `${look} new`);
  const { at, keys } = await make(page, `Chai ${look}`);
  await sound(house, `${look} keys`);
  await page.goto(`${house.base}/projects`);
  assert.equal(await page.locator(`main a:has-text("Chai ${look}")`).count(), 1, "a second click makes no second one");
  assert.equal((await send(keys.test)).status, 200);

  await page.goto(`${at}/settings/project`);
  await page.fill("#name", " ");
  await page.click(`form[action$="/settings/project"] button.primary`);
  await page.waitForSelector("#name-error");
  await page.fill("#name", `Dabba ${look}`);
  await page.click(`form[action$="/settings/project"] button.primary`);
  await page.waitForSelector("text=Saved.");
  assert.match(await page.title(), new RegExp(`Dabba ${look}`));

  const archive = page.locator("#archive");
  await archive.locator("summary").click();
  assert.ok(await archive.locator("button.danger").isDisabled());
  await sound(house, `${look} archive`);
  await archive.locator("input[name=word]").fill(`Dabba ${look}`);
  await archive.locator("button.danger").click();
  await page.waitForSelector("text=Its API keys are refused");
  await sound(house, `${look} archived`);
  for (const key of Object.values(keys)) {
    const { status, code } = await send(key);
    assert.deepEqual([status, code], [401, "INVALID_API_KEY"]);
  }
  await page.goto(`${at}/playground`);
  await page.waitForSelector("text=its test key is refused");
  await sound(house, `${look} playground`);
  await page.goto(`${house.base}/projects`);
  assert.equal(await page.locator(`.tile:has-text("Dabba ${look}")`).count(), 0);
  await page.click("nav.segments >> text=Archived (1)");
  await sound(house, `${look} list`);
  await page.click(`.tile:has-text("Dabba ${look}")`);
  await page.click("text=Restore project");
  await page.waitForSelector("text=Project restored.");
  assert.equal((await send(keys.test)).status, 200);
});

everywhere(() => house, "money is moved by hand once it was looked at", async (page, width, theme) => {
  const look = `${width} ${theme}`;
  const { at, keys } = await make(page, `Wallet ${look}`);
  const balance = async () => (await page.textContent("dl.figures div:nth-child(2) dd")).trim();
  await page.goto(`${at}/wallet`);
  await sound(house, `${look} wallet`);
  await page.click("summary:has-text('Pay in')");
  await page.fill("#rupees", "ten");
  await page.fill("#reference", "INV-7");
  await page.click(".booking[open] button.primary");
  await page.waitForSelector("#rupees-error");
  assert.equal(await page.inputValue("#reference"), "INV-7");
  await sound(house, `${look} refused`);
  await page.fill("#rupees", "100");
  await page.click(".booking[open] button.primary");
  await page.waitForSelector("text=Nothing has moved yet");
  await sound(house, `${look} credit`);
  await page.click("text=Cancel");
  assert.equal(await balance(), "₹0.00");
  await page.click("summary:has-text('Pay in')");
  await page.fill("#rupees", "100");
  await page.fill("#reference", "INV-7");
  await page.press("#reference", "Enter");
  await page.click("button:has-text('Pay in ₹100.00')");
  await page.waitForSelector("text=Paid in.");
  assert.equal(await balance(), "₹100.00");

  await page.click("summary:has-text('Correct the balance')");
  await page.fill("#correction", "-2.50");
  await page.fill("#reason", "typo");
  await sound(house, `${look} correct`);
  await page.click(".booking[open] button.primary");
  await sound(house, `${look} correction`);
  await page.click("button:has-text('Correct by −₹2.50')");
  await page.waitForSelector("text=Balance corrected.");
  assert.equal(await balance(), "₹97.50");

  const sent = await send(keys.live);
  assert.equal(sent.status, 200, JSON.stringify(sent));
  const captured = page.locator("td:has-text('Charged')");
  for (const until = Date.now() + 60_000; await captured.count() === 0; await page.waitForTimeout(500)) {
    assert.ok(Date.now() < until, "the send was never charged");
    await page.goto(`${at}/wallet`);
  }
  // Its steps are behind its one line.
  await page.click(".steps summary");
  assert.match(await page.textContent(".steps[open] ul"), /Reserved ₹.*Charged ₹/);
  assert.equal(await page.locator(`.statement a[href$="${sent.otp_id}"]`).count(), 1);
  await sound(house, `${look} unfolded`);
  await page.click("summary:has-text('Refund a charge')");
  await page.fill("#otp_id", sent.otp_id);
  await page.click(".booking[open] button.primary");
  await page.waitForSelector("text=Charged for this send");
  await sound(house, `${look} refund`);
  await page.click("button:has-text('Refund ₹')");
  await page.waitForSelector("text=Charge refunded.");
  assert.equal(await balance(), "₹97.50");
  await page.click("summary:has-text('Refund a charge')");
  await page.fill("#otp_id", sent.otp_id);
  await page.click(".booking[open] button.primary");
  await page.waitForSelector("text=This charge was already refunded");
});
