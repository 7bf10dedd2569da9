// The code in what is pasted: by the table that the examples for Android and iOS are held to as well.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { alert, field, house, open, pasteAll, sendCode } from "./house.mjs";

const { domain, messages } = JSON.parse(readFileSync(new URL("../../suite/messages/messages.json", import.meta.url), "utf8"));
const it = house({ domain });

const here = messages.filter((message) => !message.domain);

test(`${here.length} messages: a wrong code is never submitted`, () => pasteAll(it, here));

test("no message is misread, and of the first 60 at most 8 are not read", () => {
  assert.ok(messages.length > 60);
  assert.equal(new Set(messages.map(({ text }) => text)).size, messages.length);
  assert.deepEqual(messages.filter(({ code, read = code }) => read !== null && read !== code), []);
  const unread = messages.slice(0, 60).filter(({ code, read = code }) => code !== null && read === null);
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
  const named = patterns("../dwar-login.js", /^const (?:ALONE|LAST_LINE|SHARED) = \/(.+)\/i?u;$/gmu);
  assert.equal(named.length, 3);
  assert.deepEqual(patterns("../../examples/android/CodeInMessage.kt", /^ +private val .+ = Regex\("{3}(.+?)"{3}[,)]/gmu).sort(), named.sort());
  assert.deepEqual(patterns("../../examples/ios/CodeInMessage.swift", /^ +private static let .+ = pattern\(#"(.+)"#\)$/gmu).sort(), named);
});
