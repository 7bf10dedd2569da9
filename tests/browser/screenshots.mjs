// Writes docs/images/PAGE-THEME.png for every page. Run by scripts/screenshots.sh.

import { mkdirSync } from "node:fs";
import { OWN_PAGES, PAGES, counted, open, step } from "./house.mjs";

const folder = new URL("../../docs/images/", import.meta.url).pathname;
mkdirSync(folder, { recursive: true });

const house = await open();
const { page } = house;
async function both(name) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${folder}${name}-${colorScheme}.png` });
  }
}

/** Fills a project as it looks after some use. */
async function livedIn(project) {
  await page.goto(`${project}/wallet`);
  await page.click("summary:has-text('Pay in')");
  await page.fill("#rupees", "125000");
  await page.fill("#reference", "Invoice 2026-11-17");
  await page.click(".booking[open] button.primary");
  await page.click("form.actions button.primary");
  await page.waitForSelector("text=Paid in.");
  for (const phone of ["9812345678", "9823456789"]) {
    await fetch(`${house.api}/v1/otp/send`, {
      method: "POST",
      headers: { "X-Api-Key": house.liveKey, "Content-Type": "application/json" },
      body: JSON.stringify({ phone }),
    });
  }
  await page.goto(`${project}/settings`);
  await page.fill("#brand", "Chai Point");
  await page.fill("#webotp_domain", "login.example.com");
  await page.click(`form[action$="/settings/messages"] button.primary`);
  await page.goto(`${house.base}/team`);
  await page.fill("#name", "asha@example.com");
  await page.click("text=Create invite link");
  await page.waitForSelector("#fresh-link");
}

/** Steps on a page before its picture is taken. */
const first = {
  overview: () => counted(page, "?mode=test&period=hour"),
  keys: () => page.locator("summary").first().click(),
  identities: async () => {
    await page.goto(`${page.url()}?mode=test`);
    await page.fill("#wanted", "98765 43210");
    await page.click("text=Look up");
    await page.waitForSelector("text=+919876543210");
  },
};

try {
  const project = await house.enter();
  await step(page, "send");
  await page.waitForSelector(".delivery .pill.good");
  await page.click(".autofill");
  await step(page, "verify");
  await page.waitForSelector(".verdict.good");
  await page.evaluate(() => { scrollTo(0, 0); document.activeElement.blur(); });
  await both("playground");
  await page.locator("#token").scrollIntoViewIfNeeded();
  await both("playground-token");
  await page.click('[name="mode"][value="live"]');
  await livedIn(project);
  for (const name of PAGES.filter((name) => name !== "playground")) {
    await page.goto(`${project}/${name}`);
    await first[name]?.();
    await both(name.replaceAll("/", "-"));
  }
  for (const path of OWN_PAGES.filter((path) => path !== "/audit")) {
    await page.goto(house.base + path);
    await both(path.slice(1));
  }
  await house.context.clearCookies();
  await page.goto(`${house.base}/sign-in`);
  await both("sign-in");
} finally {
  await house.close();
}
