import assert from "node:assert/strict";
import { test } from "node:test";
import { alert, button, field, focused, hold, house, open, paste, refusal, sendCode, settle, stopClock, until } from "./house.mjs";

const it = house();
const sent = () => it.backend.bodies("send");

for (const text of [
  "9876543210", "+91 98765-43210", "098765 43210", "0091 98765 43210", "919876543210", "+91 (0)98765 43210",
  "९८७६५ ४३२१०", "+९१ ९८७६५४३२१०", "\u202a+91\u00a098765\u201143210\u202c", "Call 98765.43210",
]) {
  test(`«${text}» is pasted as a number`, async () => {
    await open(it);
    await field(it).fill("98");
    await paste(it, text);
    assert.equal(await field(it).inputValue(), "9876543210");
    await settle(it);
    assert.deepEqual(sent(), [], "only a person sends");
    await field(it).press("Enter");
    await until(() => assert.deepEqual(sent(), [{ phone: "9876543210" }]));
  });
}

test("what autofill brings is a number too", async () => {
  await open(it);
  await field(it).fill("+919876543210");
  assert.equal(await field(it).inputValue(), "9876543210");
});

test("a number is not changed while somebody types it", async () => {
  await open(it);
  await field(it).focus();
  await it.page.keyboard.type("0987654");
  assert.equal(await field(it).inputValue(), "0987654");
  await it.page.keyboard.type("3210");
  assert.equal(await field(it).inputValue(), "9876543210");
});

for (const text of ["", "98765", "5876543210", "98765432101", "+1 987 654 3210", "+9876543210", "mobile"]) {
  test(`«${text}» is refused before any request`, async () => {
    await open(it);
    await field(it).fill(text);
    await field(it).press("Enter");
    assert.match(await alert(it).textContent(), /10-digit mobile number/);
    assert.equal(await field(it).getAttribute("aria-invalid"), "true");
    await settle(it);
    assert.deepEqual(sent(), []);
  });
}

test("the field is what browsers fill", async () => {
  await open(it);
  for (const [name, value] of [["type", "tel"], ["autocomplete", "tel"], ["name", null], ["maxlength", null]]) {
    assert.equal(await field(it).getAttribute(name), value, name);
  }
  assert.equal(await it.page.getByLabel("Mobile number").count(), 1);
});

test("a second submission while the first is under way sends nothing", async () => {
  const { held, release } = hold();
  it.backend.play({ send: [{ ...refusal(503, "LOGIN_UNAVAILABLE"), held }] });
  await open(it);
  await field(it).fill("9876543210");
  await field(it).press("Enter");
  assert.equal(await it.page.locator("form[aria-busy=true]").count(), 1);
  assert.equal(await button(it, "Sending…").count(), 1);
  await field(it).press("Enter");
  await button(it, "Sending…").dblclick();
  release();
  await alert(it).getByText("not possible").waitFor();
  await settle(it);
  assert.equal(sent().length, 1);
  assert.equal(await it.page.locator("form[aria-busy]").count(), 0);
});

test("another number can be sent to at once, the same one after its pause", async () => {
  await stopClock(it);
  await open(it);
  await sendCode(it);
  await button(it, "Change number").click();
  assert.equal(await field(it).inputValue(), "9876543210");
  assert.equal(await (await focused(it)).evaluate(({ value }) => value), "9876543210");
  assert.equal(await button(it, "Send OTP (0:30)").isDisabled(), true);
  await it.page.clock.runFor(31_000);
  assert.equal(await button(it, "Send OTP").isDisabled(), false);
  await sendCode(it);
  await button(it, "Change number").click();
  await sendCode(it, "9876543211");
  assert.deepEqual(sent().map(({ phone }) => phone), ["9876543210", "9876543210", "9876543211"]);
});

test("Retry-After is counted down on the button, for the number that it was about", async () => {
  await stopClock(it);
  it.backend.play({ send: [refusal(429, "OTP_RATE_LIMITED", 125)] });
  await open(it);
  await field(it).fill("9876543210");
  await field(it).press("Enter");
  await alert(it).getByText("Too many OTPs for this number. Try again in 3 minutes.").waitFor();
  assert.equal(await button(it, "Send OTP (2:05)").isDisabled(), true);
  await it.page.clock.runFor(6000);
  assert.equal(await button(it, "Send OTP (1:59)").isDisabled(), true);
  await field(it).press("Enter");
  await settle(it);
  assert.equal(sent().length, 1);
  await field(it).fill("9876543211");
  assert.equal(await button(it, "Send OTP").isDisabled(), false);
});
