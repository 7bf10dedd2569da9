// The team and the sign-in. Run by run.sh.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { LOOK, everywhere, focused, open, sound } from "./house.mjs";

const PASSWORD = "nine yellow kites at noon";
let house, project;

before(async () => {
  house = await open();
  project = await house.enter();
});
after(() => house.close());

const at = (name, check) => everywhere(() => house, name, check);

/** Invites a person to the project of the house; returns their link. */
async function invite(page, name, role) {
  await page.goto(`${house.base}/team`);
  await page.fill("#name", name);
  await page.selectOption("#invite-role", role);
  await page.click("text=Create invite link");
  return page.textContent("#fresh-link");
}

/** A browser that looks as the page does; it has no scripts if they are not wanted. */
async function stranger(page, options = {}) {
  const colorScheme = await page.evaluate(() => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  const context = await house.browser.newContext({ ...LOOK, viewport: page.viewportSize(), colorScheme, ...options });
  return context.newPage();
}

/** Follows an invitation and comes out signed in. */
async function join(page, link) {
  await page.goto(link);
  await page.fill("#password", PASSWORD);
  await page.fill("#again", PASSWORD);
  await page.click("text=Join");
  await page.waitForURL((url) => url.pathname.startsWith("/p/"));
}

/** Whether a field is focused, marked, and described by a visible reason. */
async function refused(page, id) {
  await page.waitForSelector(`#${id}-error`);
  assert.equal(await focused(page), id);
  assert.equal(await page.getAttribute(`#${id}`, "aria-invalid"), "true");
  assert.match(await page.getAttribute(`#${id}`, "aria-describedby"), new RegExp(`^${id}-error`));
  assert.ok(await page.locator(`#${id}-error`).isVisible());
}

at("a role begins as it is, a rise is told and confirmed, an invitation is renewed and revoked", async (page, width, theme) => {
  const name = `somebody with a name as long as names may be ${width} ${theme}`;
  const link = await invite(page, name, "viewer");
  await sound(house, "a fresh link");
  const guest = await stranger(page);
  await join(guest, link);
  if (width === 390) await guest.check("#nav-open", { force: true });
  const button = await guest.locator("text=Sign out").first().boundingBox();
  assert.ok(button.x >= 0 && button.x + button.width <= width, "Sign out is in sight");

  await page.goto(`${house.base}/team`);
  const card = page.locator("li.card", { hasText: name });
  assert.match(await card.textContent(), /Password only/);
  await card.getByText("Change role").click();
  assert.equal(await card.locator("select").first().inputValue(), "viewer");
  await sound(house, "roles");
  await card.locator("text=Save").first().click();
  await page.waitForSelector("text=Role changed.");
  await card.getByText("Change role").click();
  await card.locator("select").first().selectOption("member");
  await card.locator("text=Save").first().click();
  await page.waitForSelector("main >> text=will be able to");
  await sound(house, "a rise");
  await page.reload();
  assert.match(await card.textContent(), /Viewer/, "a reload sends nothing");
  await card.locator("select").first().selectOption("member");
  await card.locator("text=Save").first().click();
  await page.click("main >> text=Change role");
  await page.waitForSelector("text=Role changed.");
  assert.match(await card.textContent(), /Member/);
  await guest.goto(link);
  await guest.fill("#password", PASSWORD);
  await guest.fill("#again", PASSWORD);
  await guest.click("text=Join");
  await guest.waitForSelector("text=Ask the person who invited you");
  await guest.context().close();

  const waiting = `zoya ${width} ${theme}`;
  const first = await invite(page, waiting, "support");
  const invited = page.locator("li.card", { hasText: waiting });
  assert.match(await invited.textContent(), /The link works until/);
  assert.doesNotMatch(await invited.textContent(), /Password only/);
  await invited.getByText("New link").click();
  assert.notEqual(await page.textContent("#fresh-link"), first);
  await invited.getByText("Revoke").click();
  await page.waitForSelector("text=Removed and signed out everywhere.");
  assert.equal(await invited.count(), 0);
});

at("the way in marks what was wrong and leads back to the page", async (page, width, theme) => {
  const name = `nila ${width} ${theme}`;
  const link = await invite(page, name, "viewer");
  const guest = await stranger(page);
  await guest.goto(link);
  await guest.fill("#password", PASSWORD);
  await guest.fill("#again", "another one");
  await guest.click("text=Join");
  await refused(guest, "again");
  await guest.fill("#password", PASSWORD);
  await guest.fill("#again", PASSWORD);
  await guest.click("text=Join");
  await guest.waitForURL("**/overview");
  await guest.context().clearCookies();

  const wanted = `${project}/activity?mode=test`;
  await guest.goto(wanted);
  const card = await guest.locator("section.card").boundingBox();
  assert.ok(Math.abs(card.x + card.width / 2 - width / 2) <= 8, "the card is in the middle");
  await guest.fill("#name", name);
  await guest.fill("#password", "not this one");
  await guest.click("button.primary");
  await refused(guest, "password");
  assert.equal(await guest.inputValue("#name"), name);
  await sound({ page: guest, faults: house.faults }, "sign-in");
  await guest.fill("#password", PASSWORD);
  await guest.click("button.primary");
  await guest.waitForURL(wanted);
  await guest.goBack();
  assert.equal(guest.url(), wanted, "a signed-in operator is redirected");
  await guest.context().close();
});

test("sign-in, activity, settings, keys and team work without scripts", async () => {
  const { page } = house;
  await page.goto(`${house.base}/account`);
  await page.fill("#new", PASSWORD);
  await page.fill("#again", PASSWORD);
  await page.click('form[action="/account/password"] button');
  await page.waitForSelector("text=Password changed.");
  const plain = await stranger(page, { javaScriptEnabled: false });
  await plain.goto(`${project}/settings`);
  await plain.fill("#name", "you");
  await plain.fill("#password", PASSWORD);
  await plain.click("button.primary");
  assert.equal(plain.url(), `${project}/settings/messages`);

  await plain.fill("#brand", "Chai Point");
  await plain.fill("#webotp_domain", "no domain");
  await plain.click('form[action$="/settings/messages"] button.primary');
  assert.equal(await plain.inputValue("#brand"), "Chai Point");
  await plain.click("[role=alert] a");
  await plain.fill("#webotp_domain", "");
  await plain.click('form[action$="/settings/messages"] button.primary');
  await plain.waitForSelector("text=Saved.");

  await plain.goto(`${project}/activity`);
  await plain.fill("#phone", "98765 43210");
  await plain.click("form.card >> text=Search");
  await plain.waitForSelector("text=Nothing on record for this number");

  await plain.goto(`${project}/keys`);
  const key = plain.locator("section.card", { hasText: "Test key" });
  await key.locator("summary", { hasText: "Regenerate key" }).click();
  await key.locator("input[name=word]").fill("Dmeo");
  await key.locator("button.danger").click();
  assert.ok(await key.locator("details.danger-zone").evaluate((it) => it.open), "what was refused is open");
  assert.equal(await key.locator("[aria-invalid]").inputValue(), "Dmeo");
  await key.locator("input[name=word]").fill("Demo");
  await key.locator("button.danger").click();
  assert.match(await plain.textContent("#fresh-key"), /^svc_test_/);

  await invite(plain, "meera", "support");
  const card = plain.locator("li.card", { hasText: "meera" });
  await card.getByText("Change role").click();
  await card.locator("select").first().selectOption("member");
  await card.locator("text=Save").first().click();
  await plain.click("main >> text=Change role");
  assert.match(await card.textContent(), /Member/);
  await plain.context().close();
});
