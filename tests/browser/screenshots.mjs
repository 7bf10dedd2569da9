// Writes docs/images/PAGE-light.png for the ten pages that are used most. Run by scripts/screenshots.sh.

import { mkdirSync } from "node:fs";
import { counted, open, step } from "./house.mjs";

const folder = new URL("../../docs/images/", import.meta.url).pathname;
mkdirSync(folder, { recursive: true });

const house = await open();
const { page } = house;
async function picture(name) {
  await page.emulateMedia({ colorScheme: "light" });
  await page.screenshot({ path: `${folder}${name}-light.png` });
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
};

try {
  const project = await house.enter();
  await step(page, "send");
  await page.waitForSelector(".delivery .pill.good");
  await page.click(".autofill");
  await step(page, "verify");
  await page.waitForSelector(".verdict.good");
  await page.evaluate(() => { scrollTo(0, 0); document.activeElement.blur(); });
  await picture("playground");
  await page.click('[name="mode"][value="live"]');
  await livedIn(project);
  for (const name of ["overview", "inbox", "activity", "settings/delivery", "wallet", "audit"]) {
    await page.goto(`${project}/${name}`);
    await first[name]?.();
    await picture(name.replaceAll("/", "-"));
  }
  for (const name of ["projects", "operations", "team"]) {
    await page.goto(`${house.base}/${name}`);
    await picture(name);
  }
} finally {
  await house.close();
}
