// The code in what is pasted: by the table that the examples for Android and iOS are held to as well.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { alert, field, house, open, refusal, sendCode, settle, until } from "./house.mjs";

const { domain, messages } = JSON.parse(readFileSync(new URL("../../suite/messages/messages.json", import.meta.url), "utf8"));
const it = house({ domain });

/** The clipboard of a page that is not at home on this machine is out of reach. */
const paste = (text) => field(it).evaluate((input, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text", text);
  input.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}, text);

test(`${messages.length} messages: a wrong code is never submitted`, async () => {
  it.backend.play({ verify: [refusal(400, "INVALID_OTP")] });
  await open(it);
  await sendCode(it);
  const submitted = () => it.backend.bodies("verify").map(({ code }) => code);
  for (const { text, code, read = code } of messages) {
    const before = submitted().length;
    await paste(text);
    if (read === null) {
      await settle(it);
      assert.equal(submitted().length, before, text);
      assert.equal(await alert(it).textContent(), "Enter all 6 digits of the OTP.", text);
    } else {
      await alert(it).getByText("not correct").waitFor();
      await until(() => assert.deepEqual(submitted().slice(before), [read], text));
    }
    assert.equal(await field(it).inputValue(), "", text);
    await field(it).fill("1");
    await field(it).fill("");
  }
});

test("of 60 messages none is misread, and at most 8 are not read", () => {
  assert.equal(messages.length, 60);
  assert.equal(new Set(messages.map(({ text }) => text)).size, 60);
  assert.deepEqual(messages.filter(({ code, read = code }) => read !== null && read !== code), []);
  const unread = messages.filter(({ code, read = code }) => code !== null && read === null);
  assert.ok(unread.length <= 8, String(unread.length));
});

test("a message without one code that a keyboard puts in is not left in the field", async () => {
  await open(it);
  await sendCode(it);
  await it.page.keyboard.insertText("Your order 771204 has been shipped.");
  assert.equal(await field(it).inputValue(), "");
  await alert(it).getByText("Enter all 6 digits").waitFor();
});

/** The patterns of a source, line by line. */
const patterns = (file, line) => [...readFileSync(new URL(file, import.meta.url), "utf8").matchAll(line)].map(([, it]) => it);

test("the examples for Android and iOS have the patterns of the form", () => {
  const ours = patterns("../dwar-login.js", /^ +String\.raw`(.+)`,$/gmu);
  assert.ok(ours.length > 20, String(ours.length));
  assert.deepEqual(patterns("../../examples/android/CodeInMessage.kt", /^ +"""(.+)""",$/gmu), ours);
  assert.deepEqual(patterns("../../examples/ios/CodeInMessage.swift", /^ +#"(.+)"#,$/gmu), ours);
});
