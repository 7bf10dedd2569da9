import assert from "node:assert/strict";
import { test } from "node:test";
import { alert, button, field, hold, house, open, refusal, sendCode, settle, until } from "./house.mjs";

const it = house();

const UNAVAILABLE = "Login is not possible at the moment. Try again in 30 seconds.";
const ENGLISH = {
  send: [
    [refusal(422, "INVALID_PHONE"), "Enter a 10-digit mobile number that starts with 6, 7, 8 or 9."],
    [refusal(429, "OTP_RATE_LIMITED", 600), "Too many OTPs for this number. Try again in 10 minutes."],
    [refusal(429, "TOO_MANY_SENDS", 61), "Too many OTPs were requested. Try again in 2 minutes."],
    [refusal(429, "TOO_MANY_SENDS", 1), "Too many OTPs were requested. Try again in 1 second."],
    [refusal(503, "LOGIN_UNAVAILABLE", 20), "Login is not possible at the moment. Try again in 20 seconds."],
    [refusal(503, "LOGIN_UNAVAILABLE"), UNAVAILABLE],
    [refusal(403, "HTTPS_REQUIRED"), "Open this page with https to log in."],
    [refusal(403, "CAPTCHA_REQUIRED", undefined, "Please solve the puzzle first."), "Please solve the puzzle first."],
    [{ status: 502, text: "<h1>Bad gateway</h1>" }, UNAVAILABLE],
    [{ text: "<h1>Not the backend</h1>" }, UNAVAILABLE],
    [{ body: {} }, UNAVAILABLE],
    [{ body: null }, UNAVAILABLE],
    [{ status: 403, body: { error: { html: "<b>" }, code: 7 } }, UNAVAILABLE],
    [{ status: 429, body: { code: "constructor" } }, UNAVAILABLE],
    [{ status: 403, body: { error: ["no", "text"], code: "REFUSED" } }, UNAVAILABLE],
    [refusal(500, "BROKEN", undefined, "panicked at src/main.rs"), UNAVAILABLE],
    [{ cut: true }, "There is no connection. Check your internet and try again."],
  ],
  verify: [
    [refusal(400, "INVALID_OTP"), "This OTP is not correct. Check it and try again."],
    [refusal(422, "INVALID_OTP_CODE"), "Enter all 6 digits of the OTP."],
    [refusal(400, "OTP_NOT_FOUND"), "This OTP has expired. Send a new one."],
    [refusal(429, "VERIFY_RATE_LIMITED", 540), "That was wrong too many times. Send a new OTP."],
    [refusal(503, "LOGIN_UNAVAILABLE", 3), "Login is not possible at the moment. Try again in 3 seconds."],
    [{ body: { otp_id: "no identity" } }, UNAVAILABLE],
  ],
};
const HINDI = {
  send: [
    [refusal(429, "OTP_RATE_LIMITED", 600), "इस नंबर के लिए बहुत बार OTP मँगाया गया है। कृपया 10 मिनट बाद फिर कोशिश करें।"],
    [refusal(403, "HTTPS_REQUIRED"), "लॉग इन करने के लिए यह पेज https से खोलें।"],
    [refusal(503, "LOGIN_UNAVAILABLE", 20), "अभी लॉग इन नहीं हो पा रहा है। कृपया 20 सेकंड बाद फिर कोशिश करें।"],
  ],
  verify: [[refusal(400, "INVALID_OTP"), "OTP सही नहीं है। कृपया जाँचकर दोबारा डालें।"]],
};

/** What a screen reader is told of the field: its name, its description, whether it is wrong. */
async function told() {
  const session = await it.context.newCDPSession(it.page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const { name, description, properties } = nodes.find(({ role }) => role?.value === "textbox");
  const invalid = properties.find((property) => property.name === "invalid")?.value.value;
  return { name: name.value, description: description?.value ?? "", invalid };
}

async function failsWith(call, answer, sentence, lang) {
  it.backend.play({ [call]: [answer] });
  await open(it, { lang });
  const hadAlert = await alert(it).elementHandle();
  if (call === "send") {
    await field(it).fill("9876543210");
    await field(it).press("Enter");
  } else {
    await sendCode(it);
    await it.page.keyboard.insertText("123456");
  }
  await until(async () => assert.notEqual(await alert(it).textContent(), ""));
  await alert(it).getByText(sentence, { exact: true }).waitFor();
  if (call === "send") {
    assert.equal(await hadAlert.textContent(), sentence, "a region that was there before, so that it is announced");
  }
  const { description, invalid } = await told();
  assert.ok(description.includes(sentence), description);
  assert.equal(invalid, String(answer.body?.code).startsWith("INVALID_") ? "true" : "false");
  assert.equal(await it.page.locator("dwar-login input:focus").count(), 1);
}

for (const [lang, calls] of Object.entries({ en: ENGLISH, "hi-IN": HINDI })) {
  for (const [call, cases] of Object.entries(calls)) {
    for (const [answer, sentence] of cases) {
      test(`${call}, ${lang}: «${JSON.stringify(answer).slice(0, 60)}» is said as «${sentence}»`, () =>
        failsWith(call, answer, sentence, lang));
    }
  }
}

test("a sentence is taken back when the field changes, and said anew when it happens again", async () => {
  await open(it);
  await field(it).press("Enter");
  await alert(it).getByText("10-digit").waitFor();
  await it.page.keyboard.type("9");
  assert.equal(await alert(it).textContent(), "");
  assert.equal((await told()).invalid, "false");
  await field(it).press("Enter");
  await alert(it).getByText("10-digit").waitFor();
});

test("what the backend says is text, never HTML", async () => {
  it.backend.play({ send: [refusal(403, "NO", undefined, "<img src=x onerror=alert(1)>")] });
  await open(it);
  await field(it).fill("9876543210");
  await field(it).press("Enter");
  await alert(it).getByText("<img src=x onerror=alert(1)>").waitFor();
});

test("the countdown is in no live region", async () => {
  await open(it);
  await sendCode(it);
  const live = "[aria-live], [role=alert], [role=status], [role=log], [role=timer]";
  const inLive = await button(it, "Send again (0:30)").evaluate((it, live) => it.closest(live) !== null, live);
  assert.equal(inLive, false);
  assert.deepEqual(await it.page.locator("dwar-login [role=alert]").allTextContents(), [""]);
});

test("the step of the code tells where it was sent, by the field that has the focus", async () => {
  await open(it);
  await sendCode(it);
  const { name, description } = await told();
  assert.equal(name, "6-digit OTP");
  assert.match(description, /^We have sent an OTP by WhatsApp or SMS to \+91\s98765\s43210\./);
});

test("an answer that comes when the person has left is ignored", async () => {
  const { held, release } = hold();
  it.backend.play({ verify: [{ ...refusal(400, "INVALID_OTP"), held }] });
  await open(it);
  await sendCode(it);
  await it.page.keyboard.insertText("123456");
  await button(it, "Change number").click();
  release();
  await settle(it);
  assert.equal(await alert(it).textContent(), "");
  await it.page.evaluate(() => document.querySelector("dwar-login").remove());
  await settle(it);
});
