// The walk of an operator on call: the first page that is opened names the problem, and no longer
// does when it is solved. Run by run.sh.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { open, sound } from "./house.mjs";

/** Longest time until a page names a problem, or stops naming it. */
const SOON = 30_000;

/** Answers of the providers, of the receiver of events, and of the providers' probe addresses. */
const answers = { wa: 200, text: 200, events: 200, "": 404 };
/** Providers that were called, the latest last. */
const asked = [];
let house, vendor, number = 0;

const described = (name, port) => `
name = "${name}"
[request]
url = "http://127.0.0.1:${port}/${name}"
json = '''{"to":"{phone_e164}","text":"{text}"}'''
[answer]
[[answer.reasons]]
status = 409
reason = "not_on_channel"
`;

before(async () => {
  vendor = createServer((request, answer) => {
    const name = request.url.slice(1);
    if (name !== "events") asked.push(name);
    request.resume().on("end", () => answer.writeHead(answers[name]).end("{}"));
  });
  await new Promise((ready) => vendor.listen(0, "127.0.0.1", ready));
  const { port } = vendor.address();
  house = await open({
    files: { "wa.toml": described("wa", port), "text.toml": described("text", port) },
    env: {
      DWAR__GATEWAYS__GENERIC_FILES: "wa.toml,text.toml",
      DWAR__GATEWAYS__WHATSAPP: "wa",
      DWAR__GATEWAYS__SMS: "text",
    },
  });
  await house.enter();
});
after(async () => {
  vendor.close();
  await house.close();
});

async function send(key) {
  number += 1;
  const phone = `98${String(31_415_927 + number * 27_182).padStart(8, "0").slice(-8)}`;
  const answer = await fetch(`${house.api}/v1/otp/send`, {
    method: "POST",
    headers: { "X-Api-Key": key, "content-type": "application/json" },
    body: JSON.stringify({ phone }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Reloads the first page until its bar names exactly these kinds. */
async function names(...wanted) {
  const { page } = house;
  let named;
  for (const until = Date.now() + SOON; Date.now() < until; await page.waitForTimeout(500)) {
    await page.goto(house.base);
    named = await page.locator("[data-alert]").evaluateAll((all) => all.map((it) => it.dataset.alert).sort());
    if (named.join() === wanted.sort().join()) return page.locator(".alerts").allInnerTexts();
  }
  assert.fail(`the first page names ${named}, not ${wanted}`);
}

const dwar = (...command) => JSON.parse(house.run([...command, "--json"]));
const project = () => dwar("project", "list").items[0].project_id;

test("nothing is named where nothing is wrong", async () => {
  assert.equal(await send(house.liveKey), 200);
  await names();
});

test("an outage and refused credentials are named, in the words of the providers, until a message is taken", async () => {
  Object.assign(answers, { wa: 503, text: 401 });
  for (let sent = 0; sent < 3; sent += 1) assert.equal(await send(house.liveKey), 500);
  const [bar] = await names("provider_auth", "provider_failing");
  for (const wanted of ["text refuses the credentials", "HTTP 401", "wa failed in three or more calls", "HTTP 503"]) {
    assert.ok(bar.includes(wanted), `${wanted} is not in ${bar}`);
  }
  await sound(house, "with alerts");
});

test("it is named after 500 newer test codes, too", async () => {
  for (let sent = 0; sent < 500; sent += 20) {
    const statuses = await Promise.all(Array.from({ length: 20 }, () => send(house.testKey)));
    assert.deepEqual(statuses, statuses.map(() => 200));
  }
  await names("provider_auth", "provider_failing");
  // Now the number is the reason, so this provider works; the next one accepts the message.
  Object.assign(answers, { wa: 409, text: 200 });
  assert.equal(await send(house.liveKey), 200);
  await names();
});

test("an empty wallet is named where sends are refused, until money is added", async () => {
  const of = ["--project", project()];
  const { available_paise: left } = dwar("wallet", "balance", ...of);
  dwar("wallet", "adjust", ...of, "--rupees", String((10 - left) / 100), "--reference", "walk");
  assert.equal(await send(house.liveKey), 402);
  const [bar] = await names("wallet_empty");
  assert.ok(bar.includes("has too little money for the next code"), bar);
  dwar("wallet", "credit", ...of, "--rupees", "1000");
  await names();
});

test("an endpoint that fails is named until it takes an event", async () => {
  answers.events = 500;
  const url = `http://127.0.0.1:${vendor.address().port}/events`;
  dwar("webhook", "add", "--project", project(), "--url", url);
  for (let sent = 0; sent < 4; sent += 1) assert.equal(await send(house.liveKey), 200);
  const [bar] = await names("endpoint_failing");
  assert.ok(bar.includes(url), bar);
  const { page } = house;
  for (const width of [320, 768]) {
    await page.setViewportSize({ width, height: 900 });
    for (const path of ["/projects", "/account"]) {
      await page.goto(house.base + path);
      assert.equal(await page.locator("[data-alert=endpoint_failing]").count(), 1, path);
      await sound(house, `${path} with an alert at ${width}`);
    }
  }
  // By keyboard from the alert to what to do.
  await page.focus("#content");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/help/runbooks#an-endpoint-that-fails");
  answers.events = 200;
  await names();
});

test("the page of a provider shows what it answered, asks it now, and sends a code by it alone", async () => {
  const { page } = house;
  Object.assign(answers, { wa: 409, text: 401 });
  assert.equal(await send(house.liveKey), 500);
  await page.goto(`${house.base}/p/${project()}/settings/delivery`);
  await page.click('main a[href$="/settings/delivery/text"]');
  await page.waitForURL("**/settings/delivery/text");
  const address = page.url();
  for (const width of [320, 1280]) {
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize({ width, height: 860 });
      await page.emulateMedia({ colorScheme });
      await page.goto(address);
      assert.match(await page.locator("main .outcome").first().innerText(), /HTTP 401/);
      await sound(house, `the page of a provider at ${width}, ${colorScheme}`);
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  for (const [status, said] of [[404, "It answers: HTTP 404"], [502, "It answered HTTP 502"]]) {
    answers[""] = status;
    await page.click('main button:has-text("Probe now")');
    await page.waitForSelector(`.notice:has-text("${said}")`);
    assert.equal(asked.at(-1), "");
  }
  await sound(house, "a probe");

  const sendTest = async (phone) => {
    await page.goto(address);
    await page.selectOption("#channel", "sms");
    await page.fill("#phone", phone);
    asked.length = 0;
    await page.click('main button:has-text("Send test")');
  };
  await sendTest("12");
  await page.waitForSelector("#phone-error");
  assert.deepEqual(asked, []);
  await sound(house, "not a number");
  answers.text = 401;
  await sendTest("98765 43210");
  await page.waitForSelector('.notice.bad:has-text("The provider did not accept it")');
  assert.deepEqual(asked, ["text"]);
  answers.text = 200;
  await sendTest("98765 43210");
  await page.waitForURL("**/activity/*");
  assert.deepEqual(asked, ["text"]);
  assert.match(await page.innerText("main"), /SMS/);
  await page.goto(`${house.base}/p/${project()}/audit`);
  assert.match(await page.innerText("main"), /Sent a test by a provider/);
});
