// Live or test, the overview, and finding things. Run by run.sh.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { LOOK, PAGES, counted, open, step } from "./house.mjs";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
let house, project;

before(async () => {
  house = await open();
  project = await house.enter();
});
after(() => house.close());

/** Runs a check at both widths, in both themes; axe finds nothing at the end of it. */
function everywhere(name, check) {
  for (const width of [1440, 390]) {
    for (const colorScheme of ["light", "dark"]) {
      test(`${name}, at ${width} and ${colorScheme}`, async () => {
        const { page } = house;
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await check(page, width);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 120))]), []);
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(beyond <= 0, `${beyond} pixels too wide`);
        assert.deepEqual(house.faults, []);
      });
    }
  }
}

/** Sends one code in the playground and verifies it. */
async function verifiedOne(page) {
  await page.goto(`${project}/playground`);
  await step(page, "send");
  await page.click(".autofill");
  await step(page, "verify");
  await page.goto(`${project}/overview`);
  await counted(page, "?mode=test&period=hour");
}

const choose = async (page, mode) => {
  await page.click(`[name="mode"][value="${mode}"]`);
  await page.waitForSelector(mode === "test" ? "body.testing" : "body:not(.testing)");
};

everywhere("live or test is chosen once for every page", async (page) => {
  await page.goto(`${project}/playground`);
  assert.equal(await page.locator("body.testing").count(), 1, "always in test mode");
  await page.goto(`${project}/overview`);
  await choose(page, "live");
  for (const name of PAGES.filter((name) => name !== "playground")) {
    await page.goto(`${project}/${name}`);
    assert.equal(await page.locator("body.testing").count(), 0, name);
  }
  await page.goto(`${project}/activity?status=failed`);
  await choose(page, "test");
  assert.equal(page.url(), `${project}/activity?status=failed`, "still there");
  await page.goto(`${project}/identities?mode=live`);
  assert.equal(await page.locator("body.testing").count(), 0, "the link wins");
  await page.goto(`${project}/identities`);
  assert.equal(await page.locator("body.testing").count(), 1);
});

test("the switch of modes needs no script", async () => {
  const plain = await house.browser.newContext({ ...LOOK, javaScriptEnabled: false });
  await plain.addCookies(await house.context.cookies());
  const page = await plain.newPage();
  await page.goto(`${project}/activity`);
  await choose(page, "live");
  await choose(page, "test");
  assert.equal(page.url(), `${project}/activity`);
  await plain.close();
});

test("the first steps are ticked by what happened", async () => {
  const { page } = house;
  await page.goto(`${project}/overview`);
  assert.match(await page.textContent(".first-steps"), /0 of 5 done/);
  await page.click(".first-steps >> text=Verify a test code");
  await page.waitForURL("**/playground");
  await verifiedOne(page);
  assert.match(await page.textContent(".first-steps .done"), /Verify a test code/);
  assert.equal(await page.locator(".first-steps .done").count(), 1);
  await page.click(".first-steps >> text=Add an event endpoint");
  await page.waitForURL("**/settings#webhooks");
  assert.equal(await page.locator("section#webhooks").count(), 1);
});

everywhere("counts are bars, with their values under the pointer and by the keyboard", async (page, width) => {
  await page.goto(`${project}/overview?mode=test&period=hour`);
  const chart = page.locator(`svg.chart.${width > 820 ? "wide" : "narrow"}`);
  assert.equal(await chart.locator("polyline, path").count(), 0, "no slopes");
  assert.equal(await chart.locator("rect.sends").count(), 1);
  const hits = await chart.locator(".hit").count();
  assert.equal(hits, 12);
  const value = page.locator(".chart-value");
  await chart.locator(".hit").nth(3).hover();
  assert.match(await value.textContent(), /: 0 sends, 0 delivered, 0 verified$/);
  await page.mouse.move(0, 0);
  assert.equal(await value.isVisible(), false);
  await page.focus("[data-chart]");
  const seen = [];
  for (let at = 0; at < hits; at += 1) {
    await page.keyboard.press(at === 0 ? "Home" : "ArrowRight");
    seen.push(await value.textContent());
    const [box, frame] = [await value.boundingBox(), await page.locator("[data-chart]").boundingBox()];
    assert.ok(box.x >= frame.x - 1 && box.x + box.width <= frame.x + frame.width + 1, "within the chart");
  }
  assert.equal(new Set(seen).size, hits);
  assert.equal(seen.filter((text) => /: 1 send, 1 delivered, 1 verified$/.test(text)).length, 1);
  await page.keyboard.press("Escape");
  assert.equal(await value.isVisible(), false);
  await page.keyboard.press("ArrowLeft");
  const routes = page.locator("table", { hasText: "By channel and provider" });
  assert.match(await routes.textContent(), /1 of 1/);
  assert.doesNotMatch(await page.textContent("main"), /100.*%/, "one of one is no percentage");
});
