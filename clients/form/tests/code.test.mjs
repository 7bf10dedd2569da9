import assert from "node:assert/strict";
import { test } from "node:test";
import { VERIFIED, alert, button, field, hold, house, open, paste, refusal, sendCode, settle, stopClock, until } from "./house.mjs";

const it = house();
const verified = () => it.backend.bodies("verify");
const BODY = { phone: "9876543210", code: "123456" };
const done = () => it.page.locator("dwar-login [role=status]").getByText("You are logged in.").waitFor();

test("a login by keyboard alone", async () => {
  await open(it, { attributes: 'next="/account?tab=1#top"' });
  await it.page.keyboard.press("Tab");
  await it.page.keyboard.type("98765 43210");
  await it.page.keyboard.press("Tab");
  await it.page.keyboard.press("Space");
  await it.page.locator("[autocomplete=one-time-code]:focus").waitFor();
  assert.match(await it.page.locator("dwar-login form p").first().textContent(), /WhatsApp or SMS to \+91\s98765\s43210/);
  await it.page.keyboard.type("123456");
  await it.page.keyboard.press("Enter");
  await it.page.waitForURL(`${it.backend.origin}/account?tab=1#top`);
  assert.deepEqual(verified(), [BODY]);
});

test("nothing is submitted while somebody types", async () => {
  await open(it);
  await sendCode(it);
  await it.page.keyboard.type("123456", { delay: 20 });
  await settle(it);
  assert.deepEqual(verified(), []);
  await it.page.keyboard.press("Backspace");
  await it.page.keyboard.type("67");
  await it.page.keyboard.press("Backspace");
  await settle(it);
  assert.deepEqual(verified(), []);
});

test("nothing is submitted while somebody types on a keyboard that composes, as on Android", async () => {
  await open(it);
  await sendCode(it);
  const session = await it.context.newCDPSession(it.page);
  for (let length = 1; length <= 6; length++) {
    const text = "123456".slice(0, length);
    await session.send("Input.imeSetComposition", { text, selectionStart: length, selectionEnd: length });
  }
  await session.send("Input.insertText", { text: "123456" });
  await settle(it);
  assert.equal(await field(it).inputValue(), "123456");
  assert.deepEqual(verified(), []);
});

for (const text of [
  "123456", "123 456", "1 2 3 4 5 6", "123-456", "123 – 456", "१२३४५६", "Your code is 123 456", "123456.",
  "123456 is your Acme verification code. It is valid for 10 minutes.\n\n@login.example.com #123456",
]) {
  test(`«${text}» is pasted and submitted once, whatever the field held`, async () => {
    await open(it);
    await sendCode(it);
    await it.page.keyboard.type("98");
    await paste(it, text);
    await done();
    assert.deepEqual(verified(), [BODY]);
  });
}

test("what is pasted without a code in it is not submitted", async () => {
  await open(it);
  await sendCode(it);
  for (const text of ["12345", "1234567", "call 9876543210"]) {
    await field(it).fill("");
    await paste(it, text);
    await settle(it);
    assert.deepEqual(verified(), [], text);
  }
  await field(it).fill("");
  await paste(it, "123");
  await paste(it, "456");
  await settle(it);
  assert.deepEqual(verified(), [], "two halves");
  assert.equal(await field(it).inputValue(), "123456");
});

test("a code that one input event brings is submitted, as of a keyboard that suggests it", async () => {
  await open(it);
  await sendCode(it);
  await it.page.keyboard.insertText("123456");
  await done();
  assert.deepEqual(verified(), [BODY]);
});

test("a second submission while the first is under way sends nothing", async () => {
  const { held, release } = hold();
  it.backend.play({ verify: [{ ...VERIFIED, held }] });
  await open(it);
  await sendCode(it);
  await it.page.keyboard.insertText("123456");
  await it.page.keyboard.press("Enter");
  await paste(it, "654321");
  await button(it, "Checking…").click();
  release();
  await done();
  assert.deepEqual(verified(), [BODY]);
});

test("a code of too few digits is refused before any request", async () => {
  await open(it);
  await sendCode(it);
  await it.page.keyboard.type("12345");
  await it.page.keyboard.press("Enter");
  assert.equal(await alert(it).textContent(), "Enter all 6 digits of the OTP.");
  await settle(it);
  assert.deepEqual(verified(), []);
});

test("after a wrong code the field is empty, and the next one is submitted by itself", async () => {
  it.backend.play({ verify: [refusal(400, "INVALID_OTP"), VERIFIED] });
  await open(it);
  await sendCode(it);
  await it.page.keyboard.insertText("654321");
  await alert(it).getByText("not correct").waitFor();
  assert.equal(await field(it).inputValue(), "");
  await it.page.keyboard.insertText("123456");
  await done();
});

test("a new code can be sent after 30 seconds, in place of the old one", async () => {
  await stopClock(it);
  await open(it);
  await sendCode(it);
  await it.page.keyboard.type("12");
  assert.equal(await button(it, "Send again (0:30)").isDisabled(), true);
  await it.page.clock.runFor(29_000);
  assert.equal(await button(it, "Send again (0:01)").isDisabled(), true);
  await it.page.clock.runFor(1000);
  await button(it, "Send again").click();
  await it.page.getByText("We have sent a new OTP to").waitFor();
  assert.equal(await it.page.locator("dwar-login input:focus").inputValue(), "");
  assert.equal(await button(it, "Send again (0:30)").isDisabled(), true);
  assert.equal(it.backend.bodies("send").length, 2);
});

test("Retry-After of a refused send is counted down", async () => {
  await stopClock(it);
  it.backend.play({ send: [{ body: { otp_id: "1" } }, refusal(429, "TOO_MANY_SENDS", 600)] });
  await open(it);
  await sendCode(it);
  await it.page.clock.runFor(30_000);
  await button(it, "Send again").click();
  await alert(it).getByText("Try again in 10 minutes.").waitFor();
  assert.equal(await button(it, "Send again (10:00)").isDisabled(), true);
});

test("a code that is locked or gone lets a new one be sent at once, whatever Retry-After says of the old one", async () => {
  for (const answer of [refusal(429, "VERIFY_RATE_LIMITED", 540), refusal(400, "OTP_NOT_FOUND")]) {
    it.backend.play({ verify: [answer] });
    await open(it);
    await sendCode(it);
    await it.page.keyboard.insertText("123456");
    await alert(it).getByText("Send a new").waitFor();
    assert.equal(await button(it, "Send again").textContent(), "Send again");
    await button(it, "Send again").click();
    await it.page.getByText("We have sent a new OTP to").waitFor();
  }
});

test("the field is what browsers fill", async () => {
  await open(it);
  await sendCode(it);
  assert.equal(await it.page.locator("dwar-login input").count(), 1);
  const wanted = { type: "text", inputmode: "numeric", autocomplete: "one-time-code", name: null, maxlength: null };
  for (const [name, value] of Object.entries(wanted)) assert.equal(await field(it).getAttribute(name), value, name);
  assert.equal(await it.page.getByLabel("6-digit OTP").count(), 1);
  assert.equal(await field(it).evaluate((input) => input.getRootNode().mode), "open");
});
