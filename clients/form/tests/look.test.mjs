// With SHOTS=FOLDER each look is kept as a picture.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { VERIFIED, alert, field, house, open, refusal, sendCode } from "./house.mjs";

const it = house();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function sound(name) {
  await it.page.evaluate(axe);
  const { violations } = await it.page.evaluate(() => window.axe.run());
  const found = violations.map(({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)]);
  assert.deepEqual(found, [], name);
  const beyond = await it.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(beyond <= 0, `${name}: ${beyond} pixels too wide`);
  const small = await it.page.locator("dwar-login button").evaluateAll((all) =>
    all.filter((button) => button.getBoundingClientRect().height < 44).map(({ textContent }) => textContent));
  assert.deepEqual(small, [], `${name}: too small to tap`);
  if (process.env.SHOTS) await it.page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
}

for (const colorScheme of ["light", "dark"]) {
  for (const lang of ["en", "hi"]) {
    test(`axe finds nothing at 360 pixels, ${colorScheme}, ${lang}`, async () => {
      it.backend.play({ send: [refusal(422, "INVALID_PHONE"), { body: { otp_id: "1" } }],
        verify: [refusal(400, "INVALID_OTP"), VERIFIED] });
      await it.page.emulateMedia({ colorScheme });
      await open(it, { lang });
      const shown = (step) => sound(`${colorScheme}-${lang}-${step}`);
      await shown("1-phone");
      await field(it).fill("9876543210");
      await field(it).press("Enter");
      await alert(it).getByText("10").waitFor();
      await shown("2-phone-refused");
      await sendCode(it);
      await shown("3-code");
      await it.page.keyboard.insertText("123456");
      await alert(it).getByText("OTP").waitFor();
      await shown("4-code-refused");
      await it.page.keyboard.insertText("123456");
      await it.page.locator("dwar-login [role=status]").waitFor();
      await shown("5-done");
    });
  }
}

test("a light page stays light where the system is dark", async () => {
  await it.page.emulateMedia({ colorScheme: "dark" });
  await open(it);
  await it.page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("html { color-scheme: light }");
    document.adoptedStyleSheets.push(sheet);
  });
  await sound("light-page");
  const submit = it.page.locator("dwar-login [type=submit]");
  assert.equal(await submit.evaluate((button) => getComputedStyle(button).backgroundColor), "rgb(11, 110, 99)");
});

test("colours and corners are the page's, if it says so anywhere above", async () => {
  await open(it);
  await it.page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`:root { --dwar-login-accent: #00f; --dwar-login-on-accent: #ff0; --dwar-login-error: #808;
      --dwar-login-radius: 3px } button, [type="submit"] { background: none } input { border: 9px solid }`);
    document.adoptedStyleSheets.unshift(sheet);
  });
  await field(it).press("Enter");
  const style = (selector, name) => it.page.locator(`dwar-login ${selector}`)
    .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), name);
  assert.equal(await style("[type=submit]", "background-color"), "rgb(0, 0, 255)");
  assert.equal(await style("[type=submit]", "color"), "rgb(255, 255, 0)");
  assert.equal(await style("[type=submit]", "border-radius"), "3px");
  assert.equal(await style("[role=alert]", "color"), "rgb(136, 0, 136)");
  assert.equal(await style("input", "border-top-width"), "0px");
});

test("the language is that of the element before that of the page, and English for one that it does not have", async () => {
  for (const [lang, attributes, wanted, spoken] of [
    ["hi", "", "मोबाइल नंबर", "hi"], ["en", 'lang="hi-IN"', "मोबाइल नंबर", "hi"],
    ["hi", 'lang="en"', "Mobile number", "en"], ["ta", "", "Mobile number", "en"],
  ]) {
    await open(it, { lang, attributes });
    assert.equal(await it.page.locator("dwar-login label").textContent(), wanted);
    assert.equal(await it.page.locator("dwar-login form").getAttribute("lang"), spoken);
  }
});
