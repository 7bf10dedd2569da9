// Live or test, the overview, and finding things. Run by run.sh.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { LOOK, PAGES, counted, everywhere as everyLook, open, sound, step } from "./house.mjs";

/** Pages that exist only in test mode. */
const TESTING = ["playground", "inbox"];

let house, project;

before(async () => {
  house = await open();
  project = await house.enter();
});
after(() => house.close());

/** Runs a check at both widths, in both themes; axe finds nothing at the end of it. */
function everywhere(name, check) {
  everyLook(() => house, name, async (page, width) => {
    await check(page, width);
    await sound(house, name);
  });
}

/** Sends one code in the playground and verifies it. */
async function verifiedOne(page) {
  await page.goto(`${project}/playground`);
  await step(page, "send");
  await page.click(".autofill");
  await step(page, "verify");
  await page.goto(`${project}/overview`);
  // It may be counted before its receipt has come.
  const told = () => page.textContent("#sends-wide-about");
  const until = Date.now() + 60_000;
  do {
    assert.ok(Date.now() < until, "the receipt was not counted");
    await counted(page, "?mode=test&period=hour");
  } while (!/1 delivered, 1 verified/.test(await told()));
}

const choose = async (page, mode) => {
  await page.click(`[name="mode"][value="${mode}"]`);
  await page.waitForSelector(mode === "test" ? "body.testing" : "body:not(.testing)");
};

everywhere("live or test is chosen once for every page", async (page) => {
  for (const name of TESTING) {
    await page.goto(`${project}/${name}`);
    assert.equal(await page.locator("body.testing").count(), 1, `${name} is always in test mode`);
  }
  await page.goto(`${project}/overview`);
  await choose(page, "live");
  for (const name of PAGES.filter((name) => !TESTING.includes(name))) {
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

test("a first step is ticked when it happened", async () => {
  const { page } = house;
  await page.goto(`${project}/overview`);
  assert.match(await page.textContent(".first-steps"), /0 of 5 done/);
  await page.click(".first-steps >> text=Verify a test code");
  await page.waitForURL("**/playground");
  await verifiedOne(page);
  assert.match(await page.textContent(".first-steps .done"), /Verify a test code/);
  assert.equal(await page.locator(".first-steps .done").count(), 1);
  await page.click(".first-steps >> text=Add an event endpoint");
  await page.waitForURL("**/settings/events#endpoints");
  assert.equal(await page.locator("section#endpoints").count(), 1);
});

everywhere("counts are bars, with their values under the pointer and by the keyboard", async (page, width) => {
  await page.goto(`${project}/overview?mode=test&period=hour`);
  const chart = page.locator(`svg.chart.${width > 820 ? "wide" : "narrow"}`);
  assert.match(await chart.locator("path.sends").getAttribute("d"), /^M[\d.]+ [\d.]+h[\d.]+v[\d.]+h-[\d.]+z$/, "a bar, and no slopes");
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
  // A bar leads to its requests: by the keyboard, by the pointer, and from the table.
  const full = seen.findIndex((text) => / 1 send,/.test(text));
  await page.keyboard.press("Home");
  for (let at = 0; at < full; at += 1) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  const there = async () => {
    await page.waitForURL(/activity\?mode=test&from=.*&until=/);
    assert.equal(await page.locator("#rows tr").count(), 1);
    await page.goBack();
  };
  await there();
  // By its value: five minutes may have begun meanwhile, and then each bar has another place.
  await chart.locator('.hit[data-value*=": 1 send, 1 delivered, 1 verified"]').click();
  await there();
  await page.click(".numbers-of-chart summary");
  await page.click(".numbers-of-chart tbody a");
  await there();
  const routes = page.locator("table", { hasText: "By channel and provider" });
  assert.match(await routes.textContent(), /1 of 1/);
  for (const part of ["dl.figures", ".numbers", ".overview table:last-of-type"]) {
    assert.doesNotMatch((await page.locator(part).allTextContents()).join(), /100.*%/, "one of one is not shown as a percentage");
  }
});

/** What has the focus, as its text or its name. */
const focused = (page) => page.evaluate(() => document.activeElement.name || document.activeElement.textContent.trim());

everywhere("Ctrl-K finds pages, ids and numbers by the keyboard alone", async (page, width) => {
  await page.goto(`${project}/activity?mode=test`);
  const otp = (await page.getAttribute("#rows tr:first-child a", "href")).split("/").pop();
  await page.focus("#content");
  await page.keyboard.press("Control+k");
  await page.waitForSelector("#palette[open] li a");
  assert.equal(await focused(page), "q");
  await sound(house, "palette");
  await page.keyboard.press("ArrowDown");
  assert.match(await focused(page), /Recent$/, "the pages that were open last");
  assert.ok(!(await page.textContent("#palette-found")).startsWith("Activity"), "without this one");
  await page.keyboard.press("ArrowUp");
  assert.equal(await focused(page), "q");
  const pages = page.locator("#palette-found > ul:last-of-type a");
  assert.deepEqual((await pages.allTextContents()).slice(0, 2), ["Overview", "Playground"]);
  await page.keyboard.type("regenerate the live");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${project}/keys#regenerate-live-word`);
  assert.equal(await page.locator("#regenerate-live-word").isVisible(), true, "its section is open");
  await page.goto(`${project}/activity?mode=test`);
  await page.focus("#content");
  await page.keyboard.press("Control+k");
  await page.waitForSelector("#palette[open]");
  await page.keyboard.type("?");
  assert.equal(await page.locator("#shortcuts[open]").count(), 0, "a sign where one writes");
  // A search field takes the first for itself, and is empty then.
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#palette[open]").count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.id), "content", "the focus goes back");
  await page.keyboard.press("?");
  await page.waitForSelector("#shortcuts[open] >> text=Ctrl K");
  await sound(house, "shortcuts");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#shortcuts[open]").count(), 0);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("team");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${house.base}/team`);
  await page.goto(`${project}/overview?mode=test`);
  await page.click("a.find");
  await page.keyboard.type(otp);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${project}/activity/${otp}`);
  const asked = [];
  const note = (request) => asked.push(request.url());
  page.on("request", note);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("98765 43210");
  await page.waitForSelector("text=Press Enter to see what happened");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".timeline");
  page.off("request", note);
  assert.ok(asked.length > 0 && asked.every((url) => !/4321/.test(url)), `no number in ${asked}`);
  assert.equal(await page.locator("body.testing").count(), 1, "in the mode that was shown");
  assert.equal(await page.locator(".find kbd").isVisible(), width > 820);
});

test("the search is a page without scripts, and no page is over 120 kB with its files", async () => {
  const plain = await house.browser.newContext({ ...LOOK, javaScriptEnabled: false });
  await plain.addCookies(await house.context.cookies());
  const page = await plain.newPage();
  await page.goto(`${project}/overview`);
  await page.click("a.find");
  await page.fill("#q", "wallet");
  await page.click("form.card button");
  await page.click(".found li a:has-text('Wallet')");
  assert.equal(page.url(), `${project}/wallet`);
  await plain.close();
  for (const name of [...PAGES.map((name) => `${project}/${name}`), `${house.base}/find`]) {
    const fresh = await house.browser.newContext(LOOK);
    await fresh.addCookies(await house.context.cookies());
    const tab = await fresh.newPage();
    const sizes = [];
    tab.on("response", (response) => { if (!/live/.test(response.url())) sizes.push(response.body().then(({ length }) => length, () => 0)); });
    await tab.goto(name);
    await tab.waitForTimeout(200);
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    assert.ok(bytes > 10_000 && bytes < 120_000, `${name}: ${bytes} bytes`);
    await fresh.close();
  }
});
