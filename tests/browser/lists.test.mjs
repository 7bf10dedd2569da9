// Lists and tap targets, on large screens and on phones. Run by run.sh.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before } from "node:test";
import { OWN_PAGES, PAGES, everywhere, open, sound, step } from "./house.mjs";

let house, project, receiver;

before(async () => {
  house = await open();
  project = await house.enter();
  receiver = createServer((request) => request.socket.destroy());
  await new Promise((ready) => receiver.listen(0, "127.0.0.1", ready));
  const { page } = house;
  await page.goto(`${project}/settings/events`);
  await page.fill("#url", `http://127.0.0.1:${receiver.address().port}/hooks/a-long-address-of-a-receiver`);
  await page.click('form[action$="/settings/events"] button');
  await page.click(".endpoint-row a.button");
  await page.click("text=Send test");
  await page.goto(`${project}/playground`);
  await step(page, "send");
  await page.click(".autofill");
  await step(page, "verify");
  await page.goto(`${project}/wallet`);
  await page.click("summary:has-text('Pay in')");
  await page.fill("#rupees", "100000");
  await page.fill("#reference", "Invoice of a lakh");
  await page.click(".booking[open] button.primary");
  await page.click("form.actions button.primary");
  await page.waitForSelector("text=Paid in.");
});
after(async () => {
  receiver.close();
  await house.close();
});

const at = (name, check) => everywhere(() => house, name, check);

at("lists are tables on screens and cards on phones, outcome first", async (page, width) => {
  for (const name of ["activity", "wallet", "audit", "inbox"]) {
    await page.goto(`${project}/${name}?mode=test`);
    const row = page.locator(".cards:not(.months) > tbody > tr").first();
    const top = (part) => row.locator(part).first().evaluate((it) => it.getBoundingClientRect().top);
    assert.equal(await page.locator(".cards:not(.months) > thead").first().isVisible(), width > 640, name);
    if (width > 640) continue;
    assert.ok((await top(".outcome")) <= (await top("td[data-label] time")) + 6, `${name}: outcome first`);
    const height = await row.evaluate((it) => it.getBoundingClientRect().height);
    assert.ok(height < 200, `${name}: a card of ${height} pixels`);
    await sound(house, name);
  }
});

at("an event is sent again from its line", async (page, width) => {
  await page.goto(`${project}/settings/events`);
  await page.click(".endpoint-row a.button");
  const again = page.locator('tbody tr:has(td:nth-child(5) time) button:has-text("Send again")').first();
  for (const until = Date.now() + 20_000; await again.count() === 0; await page.reload()) {
    assert.ok(Date.now() < until, "no event failed");
    await page.waitForTimeout(300);
  }
  const box = await again.boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= width, JSON.stringify(box));
  if (width > 640) {
    await page.setViewportSize({ width: 1280, height: 860 });
    const hidden = await page.locator(".calls").evaluate((it) => it.scrollWidth - it.parentElement.clientWidth);
    assert.ok(hidden <= 0, `at 1280 the log is ${hidden} pixels too wide`);
  }
  await sound(house, "the log");
  await again.click();
  await page.waitForSelector("main >> text=/Event queued|sent a moment ago/");
});

at("what is typed into is of one height, and what is tapped is 44 pixels high", async (page, width) => {
  const pages = [...PAGES.map((name) => `${project}/${name}`), ...OWN_PAGES.map((path) => house.base + path)];
  for (const url of pages) {
    await page.goto(url);
    const found = await page.evaluate((phone) => {
      const seen = (parts) => [...document.querySelectorAll(parts)].filter((it) => it.checkVisibility() && !it.matches(".skip, .hidden"));
      const height = (it) => Math.round(it.getBoundingClientRect().height);
      const fields = seen("main :is(select, input:not([type=checkbox], [type=hidden]))").filter((it) => it.id !== "own-key");
      const low = seen("a, button, select, summary, input:not([type=checkbox], [type=hidden])").filter((it) => height(it) < 43);
      return { heights: [...new Set(fields.map(height))], low: phone ? low.map((it) => it.outerHTML.slice(0, 90)) : [] };
    }, width < 640);
    assert.ok(found.heights.length <= 1, `${url}: ${found.heights}`);
    assert.deepEqual(found.low, [], url);
  }
});
