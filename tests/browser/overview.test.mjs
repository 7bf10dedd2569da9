// Live or test, the overview, and finding things. Run by run.sh.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { LOOK, PAGES, open } from "./house.mjs";

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
