import assert from "node:assert/strict";
import { test } from "node:test";
import { VERIFIED, alert, button, field, house, open, refusal, sendCode, settle, until } from "./house.mjs";

const it = house();
const verified = () => it.backend.bodies("verify");
const waits = () => it.page.evaluate(() => window.waits.map(({ options, signal }) => [options, signal.aborted]));
const ASKED = { otp: { transport: ["sms"] } };

/** WebOTP as Chrome on Android has it; `window.sms` delivers one. */
async function withWebOtp() {
  it.spent = true;
  await it.page.addInitScript(() => {
    window.waits = [];
    window.OTPCredential = class {};
    window.sms = (code) => window.waits.at(-1).resolve({ type: "otp", code });
    navigator.credentials.get = ({ signal, ...options }) =>
      new Promise((resolve, reject) => {
        window.waits.push({ options, signal, resolve });
        signal.addEventListener("abort", () => reject(signal.reason));
      });
  });
  await open(it);
}

test("the code of the SMS is filled in and submitted", async () => {
  await withWebOtp();
  assert.deepEqual(await waits(), [], "not before a code is on its way");
  await sendCode(it);
  assert.deepEqual(await waits(), [[ASKED, false]]);
  await it.page.keyboard.type("12");
  await it.page.evaluate(() => window.sms("123456"));
  await it.page.getByText("You are logged in.").waitFor();
  assert.deepEqual(verified(), [{ phone: "9876543210", code: "123456" }]);
});

test("the wait ends when a code is submitted, and begins again when it was wrong", async () => {
  it.backend.play({ verify: [refusal(400, "INVALID_OTP"), VERIFIED] });
  await withWebOtp();
  await sendCode(it);
  await it.page.keyboard.insertText("654321");
  await alert(it).getByText("not correct").waitFor();
  assert.deepEqual(await waits(), [[ASKED, true], [ASKED, false]]);
  await it.page.evaluate(() => window.sms("123456"));
  await it.page.getByText("You are logged in.").waitFor();
});

test("the wait ends with its step, and with the element", async () => {
  await withWebOtp();
  await sendCode(it);
  await button(it, "Change number").click();
  assert.deepEqual(await waits(), [[ASKED, true]]);
  await sendCode(it, "9876543211");
  await it.page.evaluate(() => document.querySelector("dwar-login").remove());
  assert.deepEqual(await waits(), [[ASKED, true], [ASKED, true]]);
});

test("a refusal of the person or an SMS without a code changes nothing", async () => {
  await withWebOtp();
  await sendCode(it);
  await it.page.evaluate(() => window.sms("hello"));
  await settle(it);
  assert.deepEqual(verified(), []);
  assert.equal(await alert(it).textContent(), "");
  await it.page.keyboard.type("123456");
  await field(it).press("Enter");
  await until(() => assert.equal(verified().length, 1));
});
