// Pages on narrow screens, and where their links lead. Run by run.sh.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OWN_PAGES, PAGES, counted, open, sound, step } from "./house.mjs";

let house, project;
const HELP = ["/help", "/help/runbooks", "/help/providers"];
const all = () => [...PAGES.map((name) => `${project}/${name}?mode=test`), ...[...OWN_PAGES, ...HELP].map((path) => house.base + path)];

before(async () => {
  house = await open();
  project = await house.enter();
  const { page } = house;
  await step(page, "send");
  await page.click(".autofill");
  await step(page, "verify");
  await page.goto(`${project}/overview`);
  await counted(page, "?mode=test&period=day");
});
after(() => house.close());

test("every page keeps its address, and can be loaded again", async () => {
  const { page } = house;
  for (const address of all()) {
    const answer = await page.goto(address);
    assert.equal(answer.status(), 200, address);
    assert.equal(page.url(), address);
    assert.equal((await page.reload()).status(), 200, address);
  }
  assert.deepEqual(house.faults, []);
});

test("what was done is said once", async () => {
  const { page } = house;
  await page.goto(`${project}/settings`);
  await page.fill("#brand", "Chai Point");
  await page.click(`form[action$="/settings/messages"] button[type="submit"]`);
  await page.waitForSelector(".notice.good >> text=Saved");
  assert.equal(page.url(), `${project}/settings/messages#messages`);
  await page.reload();
  assert.equal(await page.locator(".notice.good").count(), 0);
});

test("a live list goes on however often its page is loaded, and an older one stops until one comes back", async () => {
  const { page, context } = house;
  // The first that the list says of itself: one that is refused says so before it goes on.
  const told = ["going", "offline", "over"].map((state) => `#live-bar[data-state="${state}"]`).join();
  const going = async (page) => {
    await page.waitForSelector(told);
    assert.equal(await page.getAttribute("#live-bar", "data-state"), "going");
  };
  await page.goto(`${project}/activity?mode=test`);
  for (let turn = 0; turn < 7; turn += 1) {
    await page.reload();
    await going(page);
  }
  const others = [];
  for (let turn = 0; turn < 4; turn += 1) {
    others.push(await context.newPage());
    await others[turn].goto(`${project}/inbox`);
    await going(others[turn]);
  }
  await page.waitForSelector('#live-bar[data-state="replaced"]');
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await going(page);
  for (const other of others) await other.close();
});

for (const [width, height] of [[320, 700], [640, 800], [768, 1024], [1024, 600], [1280, 720]]) {
  test(`nothing is cut, hidden or on top of something at ${width}`, async () => {
    const { page } = house;
    await page.setViewportSize({ width, height });
    for (const address of all()) {
      await page.goto(address);
      const found = await page.evaluate(() => {
        const box = (it) => it.getBoundingClientRect();
        const seen = (parts) => [...document.querySelectorAll(parts)].filter((it) => it.checkVisibility());
        const sideways = (it) => it.scrollWidth > it.clientWidth + 1;
        const letters = seen(".chart text").map((it) => box(it));
        const fields = seen("main :is(input, select, button)").map(box).filter((it) => it.width > 1);
        const onTop = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
        return {
          lists: seen(".table:has(.cards)").filter(sideways).map((it) => it.getAttribute("aria-label")),
          letters: letters.filter((it) => it.height < 10 || it.height > 20 || it.left < 0 || it.right > innerWidth).length,
          onTop: fields.filter((one, at) => fields.slice(at + 1).some((other) => onTop(one, other))).length,
          out: seen('form[action="/sign-out"] button, a[href="/account"]').map((it) => Math.round(box(it).bottom)),
        };
      });
      assert.deepEqual([found.lists, found.letters, found.onTop], [[], 0, 0], address);
      if (width > 820) assert.ok(found.out.length >= 2 && found.out.every((bottom) => bottom <= height), `${address}: ${found.out}`);
      // The other suites look at 390 and 1440 in both themes.
      if (width === 768) await sound(house, address);
    }
  });
}

test("a project is named on a phone, and pages of the installation lead back to it", async () => {
  const { page } = house;
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.goto(`${project}/keys`);
  for (const path of OWN_PAGES) {
    await page.goto(house.base + path);
    assert.equal(await page.locator(`.side a[href="${new URL(project).pathname}/keys"]`).isVisible(), true, path);
    assert.equal(await page.textContent(".project-chip .project-name"), "Demo", path);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  for (const name of PAGES) {
    await page.goto(`${project}/${name}`);
    assert.equal(await page.locator(".of-project >> text=Demo").isVisible(), true, name);
  }
});

test("the first steps that are not done here lead to what says how", async () => {
  const { page } = house;
  await page.setViewportSize({ width: 1280, height: 860 });
  for (const [label, title] of [["Connect a provider", "Providers"], ["Deliver a live code", "Smoke test"]]) {
    await page.goto(`${project}/overview`);
    await page.click(`.first-steps >> text=${label}`);
    const heading = new URL(page.url()).hash ? ":target" : "h1";
    assert.match(await page.textContent(heading), new RegExp(title, "i"));
  }
  const gone = await page.goto(`${house.base}/help/nowhere`);
  assert.equal(gone.status(), 404);
});
