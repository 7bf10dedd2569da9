// What people do with the dashboard, and what attackers try. Run by run.sh.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { LOOK, OWN_PAGES, PAGES, counted, focused, open, sound, step } from "./house.mjs";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const PASSWORD = "nine yellow kites at noon";
let house, project;

before(async () => {
  house = await open();
  project = await house.enter();
});
after(() => house.close());

const ask = async (key, path = "/v1/sandbox/messages?phone=9876543210") =>
  (await fetch(house.api + path, { headers: { "X-Api-Key": key } })).status;

/** A foreign site with one page. */
async function foreignSite(html) {
  const server = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end(html));
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { url: `http://localhost:${server.address().port}/`, close: () => server.close() };
}

/** The code of an authenticator app for a secret in base32 (RFC 6238), `later` time steps from now. */
function totp(secret, later = 0) {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later));
  const digest = createHmac("sha1", key).update(counter).digest();
  const number = digest.readUInt32BE(digest[19] & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, "0");
}

/** A new operator who has joined, on a page of a browser of their own. */
async function joined(name, role) {
  const { page } = house;
  await page.goto(`${house.base}/team`);
  await page.fill("#name", name);
  await page.selectOption("#invite-role", role);
  await page.click("text=Create invite link");
  const link = await page.textContent("#fresh-link");
  const theirs = await (await house.browser.newContext(LOOK)).newPage();
  await theirs.goto(link);
  await theirs.fill("#password", PASSWORD);
  await theirs.fill("#again", PASSWORD);
  await theirs.click("text=Join");
  await theirs.waitForURL("**/overview");
  return theirs;
}

test("the first link leads to the playground, signed in, and works once", async () => {
  assert.equal(new URL(house.page.url()).hash, "", "the secret is out of the address bar");
  const stranger = await (await house.browser.newContext(LOOK)).newPage();
  await stranger.goto(house.link);
  await stranger.waitForSelector("text=This link has already been used");
  assert.deepEqual(await stranger.context().cookies(), []);
  await stranger.goto(house.base);
  assert.equal(new URL(stranger.url()).pathname, "/sign-in");
  await stranger.context().close();
});

test("the whole login, from a sent code to a session that is over", async () => {
  const { page } = house;
  await page.goto(`${project}/playground`);
  assert.equal(await step(page, "send"), "200");
  await page.waitForSelector('.phone[data-channel="whatsapp"] .bubble');
  await page.click(".autofill");
  assert.match(await page.inputValue("#code"), /^\d{6}$/);
  assert.equal(await step(page, "verify"), "200");
  await page.waitForSelector(".verdict.good");
  assert.equal(await step(page, "validate"), "200");
  assert.match(await page.textContent('[data-step="validate"] .panel'), /"valid": true/);
  assert.match(await page.textContent('[data-step="validate"] .limit'), /299 of 300 left/);
  assert.equal(await step(page, "refresh"), "200");
  await page.waitForSelector(".verdict.good");
  assert.equal(await step(page, "logout"), "200");
  assert.equal(await step(page, "validate"), "401");
  assert.match(await page.textContent('[data-step="validate"] .panel'), /INVALID_ACCESS_TOKEN/);
  assert.deepEqual(house.faults, []);
});

test("what was sent is on the overview within half a minute, as chart and as numbers", async () => {
  const { page } = house;
  await page.goto(`${project}/overview?mode=live`);
  await page.waitForSelector("text=No codes sent with the live key");
  await counted(page, "?mode=test&period=hour");
  const figure = (label) => page.textContent(`dl.figures div:has(dt:text-is("${label}")) dd`);
  assert.equal(await figure("Sends"), "1");
  assert.equal(await figure("Verified"), "1");
  assert.equal(await figure("Sent → verified"), "1 of 1");
  assert.match(await page.textContent("#sends-wide-about"), /Peak: 1 send, 1 delivered, 1 verified at/);
  await page.locator(".numbers-of-chart summary").press("Enter");
  assert.equal(await page.locator(".numbers-of-chart tbody tr").count(), 12);
  await page.click('nav.segments >> text="Last 30 days"');
  assert.equal(await page.locator('nav.segments a[aria-current]').count(), 1);
  assert.equal(await figure("Sends"), "1");
  assert.deepEqual(house.faults, []);
});

test("magic numbers play what they say", async () => {
  const { page } = house;
  await page.goto(`${project}/playground`);
  const play = async (ending) => {
    await page.click(`[data-number="900000${ending}"]`);
    return step(page, "send");
  };
  assert.equal(await play("0001"), "200");
  await page.waitForSelector('.phone[data-channel="sms"] .bubble.sms');
  await page.waitForSelector(".delivery .pill.bad");
  assert.equal(await play("0002"), "500");
  assert.match(await page.textContent('[data-step="send"] .panel'), /SMS_FAILED/);
  assert.equal(await page.locator(".bubble").count(), 0);
  assert.equal(await play("0004"), "402");
});

test("a key that the reader pastes goes into the examples and nowhere else", async () => {
  const { page } = house;
  await page.goto(`${project}/playground`);
  const sent = [];
  page.on("request", (request) => sent.push(request.url() + (request.postData() ?? "")));
  await page.fill("#own-key", "svc_test_pasted");
  await page.click('[data-step="send"] [data-tab="curl"]');
  assert.match(await page.textContent('[data-step="send"] .panel'), /svc_test_pasted/);
  await step(page, "send");
  await page.waitForSelector(".bubble");
  assert.ok(sent.length > 0 && sent.every((text) => !text.includes("svc_test_pasted")));
  await page.reload();
  assert.equal(await page.inputValue("#own-key"), "");
});

test("a regenerated key is shown once and kills the old one", async () => {
  const { page } = house;
  assert.equal(await ask(house.testKey), 200);
  await page.goto(`${project}/keys`);
  const card = page.locator("section.card", { hasText: "Test key" });
  await card.locator("summary", { hasText: "Regenerate key" }).click();
  assert.ok(await card.locator("button.danger").isDisabled());
  await card.locator("input[name=word]").fill("Demo");
  await card.locator("button.danger").click();
  const fresh = await page.textContent("#fresh-key");
  assert.match(fresh, /^svc_test_/);
  assert.equal(await ask(house.testKey), 401);
  assert.equal(await ask(fresh), 200);
  assert.equal(await ask(house.liveKey), 404, "the live key goes on: it has no sandbox");
  await page.goto(`${project}/keys`);
  assert.ok(!(await page.content()).includes(fresh));
  house.testKey = fresh;
});

test("money is paid in, found again, downloaded and proved", async () => {
  const { page } = house;
  await page.goto(`${project}/wallet`);
  await page.click("summary:has-text('Pay in')");
  await page.fill("#rupees", "12.50");
  await page.fill("#reference", "=1+1");
  await page.click(".booking[open] button.primary");
  await page.click("button:has-text('Pay in ₹12.50')");
  await page.waitForSelector("text=Paid in.");
  await page.selectOption("#kind", "credit");
  await page.fill("#wanted-reference", "=1+1");
  await page.click("text=Apply");
  assert.equal(await page.locator(".statement tbody tr").count(), 1);
  const download = page.waitForEvent("download");
  await page.click("text=Download CSV");
  const lines = readFileSync(await (await download).path(), "utf8").trim().split("\r\n");
  assert.equal(lines.length, 2);
  assert.match(lines[1], /,credit,"'=1\+1",1250,0,11250,0,12\.50,0\.00,/);
  await page.click("text=Run check");
  await page.waitForURL("**/wallet#proof");
  // The check runs in the background; the page shows its state each time it is opened.
  const proved = page.locator("text=The ledger matches");
  for (const until = Date.now() + 20_000; await proved.count() === 0; await page.waitForTimeout(200)) {
    assert.ok(Date.now() < until, "the proof did not come");
    await page.reload();
  }
});

test("the sessions of an identity are shown and ended", async () => {
  const { page } = house;
  await page.goto(`${project}/playground`);
  await step(page, "send");
  await page.click(".autofill");
  await step(page, "verify");
  await page.goto(`${project}/identities`);
  await page.fill("#wanted", "98765 43210");
  await page.click("text=Look up");
  await page.click("a:has-text('Sessions')");
  await page.waitForSelector(".pill.good");
  await page.click("summary");
  await page.fill("input[name=word]", "end all");
  await page.click("button.danger");
  await page.waitForSelector("text=Its tokens no longer work");
  assert.equal(await page.locator("tbody .pill.good").count(), 0);
});

test("an identity that has logged in is found and erased", async () => {
  const { page } = house;
  await page.goto(`${project}/identities`);
  const find = async () => {
    await page.fill("#wanted", "98765 43210");
    await page.click("text=Look up");
  };
  await find();
  await page.waitForSelector("text=+919876543210");
  await page.click("summary");
  await page.fill("input[name=word]", "erase");
  await page.click("button.danger");
  await page.waitForSelector("text=Identity erased.");
  await find();
  await page.waitForSelector("text=No identity found");
});

test("texts are previewed as they are typed, and saved", async () => {
  const { page } = house;
  await page.goto(`${project}/settings`);
  await page.fill("#sms_text", "{code} opens {brand}");
  await page.fill("#webotp_domain", "login.example.com");
  await page.waitForSelector("text=@login.example.com #482915");
  await page.click('form[action$="/settings/messages"] button.primary');
  await page.waitForSelector("text=Saved.");
  assert.equal(await page.inputValue("#sms_text"), "{code} opens {brand}");
});

for (const [width, colorScheme] of [[1440, "light"], [390, "dark"]]) {
  test(`a refused form keeps what was typed, and a changed one asks before it is left, at ${width}`, async () => {
    const { page } = house;
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await page.goto(`${project}/settings`);
    await page.fill("#brand", "Chai");
    await page.selectOption("#language", "ta");
    await page.fill("#webotp_domain", "not a domain");
    await page.click('form[action$="/settings/messages"] button.primary');
    await page.waitForSelector("#webotp_domain-error");
    assert.equal(await page.inputValue("#brand"), "Chai");
    assert.equal(await page.inputValue("#language"), "ta");
    assert.equal(await page.inputValue("#webotp_domain"), "not a domain");
    assert.equal(await focused(page), "webotp_domain");
    const asked = page.waitForEvent("dialog");
    page.click(width > 820 ? "nav a[href$='/keys']" : "a[href='/'].brand").catch(() => {});
    const dialog = await asked;
    assert.equal(dialog.type(), "beforeunload");
    await dialog.dismiss();
    assert.equal(await page.inputValue("#brand"), "Chai", "still there");
    page.once("dialog", (leaving) => leaving.accept());
    await page.goto(`${project}/settings`);
    assert.equal(await page.inputValue("#brand"), "", "nothing was saved");
    await page.goto(`${project}/keys`);
    await page.setViewportSize(LOOK.viewport);
    await page.emulateMedia({ colorScheme: "light" });
  });
}

/** A receiver on loopback, with its requests and its answer. */
async function receiver() {
  const heard = [];
  const state = { heard, status: 500 };
  const server = createServer((request, answer) => {
    let body = "";
    request.on("data", (data) => { body += data; });
    request.on("end", () => {
      heard.push({ id: request.headers["webhook-id"], type: JSON.parse(body).type });
      answer.writeHead(state.status).end();
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return Object.assign(state, {
    url: `http://127.0.0.1:${server.address().port}/events`,
    close: () => server.close(),
  });
}

test("an endpoint of events is made, tested, resent and removed", async () => {
  const { page } = house;
  const there = await receiver();
  await page.goto(`${project}/settings/events`);
  await page.fill("#url", there.url);
  await page.click('form[action$="/settings/events"] button');
  assert.match(await page.textContent("#fresh-secret"), /^whsec_/);
  await page.click(".endpoint-row a.button");
  await page.waitForSelector("text=No events sent yet");
  await page.click("text=Send test");
  await page.waitForSelector("text=Test failed: HTTP 500.");
  there.status = 204;
  await page.waitForTimeout(5_000);
  await page.click("text=Send test");
  await page.waitForSelector("text=Test delivered. The endpoint responded with 204.");
  const [failed] = there.heard;
  assert.equal(failed.type, "webhook.test");
  await page.click("text=Failed only");
  assert.equal(await page.locator("tbody tr").count(), 1);
  // Sending an event again is refused right after it was sent, and works later.
  const again = async () => {
    await page.click('tbody button:has-text("Send again")');
    return page.waitForSelector(".notice").then((notice) => notice.textContent());
  };
  for (let tries = 0; !/Event queued/.test(await again()); tries += 1) {
    assert.ok(tries < 20, "never sent again");
    await page.waitForTimeout(1_000);
    await page.click("text=Failed only");
  }
  for (let tries = 0; there.heard.length < 3; tries += 1) {
    assert.ok(tries < 50, "never told again");
    await page.waitForTimeout(100);
  }
  assert.equal(there.heard[2].id, failed.id, "receivers know it by its id");
  await page.click("summary");
  await page.fill("input[name=word]", "remove");
  await page.click("button.danger");
  await page.waitForSelector("text=Endpoint removed.");
  there.close();
});

test("a token of the admin API is made, shown once, used and revoked", async () => {
  const { page } = house;
  await page.goto(`${house.base}/tokens`);
  await page.fill("#name", "deploy");
  await page.check("input[name^=project-]");
  await page.fill("#days", "1");
  await page.click("button:has-text('Create token')");
  const token = await page.textContent("#fresh-token");
  const http = await import("node:http");
  const status = () => new Promise((done, failed) => {
    const url = new URL(`${house.base}/admin/v1/projects`);
    const headers = { Authorization: `Bearer ${token}` };
    http.get(url, { headers }, (answer) => { answer.resume(); done(answer.statusCode); })
      .on("error", failed);
  });
  assert.equal(await status(), 200);
  const fromPage = await page.evaluate(async (token) => {
    const headers = { Authorization: `Bearer ${token}` };
    return (await fetch("/admin/v1/projects", { headers })).status;
  }, token);
  assert.equal(fromPage, 403, "no page may use it, not even ours");
  await page.goto(`${house.base}/tokens`);
  assert.ok(!(await page.content()).includes(token));
  await page.click("summary:has-text('Revoke')");
  await page.fill("input[name=word]", "deploy");
  await page.click("button.danger");
  await page.waitForSelector("text=Token revoked.");
  assert.equal(await status(), 401);
});

test("somebody invited chooses a password, signs in, and sees what their role allows", async () => {
  const { page } = house;
  await page.goto(`${house.base}/team`);
  await page.fill("#name", "ravi");
  await page.selectOption("#invite-role", "viewer");
  await page.click("text=Create invite link");
  const link = await page.textContent("#fresh-link");
  const ravi = await (await house.browser.newContext(LOOK)).newPage();
  await ravi.goto(link);
  await ravi.fill("#password", PASSWORD);
  await ravi.fill("#again", PASSWORD);
  await ravi.click("text=Join");
  await ravi.waitForURL("**/overview");
  assert.equal((await ravi.goto(`${project}/keys`)).status(), 403);
  assert.equal((await ravi.goto(`${house.base}/team`)).status(), 403);
  await ravi.goto(house.base);
  await ravi.click("text=Sign out");
  await ravi.waitForURL("**/sign-in");
  await ravi.fill("#name", "ravi");
  await ravi.fill("#password", PASSWORD);
  await ravi.click("button.primary");
  await ravi.waitForURL("**/overview");
  await ravi.goto(link);
  await ravi.fill("#password", PASSWORD);
  await ravi.fill("#again", PASSWORD);
  await ravi.click("text=Join");
  await ravi.waitForSelector("text=This link has already been used");
  await ravi.context().close();
});

test("the way in leads back to the page, with a second factor asked after the password", async () => {
  const nila = await joined("nila", "viewer");
  await nila.goto(`${house.base}/account`);
  assert.match(await nila.textContent("main"), /Chrome on \w+/, "the device has a name");
  await nila.click("text=Add an authenticator app");
  const secret = await nila.textContent("code.wrap-anywhere");
  await nila.fill("#code", totp(secret));
  await nila.fill("#current-totp", PASSWORD);
  await nila.click("text=Turn on");
  await nila.waitForSelector("text=Two-factor authentication is on");
  await nila.click("text=Sign out >> nth=0");
  await nila.waitForURL("**/sign-in");

  const wanted = `${project}/wallet?kind=credit`;
  await nila.goto(wanted);
  assert.equal(new URL(nila.url()).pathname, "/sign-in");
  assert.equal(await nila.locator("#code").count(), 0, "no word of a code yet");
  await nila.fill("#name", "nila");
  await nila.fill("#password", PASSWORD);
  await nila.click("button.primary");
  await nila.waitForURL("**/sign-in/code?*");
  assert.equal(await focused(nila), "code");
  await nila.fill("#code", "000000");
  await nila.click("button.primary");
  await nila.waitForSelector("text=Wrong code");
  await nila.fill("#code", totp(secret, 1));
  await nila.click("button.primary");
  await nila.waitForURL(wanted);

  // A link in a mail or a chat opens the page with the session.
  const site = await foreignSite(`<a href="${project}/overview?mode=test">look</a>`);
  await nila.goto(site.url);
  await nila.click("text=look");
  await nila.waitForURL(`${project}/overview?mode=test`);
  await nila.click('[name="theme"][value="dark"]');
  await nila.waitForURL(`${project}/overview?mode=test`);
  assert.equal(await nila.getAttribute("html", "data-theme"), "dark");
  site.close();
  await nila.context().close();
});

test("a rise is confirmed, an invitation is renewed and revoked, and a long name hides nothing", async () => {
  const long = "a very long name of an operator who signs in with it all 123";
  const longer = await joined(long, "viewer");
  for (const width of [1280, 390]) {
    await longer.setViewportSize({ width, height: 860 });
    await longer.goto(`${project}/overview`);
    if (width < 820) await longer.check("#nav-open", { force: true });
    const button = await longer.locator("text=Sign out").first().boundingBox();
    const side = await longer.locator("header.side").boundingBox();
    assert.ok(button.x + button.width <= side.x + side.width, `Sign out is beyond at ${width}`);
  }
  await longer.context().close();
  const { page } = house;
  await page.goto(`${house.base}/team`);
  const card = page.locator("li.card", { hasText: long });
  const [name, frame] = [await card.locator("strong").boundingBox(), await card.boundingBox()];
  assert.ok(name.x + name.width <= frame.x + frame.width);
  await card.locator("text=Change role").click();
  await card.locator("select").first().selectOption("owner");
  await card.locator("text=Save").first().click();
  await page.waitForSelector("text=will be able to do everything in");
  await page.click("main >> text=Cancel");
  assert.match(await card.textContent(), /Viewer/);

  await page.fill("#name", "zoya");
  await page.click("text=Create invite link");
  const first = await page.textContent("#fresh-link");
  const invited = page.locator("li.card", { hasText: "zoya" });
  assert.match(await invited.textContent(), /The link works until/);
  await invited.locator("text=New link").click();
  await page.waitForSelector("#fresh-link");
  assert.notEqual(await page.textContent("#fresh-link"), first);
  await invited.locator("text=Revoke").click();
  await page.waitForSelector("text=Removed and signed out everywhere.");
  assert.equal(await invited.count(), 0);
});

test("the card to sign in is in the middle of the window", async () => {
  const stranger = await (await house.browser.newContext(LOOK)).newPage();
  for (const [width, height] of [[1440, 900], [390, 844]]) {
    await stranger.setViewportSize({ width, height });
    await stranger.goto(`${house.base}/sign-in`);
    const card = await stranger.locator("section.card").boundingBox();
    const [x, y] = [card.x + card.width / 2 - width / 2, card.y + card.height / 2 - height / 2];
    assert.ok(Math.abs(x) <= 8 && Math.abs(y) <= 8, `${x}, ${y} off at ${width}`);
  }
  await stranger.context().close();
});

test("a request appears in the live list, and again when it changes", async () => {
  const { page } = house;
  await page.goto(`${project}/activity?mode=live`);
  await page.waitForSelector('#live-bar[data-state="going"]', { state: "attached" });
  const rows = await page.locator("#rows tr").count();
  const phone = "9123456780";
  const sent = await fetch(`${house.api}/v1/otp/send`, {
    method: "POST",
    headers: { "X-Api-Key": house.liveKey, "Content-Type": "application/json" },
    body: JSON.stringify({ phone }),
  });
  assert.equal(sent.status, 200);
  await page.waitForSelector(`#rows tr:nth-child(${rows + 1})`);
  const row = await page.textContent("#rows tr:first-child");
  assert.match(row, /\+9191••••6780/);
  await page.click("#live-pause");
  await page.waitForSelector('#live-bar[data-state="paused"]');
  assert.ok(!(await page.content()).includes(phone));
  assert.deepEqual(house.faults, []);
});

test("a live list keeps its filters and what is read further down, and all of a row is its link", async () => {
  const { page } = house;
  const send = (phone) => fetch(`${house.api}/v1/otp/send`, {
    method: "POST",
    headers: { "X-Api-Key": house.testKey, "Content-Type": "application/json" },
    body: JSON.stringify({ phone }),
  });
  const live = () => page.waitForSelector('#live-bar[data-state="going"]');
  for (let number = 10; number < 50; number += 1) assert.equal((await send(`98111001${number}`)).status, 200);
  await page.goto(`${project}/activity?mode=test&provider=sandbox`);
  await live();
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  const place = () => page.evaluate(() => {
    const row = [...document.querySelectorAll("#rows tr")].find((it) => it.getBoundingClientRect().top >= 0);
    return [row.id, Math.round(row.getBoundingClientRect().top)];
  });
  const before = await place();
  assert.equal((await send("9000000002")).status, 500);
  await page.waitForSelector("#live-above >> text=1 new above");
  const [id, top] = await place();
  assert.equal(id, before[0]);
  assert.ok(Math.abs(top - before[1]) <= 2, `${before[1]} became ${top}`);
  await page.click("#live-above");
  await page.waitForFunction(() => document.activeElement.matches("#rows tr:first-child a"));
  assert.match(await page.textContent("#rows tr:first-child"), /Test.*Failed.*SMS via sandbox/s);
  await page.click('nav.views >> text="Failed"');
  await live();
  const rows = await page.locator("#rows tr").count();
  await send("9811100160");
  await send("9000000002");
  await page.waitForFunction((rows) => document.querySelectorAll("#rows tr").length === rows + 1, rows);
  assert.equal(await page.locator("#rows tr:not(:has-text('Failed'))").count(), 0);
  await sound(house, "failed");
  const otp = await page.textContent("#rows tr:first-child .id");
  // The link of the row is above all of it, so a click anywhere reaches it.
  await page.click("#rows tr:first-child .reason", { force: true });
  await page.waitForURL(`**/activity/${otp}`);
});

test("support finds out why a code failed and sees no number", async () => {
  const { page } = house;
  await page.goto(`${project}/playground`);
  await page.click('[data-number="9000000002"]');
  assert.equal(await step(page, "send"), "500");
  await page.goto(`${house.base}/team`);
  await page.fill("#name", "sita");
  await page.selectOption("#invite-role", "support");
  await page.click("text=Create invite link");
  const link = await page.textContent("#fresh-link");
  const sita = await (await house.browser.newContext(LOOK)).newPage();
  await sita.goto(link);
  await sita.fill("#password", PASSWORD);
  await sita.fill("#again", PASSWORD);
  await sita.click("text=Join");
  await sita.waitForURL("**/activity");
  await sita.click('[name="mode"][value="test"]');
  await sita.waitForSelector("body.testing");
  await sita.fill("#phone", "+91 90000 00002");
  await sita.click("form.card >> text=Search");
  await sita.waitForSelector(".timeline");
  const told = await sita.textContent("#content");
  assert.match(told, /Sent by WhatsApp via sandbox/);
  assert.match(told, /Fell back to SMS/);
  assert.match(told, /No code reached the phone/);
  assert.match(told, /\+9190••••0002/);
  assert.ok(!(await sita.content()).includes("9000000002"));
  assert.equal(await sita.locator("text=Show number").count(), 0);
  assert.ok(!sita.url().includes("9000000002"));
  await sita.context().close();
});

test("a number that is unmasked is in the audit log", async () => {
  const { page } = house;
  await page.goto(`${project}/activity?mode=test&status=failed`);
  await page.click("#rows tr:first-child a");
  assert.ok(!(await page.content()).includes("9000000002"));
  await page.click("text=Show number");
  assert.equal(await page.textContent("#unmasked"), "+919000000002");
  await page.goto(`${project}/audit`);
  assert.match(await page.textContent("tbody tr:first-child"), /\+9190••••0002/);
});

test("a passkey is added, signs in without a password, and is removed", async () => {
  const { page } = house;
  await page.goto(`${house.base}/account`);
  await page.waitForSelector("text=passkeys do not work with an address");
  await page.goto(`${house.base}/team`);
  await page.fill("#name", "meera");
  await page.selectOption("#invite-role", "viewer");
  await page.click("text=Create invite link");
  // Browsers bind passkeys to names, not to addresses.
  const here = house.base.replace("127.0.0.1", "localhost");
  const link = (await page.textContent("#fresh-link")).replace(house.base, here);
  const meera = await (await house.browser.newContext(LOOK)).newPage();
  const devtools = await meera.context().newCDPSession(meera);
  await devtools.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true,
    isUserVerified: true, automaticPresenceSimulation: true,
  };
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", { options });
  await meera.goto(link);
  await meera.fill("#password", PASSWORD);
  await meera.fill("#again", PASSWORD);
  await meera.click("text=Join");
  await meera.waitForURL("**/overview");
  await meera.goto(`${here}/account`);
  await meera.fill("#passkey-name", "Laptop");
  await meera.fill("#current-passkey", PASSWORD);
  await meera.click("text=Add passkey");
  await meera.waitForSelector("text=You can sign in with it");
  const signIn = async () => {
    await meera.context().clearCookies({ name: "dwar_dashboard" });
    await meera.goto(`${here}/sign-in`);
    await meera.click("text=Sign in with a passkey");
  };
  await meera.click("text=Sign out >> nth=0");
  await meera.waitForURL("**/sign-in");
  await signIn();
  await meera.waitForURL("**/overview");
  await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
  await signIn();
  await meera.waitForSelector("text=The browser did not provide a passkey");
  await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
  await signIn();
  await meera.waitForURL("**/overview");
  await meera.goto(`${here}/account`);
  await meera.click("#passkeys summary");
  await meera.fill("#current-passkey-0", PASSWORD);
  await meera.click("text=Remove Laptop");
  await meera.waitForSelector("text=You were signed out everywhere else");
  await signIn();
  await meera.waitForSelector("text=not registered here");
  await meera.context().close();
});

test("a form on another site changes nothing", async () => {
  const { page } = house;
  const site = await foreignSite(
    `<form method="post" action="${house.base}/team"><input name="name" value="mallory">
     <input name="project" value="everything"><input name="role" value="owner"></form>
     <script>document.forms[0].submit()</script>`,
  );
  const answer = page.waitForResponse((response) => response.url() === `${house.base}/team`);
  await page.goto(site.url).catch(() => {});
  assert.equal((await answer).status(), 403);
  await page.goto(`${house.base}/team`);
  assert.ok(!(await page.content()).includes("mallory"));
  site.close();
});

test("no other site can frame a page", async () => {
  const site = await foreignSite(`<iframe src="${project}/keys"></iframe>`);
  const { page } = house;
  await page.goto(site.url);
  const frame = page.frames().find((one) => one !== page.mainFrame());
  await page.waitForTimeout(300);
  assert.ok(!(await frame.content().catch(() => "")).includes("svc_live"));
  site.close();
});

test("a planted cookie does not become a session", async () => {
  const other = await open();
  const planted = "planted";
  await other.context.addCookies([{ name: "dwar_dashboard", value: planted, url: other.base }]);
  await other.enter();
  const [cookie] = (await other.context.cookies()).filter(({ name }) => name === "dwar_dashboard");
  assert.notEqual(cookie.value, planted);
  assert.ok(cookie.httpOnly && cookie.sameSite === "Lax");
  await other.close();
});

test("times are Indian, wherever the browser is", async () => {
  const { page } = house;
  const shown = (at, withSeconds) => {
    const day = new Intl.DateTimeFormat("en-GB", { timeZone: "Asia/Kolkata", day: "numeric", month: "short", year: "numeric" });
    const clock = { hour: "numeric", minute: "2-digit", ...(withSeconds && { second: "2-digit" }) };
    const time = new Intl.DateTimeFormat("en-US", { timeZone: "Asia/Kolkata", ...clock }).format(at);
    return `${day.format(at).replace("Sept", "Sep")}, ${time.replace(/\s/, " ").toLowerCase()} IST`;
  };
  await page.goto(`${project}/keys`);
  const made = page.locator("time").first();
  const at = new Date(await made.getAttribute("datetime"));
  assert.equal(await made.textContent(), shown(at));
  assert.equal(await made.getAttribute("title"), `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`);
  await page.goto(`${project}/playground`);
  await page.fill("#phone", "9876501234");
  await step(page, "send");
  await page.click(".autofill");
  await step(page, "verify");
  const issued = page.locator(".token-claims dt:text-is('iat') + dd");
  const seconds = Number(await issued.locator("code").textContent());
  assert.match(await issued.textContent(), new RegExp(`${shown(new Date(seconds * 1000), true)}$`));
});

test("the playground is in Hindi once that is chosen, and runs in it", async () => {
  const { page } = house;
  const title = () => page.textContent("h1");
  await page.goto(`${project}/playground`);
  assert.equal(await title(), "Playground");
  await page.click("form.language >> text=हिन्दी");
  await page.waitForSelector('html[lang="hi"]');
  assert.equal(await title(), "प्लेग्राउंड");
  await page.fill("#phone", "9876512345");
  assert.equal(await step(page, "send"), "200");
  assert.match(await page.textContent('[data-step="send"] .limit'), /में से \d+ शेष · .* में रीसेट/);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  assert.deepEqual(violations.filter(({ impact }) => ["serious", "critical"].includes(impact)), []);
  await page.goto(`${project}/keys`);
  assert.equal(await page.getAttribute("html", "lang"), "en");
  await page.click("form.language >> text=English");
  await page.goto(`${project}/playground`);
  assert.equal(await title(), "Playground");
  assert.deepEqual(house.faults, []);
});

test("a browser that prefers Hindi is asked to sign in in Hindi, and can switch", async () => {
  const stranger = await (await house.browser.newContext({ ...LOOK, locale: "hi-IN" })).newPage();
  await stranger.goto(`${project}/wallet`);
  assert.equal(await stranger.getAttribute("html", "lang"), "hi");
  assert.equal(await stranger.textContent("h1"), "साइन इन करें");
  await stranger.evaluate(axe);
  const { violations } = await stranger.evaluate(() => window.axe.run());
  assert.deepEqual(violations.filter(({ impact }) => ["serious", "critical"].includes(impact)), []);
  const wanted = stranger.url();
  await stranger.click("form.language >> text=English");
  await stranger.waitForSelector('html[lang="en"]');
  assert.equal(await stranger.textContent("h1"), "Sign in");
  assert.equal(stranger.url(), wanted, "where one wanted to go is kept");
  await stranger.context().close();
});

test("nothing of it is on the API's listener", async () => {
  for (const path of ["/", "/sign-in", "/start", "/projects", "/team", "/audit", "/tokens"]) {
    assert.equal((await fetch(house.api + path)).status, 404, path);
  }
  const key = { "X-Api-Key": house.liveKey };
  const page = await fetch(`${project}/keys`, { headers: key, redirect: "manual" });
  assert.equal(page.status, 303);
});

test("every page is fit for everybody, in both themes and at 360 pixels", async () => {
  const { page } = house;
  const strangers = await (await house.browser.newContext(LOOK)).newPage();
  const all = [
    ...PAGES.map((name) => [page, `${project}/${name}`]),
    ...OWN_PAGES.map((path) => [page, house.base + path]),
    ...["/sign-in", "/invite", "/start", "/reference"].map((path) => [strangers, house.base + path]),
  ];
  for (const [tab, url] of all) {
    await tab.goto(url);
    const served = await (await tab.request.get(url)).body();
    assert.ok(served.length < 100_000, `${url}: ${served.length} bytes`);
    for (const summary of await tab.locator("summary").all()) await summary.click();
    for (const colorScheme of ["light", "dark"]) {
      await tab.emulateMedia({ colorScheme });
      await tab.evaluate(axe);
      const { violations } = await tab.evaluate(() => window.axe.run());
      const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
      const told = serious.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 120))]);
      assert.deepEqual(told, [], `${url} ${colorScheme}`);
    }
    await tab.setViewportSize({ width: 360, height: 740 });
    const beyond = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(beyond <= 0, `${url} is ${beyond} pixels too wide at 360`);
    await tab.setViewportSize(LOOK.viewport);
  }
  await strangers.context().close();
});

test("the keyboard alone reaches the content, and a step runs by it", async () => {
  const { page } = house;
  await page.goto(`${project}/playground`);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  await page.focus('[data-step="send"] .run');
  await page.keyboard.press("Enter");
  await page.waitForSelector(".bubble");
  await page.focus('[data-step="send"] .fold');
  await page.keyboard.press("Enter");
  await page.focus('[data-step="send"] [role=tab][aria-selected=true]');
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.tab), "curl");
});

test("lists are cards on a phone, outcome first, and nothing is wider than it", async () => {
  const { page } = house;
  for (const colorScheme of ["light", "dark"]) {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme });
    for (const [path, outcome] of [["activity", ".outcome .pill"], ["wallet", ".outcome"], ["audit", ".outcome"]]) {
      await page.goto(`${project}/${path}`);
      const card = page.locator(".cards:not(.months) tbody tr").first();
      const top = (part) => card.locator(part).first().evaluate((it) => it.getBoundingClientRect().top);
      assert.ok((await top(outcome)) <= (await top("td[data-label] time")), `${path}: outcome first`);
      assert.equal(await page.locator(".cards:not(.months) thead").first().isVisible(), false);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${path} is ${wide} pixels too wide`);
    }
    await page.goto(`${project}/settings`);
    const low = await page.evaluate(() => [...document.querySelectorAll("main button, main select, main input:not([type=checkbox], [type=hidden])")]
      .filter((it) => it.checkVisibility() && it.getBoundingClientRect().height < 44).map((it) => it.outerHTML.slice(0, 90)));
    assert.deepEqual(low, [], "what is tapped is 44 pixels high");
  }
  await page.setViewportSize(LOOK.viewport);
  await page.emulateMedia({ colorScheme: "light" });
});
