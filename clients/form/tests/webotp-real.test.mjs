// WebOTP of a real Chromium, in the shadow root of the form. The test stands in for the phone alone: it plays Chromium's own
// interface to the SMS of the device, as the web platform tests do, since the DevTools protocol has none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { VERIFIED, alert, button, field, house, open, refusal, sendCode, until } from "./house.mjs";

const it = house({ args: ["--enable-blink-features=MojoJS,MojoJSTest"] });
const waits = () => it.page.evaluate(() => window.phone.waits);

/** `phone.sms(code)` lets the wait that was begun last have a code. */
function phone() {
  const ASCII = (text) => new TextEncoder().encode(text);
  const phone = (window.phone = { waits: 0 });
  const interceptor = new MojoInterfaceInterceptor("blink.mojom.WebOTPService");
  interceptor.oninterfacerequest = ({ handle }) => {
    handle.watch({ readable: true }, () => {
      const { result, buffer } = handle.readMessage();
      const asked = result === Mojo.RESULT_OK && new DataView(buffer);
      // The flag of a message that wants an answer: `Receive()`, not `Abort()`.
      if (!asked || !(asked.getUint32(16, true) & 1)) return;
      phone.waits += 1;
      phone.sms = (code) => handle.writeMessage(received(asked, ASCII(code)), []);
    });
  };
  interceptor.start();

  /** The answer `(kSuccess, code)`: a header of 32 bytes, a structure of 24, and the text that it points to. */
  function received(asked, code) {
    const answer = new DataView(new ArrayBuffer(64 + Math.ceil(code.length / 8) * 8));
    const words = { 0: 32, 4: 1, 12: asked.getUint32(12, true), 16: 2, 32: 24, 48: 8, 56: 8 + code.length, 60: code.length };
    for (const [at, word] of Object.entries(words)) answer.setUint32(at, word, true);
    answer.setBigUint64(24, asked.getBigUint64(24, true), true);
    new Uint8Array(answer.buffer).set(code, 64);
    return answer.buffer;
  }
}

async function begin(answers) {
  it.spent = true;
  it.backend.play(answers);
  await it.page.addInitScript(phone);
  await open(it);
  assert.equal(await it.page.evaluate(() => window.isSecureContext && "OTPCredential" in window), true);
}

test("the code of an SMS is filled in and submitted", async () => {
  await begin({});
  assert.equal(await waits(), 0, "not before a code is on its way");
  await sendCode(it);
  await until(async () => assert.equal(await waits(), 1));
  await it.page.evaluate(() => window.phone.sms("123456"));
  await it.page.getByText("You are logged in.").waitFor();
  assert.deepEqual(it.backend.bodies("verify"), [{ phone: "9876543210", code: "123456" }]);
});

test("the next SMS is waited for after a wrong code, and after a change of the number", async () => {
  await begin({ verify: [refusal(400, "INVALID_OTP"), VERIFIED] });
  await sendCode(it);
  await field(it).pressSequentially("654321");
  await button(it, "Log in").click();
  await alert(it).getByText("not correct").waitFor();
  await until(async () => assert.equal(await waits(), 2));
  await button(it, "Change number").click();
  await sendCode(it, "9876543211");
  await until(async () => assert.equal(await waits(), 3));
  await it.page.evaluate(() => window.phone.sms("482913"));
  await it.page.getByText("You are logged in.").waitFor();
  assert.deepEqual(it.backend.bodies("verify").at(-1), { phone: "9876543211", code: "482913" });
});

test("an SMS without a code changes nothing", async () => {
  await begin({});
  await sendCode(it);
  await until(async () => assert.equal(await waits(), 1));
  await it.page.evaluate(() => window.phone.sms("12345"));
  await it.page.waitForTimeout(100);
  assert.equal(await field(it).inputValue(), "");
  assert.deepEqual(it.backend.bodies("verify"), []);
});
