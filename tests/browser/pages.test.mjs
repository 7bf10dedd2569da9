// Forms that are refused, times, choices, the audit log and operations. Run by run.sh.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { everywhere, focused, open, sound, step } from "./house.mjs";

let house, project;

before(async () => {
  house = await open();
  project = await house.enter();
});
after(() => house.close());

const at = (name, check) => everywhere(() => house, name, check);

at("a refused form keeps what was typed, and marks its field", async (page) => {
  await page.goto(`${project}/settings/messages`);
  await page.fill("#brand", "Chai Point");
  await page.fill("#webotp_domain", "https://no domain");
  await page.click(`form[action$="/settings/messages"] button[type="submit"]`);
  await page.waitForSelector("#webotp_domain[aria-invalid]");
  assert.equal(await page.inputValue("#brand"), "Chai Point");
  assert.equal(await focused(page), "webotp_domain");
  const described = await page.getAttribute("#webotp_domain", "aria-describedby");
  assert.ok(await page.locator(`#${described.split(" ")[0]}`).isVisible());
  await sound(house, "settings");
  page.once("dialog", (dialog) => dialog.accept());
  await page.goto(`${house.base}/account`);
  await page.fill("#new", "twelve blue boats at dawn");
  await page.fill("#again", "another");
  await page.click(`form[action="/account/password"] button`);
  await page.waitForSelector("#again[aria-invalid]");
  assert.equal(await focused(page), "again");
  await sound(house, "account");
});

at("settings are pages, saved where one is, and old links lead to their section", async (page) => {
  await page.goto(`${project}/settings#webhooks`);
  await page.waitForURL(`${project}/settings/events#webhooks`);
  await sound(house, "events and hooks");
  await page.click(".jump >> text=Delivery");
  await page.waitForURL(`${project}/settings/delivery`);
  await page.check("#relay_test");
  await page.click(`form[action$="/settings/relay"] button`);
  await page.waitForSelector("#relay .notice.good >> text=Saved");
  const top = await page.locator("#relay").evaluate((it) => it.getBoundingClientRect().top);
  assert.ok(top >= 0 && top < page.viewportSize().height, `${top}: the section is in sight`);
  assert.equal(page.url(), `${project}/settings/delivery#relay`);
  await sound(house, "saved");
  await page.uncheck("#relay_test");
  await page.click(`form[action$="/settings/relay"] button`);
  await page.waitForSelector("#relay .notice.good");
  await page.goto(`${project}/settings/messages`);
  await page.fill("#sms_text", "{code} {minutes} opens {brand}");
  await page.waitForSelector("#preview >> text=Two variables follow each other");
  assert.match(await page.textContent("#dlt-tagged"), /^\{#numeric#\} \{#numeric#\} opens /);
  await sound(house, "text to register");
  page.once("dialog", (dialog) => dialog.accept());
  await page.goto(`${project}/overview`);
});

at("times are India's and say so", async (page) => {
  await page.goto(`${project}/audit`);
  assert.match(await page.textContent("td time"), /^\d{1,2} \w{3} \d{4}, \d{1,2}:\d\d:\d\d [ap]m IST$/);
});

at("providers and languages are chosen from those there are", async (page) => {
  await page.goto(`${project}/settings/delivery`);
  const options = (id) => page.locator(`#${id} option`).allTextContents();
  assert.deepEqual((await options("sms_providers")).map((it) => it.trim()), [
    "installation default (console)",
    "Do not send",
    "console",
  ]);
  await page.goto(`${project}/settings/messages`);
  const languages = (await options("language")).map((it) => it.trim());
  assert.ok(languages.includes("Hindi") && languages.includes("Tamil: messages in English"), languages);
});

at("the audit log is filtered by who and what, and shows what was before and is after", async (page) => {
  await page.goto(`${project}/settings/project`);
  const present = Number(await page.inputValue("#low_balance")) || 0;
  await page.fill("#low_balance", String(present + 7));
  await page.click(`form[action$="/settings/money"] button[type="submit"]`);
  await page.waitForSelector("text=Saved");
  await page.goto(`${project}/audit`);
  await page.selectOption("#actor", { label: "you" });
  await page.selectOption("#action", "project.repriced");
  await page.click("text=Apply");
  await page.waitForSelector("a.button:has-text('Clear')");
  const row = page.locator(".cards > tbody > tr").first();
  assert.equal(await row.locator(".outcome").textContent(), "Changed the prices");
  assert.equal(await row.locator("td .plain-link").textContent(), "you");
  assert.match(await row.locator(".facts-table tbody").textContent(), new RegExp(`₹${present + 7}.00`));
  await sound(house, "audit");
  await page.selectOption("#actor", "command_line");
  await page.click("text=Apply");
  await page.waitForSelector("text=No changes match");
});

at("a person who verified a code is listed, and a story leads to their sessions", async (page) => {
  await page.goto(`${project}/playground`);
  await step(page, "send");
  await page.click(".autofill");
  await step(page, "verify");
  await page.goto(`${project}/identities?mode=test`);
  const listed = await page.getAttribute("td a", "href");
  await sound(house, "identities");
  await page.goto(`${project}/activity?mode=test`);
  await page.click("#rows a");
  await page.click(`.facts a[href="${listed}"]`);
  await page.waitForSelector("td .pill:has-text('Active')");
  await sound(house, "sessions");
});

at("operations tell problems first and fold the rest", async (page) => {
  await page.goto(`${house.base}/operations`);
  const first = page.locator("ul.checks > li").first();
  assert.match(await first.textContent(), /Warning/);
  assert.equal(await page.locator("details.folded > ul").first().isVisible(), false);
  await page.locator("details.folded > summary").first().click();
  assert.ok(await page.getByText("all applied").isVisible());
  await sound(house, "operations");
});

test("Send again is in sight at 1280 pixels", async () => {
  const { page } = house;
  await page.setViewportSize({ width: 1280, height: 860 });
  const receiver = createServer((request, answer) => request.resume().on("end", () => answer.writeHead(500).end()));
  await new Promise((ready) => receiver.listen(0, "127.0.0.1", ready));
  try {
    await page.goto(`${project}/settings/events`);
    await page.fill("#url", `http://127.0.0.1:${receiver.address().port}/hooks/a-long-address-of-a-receiver`);
    await page.click('form[action$="/settings/events"] button');
    await page.click(".endpoint-row a.button");
    await page.click("text=Send test");
    const again = page.locator('tbody button:has-text("Send again")').first();
    await again.waitFor();
    const box = await again.boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 1280, JSON.stringify(box));
    const table = await page.locator(".table").last().evaluate((it) => it.scrollWidth - it.clientWidth);
    assert.equal(table, 0, "the log does not scroll sideways");
  } finally {
    receiver.close();
  }
});
